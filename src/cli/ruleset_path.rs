//! Accepts the path of a ruleset's folder instead of its id.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Commands that parse paths themselves.
const BY_THEMSELVES: [&str; 9] = ["check", "dev", "cards", "types", "new", "pack", "add", "update", "search"];
/// Commands whose first argument is not a ruleset, so that only `--rules` takes a path.
const BY_OPTION: [&str; 3] = ["play", "sim", "odds"];
/// Options and commands that are followed by the name of a ruleset.
const BEFORE_A_NAME: [&str; 5] = ["--rules", "--compare", "test", "show", "diff"];

/// Replaces the paths of rulesets in a call by ids. Returns the call, and the folder that contains these rulesets.
///
/// `rulesets/contest` and `rulesets/contest+my-house` are paths. `contest` is one after `test` or `--rules` if the
/// current folder contains it and has no folder `rulesets`.
pub fn as_ids(call: Vec<OsString>) -> (Vec<OsString>, Option<PathBuf>) {
    let words: Vec<String> = call.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = words.iter().skip(1).find(|word| !word.starts_with('-')).cloned().unwrap_or_default();
    let said = words.iter().any(|word| word == "--rulesets" || word.starts_with("--rulesets="));
    if said || BY_THEMSELVES.contains(&command.as_str()) {
        return (call, None);
    }
    let bare = !Path::new(riskbreaker::Library::FOLDER).is_dir();
    let (mut turned, mut around) = (Vec::new(), None);
    for (at, word) in call.into_iter().enumerate() {
        let before = at.checked_sub(1).map(|before| words[before].as_str()).unwrap_or_default();
        let (option, list) = match words[at].split_once('=') {
            Some((option @ ("--rules" | "--compare"), list)) => (Some(option), list),
            _ => (None, words[at].as_str()),
        };
        let by_name = option.is_some() || BEFORE_A_NAME.contains(&before);
        let found = list.split(',').map(|name| id_of(name, by_name && bare)).collect::<Option<Vec<_>>>();
        // All of them have to be in the same folder.
        let side_by_side = found.as_ref().is_some_and(|found| {
            found.iter().all(|(_, folder)| around.as_ref().is_none_or(|around| around == folder))
                && found.iter().all(|(_, folder)| *folder == found[0].1)
        });
        let Some(found) = found.filter(|_| at > 0 && side_by_side) else {
            turned.push(word);
            continue;
        };
        let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
        let ids = ids.join(",");
        around = Some(found[0].1.clone());
        match option {
            Some(option) => turned.push(format!("{option}={ids}").into()),
            None => {
                if !by_name && BY_OPTION.contains(&command.as_str()) {
                    turned.push("--rules".into());
                }
                turned.push(ids.into());
            }
        }
    }
    (turned, around)
}

/// The id of a path, with the house rules after it, and the folder that contains it.
fn id_of(name: &str, bare: bool) -> Option<(String, PathBuf)> {
    let (path, layers) = name.split_once('+').map_or((name, None), |(path, layers)| (path, Some(layers)));
    let looks_like_one = path.contains(['/', '\\']) || path.starts_with('.');
    if path.is_empty() || !looks_like_one && !bare || !Path::new(path).join("ruleset.toml").is_file() {
        return None;
    }
    let path = Path::new(path).canonicalize().ok()?;
    let id = path.file_name()?.to_str()?;
    let id = layers.map_or_else(|| id.to_owned(), |layers| format!("{id}+{layers}"));
    Some((id, path.parent()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(call: &str) -> (String, bool) {
        let (words, around) = as_ids(call.split(' ').map(OsString::from).collect());
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        (words.join(" "), around.is_some_and(|around| around.ends_with("rulesets")))
    }

    #[test]
    fn a_path_names_the_ruleset_in_it() {
        for (call, wanted) in [
            ("r test rulesets/contest", "r test contest"),
            ("r test ./rulesets/contest/", "r test contest"),
            ("r play rulesets/contest --seed 3", "r play --rules contest --seed 3"),
            ("r play duel --rules rulesets/contest", "r play duel --rules contest"),
            ("r sim --rules=rulesets/contest,rulesets/rbf", "r sim --rules=contest,rbf"),
            ("r rules show rulesets/riskbreaker-0.0.1+house-taunt", "r rules show riskbreaker-0.0.1+house-taunt"),
            ("r rules diff rulesets/contest rulesets/rbf", "r rules diff contest rbf"),
        ] {
            assert_eq!(turned(call), (wanted.to_owned(), true), "{call}");
        }
    }

    #[test]
    fn a_word_that_is_not_a_path_is_unchanged() {
        for call in [
            "r test contest",
            "r test rulesets/nothing",
            "r play scripts/taste.play",
            "r check rulesets/contest",
            "r test rulesets/contest --rulesets elsewhere",
            "r sim --rules rulesets/contest,nothing",
        ] {
            assert_eq!(turned(call), (call.to_owned(), false));
        }
    }
}
