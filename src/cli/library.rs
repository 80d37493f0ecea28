use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::{Library, LoadError, Ruleset};

use super::screen::Screen;
use super::{call_error, report};

/// Finds the rulesets: in the folder that is named, in `rulesets` here, or in the program.
pub fn open(folder: Option<&Path>) -> Result<Library> {
    Library::locate(folder).map_err(|error| call_error(error.to_string()))
}

/// The ruleset that is played where none is named: of those that are named after the program the first, else the first
/// that says what is played when nothing is.
pub fn default_ruleset(library: &Library) -> Result<String> {
    let ids = library.ids();
    let playable = |id: &&String| library.read(id).is_ok_and(|folder| folder.manifest.scenario.is_some());
    let own = ids.iter().find(|id| id.starts_with(env!("CARGO_PKG_NAME")));
    own.or_else(|| ids.iter().find(playable))
        .or_else(|| ids.first())
        .cloned()
        .ok_or_else(|| call_error(format!("there is no ruleset in {}", library.describe())))
}

/// Loads a ruleset with house rules on top; what is wrong with it is told on standard error, all of it.
pub fn load(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>> {
    if let Some(unknown) = std::iter::once(id).chain(layers.iter().map(String::as_str)).find(|id| !library.contains(id))
    {
        return Err(unknown_ruleset(library, unknown));
    }
    Ruleset::load_with(library, id, layers).map_err(|error| broken(&error, library))
}

/// The error of an id that names no ruleset.
fn unknown_ruleset(library: &Library, id: &str) -> anyhow::Error {
    let ids = library.ids();
    call_error(match super::nearest::nearest(id, ids.iter().map(String::as_str)) {
        Some(near) => format!("there is no ruleset `{id}`; did you mean `{near}`?"),
        None => format!("there is no ruleset `{id}` in {}; there are {}", library.describe(), ids.join(", ")),
    })
}

/// Tells all problems of a ruleset and sums them up in the error.
fn broken(error: &LoadError, library: &Library) -> anyhow::Error {
    let screen = Screen::stderr();
    for problem in &error.problems {
        eprintln!("{}\n", report::problem(problem, library, screen.coloured(), screen.width()).trim_end());
    }
    let problems =
        if error.problems.len() == 1 { "one problem".to_owned() } else { format!("{} problems", error.problems.len()) };
    anyhow::anyhow!("{} cannot be loaded: {problems}", error.ruleset)
}
