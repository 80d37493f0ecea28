use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::{Library, LoadError, Ruleset};

use super::screen::Screen;
use super::{call_error, report};

/// Finds the rulesets: in the folder that is named, in `rulesets` here, or in the program.
pub fn open(folder: Option<&Path>) -> Result<Library> {
    // What a ruleset on the disk extends may be one of those in the program.
    let found = Library::locate(folder).map_err(|error| call_error(error.to_string()))?;
    Ok(found.backed_by(Library::embedded()))
}

/// The ruleset that is played where none is named: of those that are named after the program the first, else the first
/// that says what is played when nothing is.
pub fn default_ruleset(library: &Library) -> Result<String> {
    let ids = all(library)?;
    let playable = |id: &&String| library.read(id).is_ok_and(|folder| folder.manifest.scenario.is_some());
    let own = ids.iter().find(|id| id.starts_with(env!("CARGO_PKG_NAME")));
    own.or_else(|| ids.iter().find(playable))
        .or_else(|| ids.first())
        .cloned()
        .ok_or_else(|| call_error("there is no ruleset to play"))
}

/// Loads a ruleset with house rules on top; what is wrong with it is told on standard error, all of it.
pub fn load(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>> {
    std::iter::once(id).chain(layers.iter().map(String::as_str)).try_for_each(|id| known(library, id))?;
    Ruleset::load_with(library, id, layers).map_err(|error| broken(&error, library))
}

/// Makes sure that a name is that of a ruleset, be it whole or broken; `game+house` names two.
pub fn known(library: &Library, name: &str) -> Result<()> {
    match name.split('+').find(|id| !library.contains(id)) {
        None => Ok(()),
        Some(id) => Err(call_error(format!("there is no ruleset `{id}`; {}", instead(library, id)))),
    }
}

/// All rulesets that are found: at least one.
pub fn all(library: &Library) -> Result<Vec<String>> {
    let ids = library.ids();
    if ids.is_empty() {
        return Err(call_error(format!("there is no ruleset in {}", library.describe())));
    }
    Ok(ids)
}

/// What to name instead of an id that is not there.
pub fn instead(library: &Library, id: &str) -> String {
    let ids = library.ids();
    match super::nearest::nearest(id, ids.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if ids.is_empty() => format!("there is none in {}", library.describe()),
        None => format!("found: {}", ids.join(", ")),
    }
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
