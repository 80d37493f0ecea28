use std::path::Path;
use std::sync::{Arc, Once};

use anyhow::Result;
use riskbreaker::ruleset::{LibraryError, Problem};
use riskbreaker::{Library, LoadError, Ruleset};

use super::figures::counted;
use super::screen::Screen;
use super::{call_error, packages, report};

/// Finds the rulesets: with `folder`, in that folder only; else in `./rulesets`, in the user's folder, and in the
/// program. If a ruleset is in both folders, the first one is used, and a note names both.
pub fn open(folder: Option<&Path>) -> Result<Library> {
    let refused = |error: LibraryError| call_error(error.to_string());
    let user = match (folder, packages::user_folder()) {
        (None, Some(user)) if user.is_dir() => Some(Library::open(user).map_err(refused)?),
        _ => None,
    };
    let found = match (Library::locate(folder).map_err(refused)?, user) {
        (found, None) => found,
        (local, Some(user)) => {
            for id in user.ids() {
                if let (Some(first), Some(second)) = (local.folder_of(&id), user.folder_of(&id)) {
                    tell_twice(&id, &first, &second);
                }
            }
            Library::overlay(local, user)
        }
    };
    // A ruleset on disk may extend a built-in one.
    Ok(found.backed_by(Library::embedded()))
}

/// Reports once that a ruleset is in two places.
fn tell_twice(id: &str, first: &Path, second: &Path) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        eprintln!("note: {id} is in {} and in {}; the first one is used", first.display(), second.display());
    });
}

/// Returns the ruleset to play if none is named: the first in the folder that can be played by itself, with one named
/// after the program before others. If there is none, a ruleset that a layer in the folder extends.
pub fn default_ruleset(library: &Library) -> Result<String> {
    let own = all(library)?;
    let listed = mentioned(library, &own);
    let playable = |id: &&String| library.manifest(id).is_ok_and(|manifest| manifest.scenario.is_some());
    // A ruleset that extends another one is played by its scenarios.
    let extends = |id: &&String| library.manifest(id).is_ok_and(|manifest| manifest.extends.is_some());
    let after_program = |id: &&String| id.starts_with(env!("CARGO_PKG_NAME"));
    own.iter()
        .find(|id| after_program(id) && (playable(id) || library.manifest(id).is_err()))
        .or_else(|| own.iter().find(playable))
        .or_else(|| own.iter().find(extends))
        .or_else(|| listed.iter().filter(after_program).find(playable))
        .or_else(|| listed.iter().find(playable))
        .or_else(|| own.first())
        .cloned()
        .ok_or_else(|| call_error("There is no ruleset to play; `riskbreaker new ruleset NAME` writes one."))
}

/// All rulesets that a command line can name: those in the folder, and the built-in ones they do not hide.
pub fn listed(library: &Library) -> Result<Vec<String>> {
    let mut found = all(library)?;
    found.extend(Library::embedded().ids().into_iter().filter(|id| library.contains(id)));
    found.sort();
    found.dedup();
    Ok(found)
}

/// The rulesets in the folder, and those elsewhere that they extend.
fn mentioned(library: &Library, own: &[String]) -> Vec<String> {
    let mut found = own.to_vec();
    let mut at = 0;
    while let Some(id) = found.get(at).cloned() {
        at += 1;
        let Ok(manifest) = library.manifest(&id) else { continue };
        let below = manifest.over.iter().chain(&manifest.extends).chain(&manifest.layers);
        for mention in below.filter(|mention| library.contains(&mention.id)) {
            if !found.contains(&mention.id) {
                found.push(mention.id.clone());
            }
        }
    }
    found.sort();
    found
}

/// The layers in the folder that extend a ruleset and are not applied by default.
pub fn layers_over(library: &Library, id: &str) -> Vec<String> {
    let lies_over = |layer: &String| {
        let over = library.manifest(layer).map(|manifest| manifest.over).unwrap_or_default();
        over.iter().any(|base| base.id == id)
    };
    library.ids().into_iter().filter(lies_over).collect()
}

/// Loads a ruleset with house rules on top. All its problems are printed on standard error.
pub fn load(library: &Library, id: &str, layers: &[String]) -> Result<Arc<Ruleset>> {
    std::iter::once(id).chain(layers.iter().map(String::as_str)).try_for_each(|id| known(library, id))?;
    if layers.is_empty() && !id.contains('+') {
        let ways = library.ways_to_play(id);
        if ways.first().is_some_and(|way| way != id) {
            let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
            let text = format!(
                "{id} holds house rules and cannot be used alone; name it with a ruleset: {}",
                ways.join(" or ")
            );
            return Err(call_error(text));
        }
    }
    Ruleset::load_with(library, id, layers).map_err(|error| broken(&error, library))
}

/// True if a name is that of a ruleset; `game+house` names two.
pub fn is_ruleset(library: &Library, name: &str) -> bool {
    name.split('+').all(|id| library.contains(id))
}

/// Requires that a ruleset of this name exists, working or broken; `game+house` names two.
pub fn known(library: &Library, name: &str) -> Result<()> {
    match name.split('+').find(|id| !library.contains(id)) {
        None => Ok(()),
        Some(id) => Err(call_error(format!("there is no ruleset `{id}`; {}", library.instead_of(id)))),
    }
}

/// All rulesets in the folder.
pub fn all(library: &Library) -> Result<Vec<String>> {
    let ids = library.ids();
    if ids.is_empty() {
        return Err(call_error(format!("there is no ruleset in {}{}", library.describe(), left_out(library))));
    }
    Ok(ids)
}

/// The folders that were skipped, as a clause for the end of a message.
pub fn left_out(library: &Library) -> String {
    library.left_out().iter().map(|problem| format!("; {problem}")).collect()
}

/// The name of the folder of a problem.
pub fn folder_of(problem: &Problem) -> &str {
    problem.path.split('/').next().unwrap_or_default()
}

/// Prints all problems of a ruleset and returns their count as an error.
fn broken(error: &LoadError, library: &Library) -> anyhow::Error {
    let screen = Screen::stderr();
    for problem in &error.problems {
        eprintln!("{}\n", report::problem(problem, library, screen.coloured(), screen.width()).trim_end());
    }
    let problems = counted(error.problems.len(), "problem", "problems");
    anyhow::anyhow!("{} cannot be loaded: {problems}", error.ruleset)
}
