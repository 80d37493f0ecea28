//! The host reads no file of that name or in that folder.

use std::collections::BTreeSet;

use crate::lint::{Example, Lint, Severity};
use crate::place::DATA_PLACES;
use riskbreaker_ruleset::{Problem, SCRIPT_FILES, SCRIPT_FOLDERS, SourceKind, Stack, nearest};

pub(crate) static LINT: Lint = Lint {
    name: "unread-file",
    severity: Severity::Error,
    summary: "the host reads no file of that name or in that folder",
    explanation: "The host reads the files and folders that the guide lists, and files that scripts require. \
                  Another file has no effect. Most often its folder or its ending is misspelt.",
    bad: Example::Files(&[(
        "manuevers/dig.luau",
        r#"return {}
"#,
    )]),
    good: Example::Files(&[(
        "lib/dig.luau",
        r#"return {}
"#,
    )]),
};

/// Returns the problems of scripts that the host does not read and that no other script requires.
pub(crate) fn unread_files(stack: &Stack, own: usize, used: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (part, path, source) in stack.scripts() {
        let stem = path.trim_end_matches(".luau").trim_end_matches(".lua");
        let folder = path.split_once('/').map(|(folder, _)| folder);
        let placed = SCRIPT_FILES.contains(&folder.unwrap_or(stem))
            || folder.is_some_and(|folder| SCRIPT_FOLDERS.contains(&folder));
        // Modules in `lib` may be for rulesets that extend this one.
        if placed || folder == Some("lib") || used.contains(stem) || part < own {
            continue;
        }
        let near = match folder {
            Some(folder) => nearest(folder, SCRIPT_FOLDERS.iter().copied()),
            None => nearest(stem, SCRIPT_FILES.iter().copied()),
        };
        let problem = LINT.problem(&*source.path, "nothing reads this file");
        found.push(problem.with_cure(match (near, folder) {
            (Some(near), Some(_)) => format!("is its folder meant to be `{near}`?"),
            (Some(near), None) => format!("is its name meant to be `{near}.luau`?"),
            (None, _) => format!("require it by `{stem}`, or delete it"),
        }));
    }
    for (path, source) in stack.parts()[own..].iter().flat_map(|part| &part.folder.files) {
        let Some((folder, _)) = path.split_once('/').filter(|_| source.kind() == Some(SourceKind::Data)) else {
            continue;
        };
        if !DATA_PLACES.contains(&folder) {
            let cure = match nearest(folder, DATA_PLACES.iter().copied()) {
                Some(near) => format!("is its folder meant to be `{near}`?"),
                None => format!("data stands in {}", DATA_PLACES.join("/ and ") + "/"),
            };
            found.push(LINT.problem(&*source.path, "nothing reads this file").with_cure(cure));
        }
    }
    for part in &stack.parts()[own..] {
        let misnamed = part.folder.misnamed.iter().filter_map(|path| Some((path, SourceKind::meant(path)?)));
        for (path, meant) in misnamed {
            let stem = meant.rsplit_once('.').map_or(&*meant, |(stem, _)| stem);
            let place = path.split_once('/').map_or(stem, |(folder, _)| folder);
            let of_scripts = SCRIPT_FILES.contains(&place) || SCRIPT_FOLDERS.contains(&place) || place == "lib";
            if of_scripts || DATA_PLACES.contains(&place) {
                let problem = LINT.problem(format!("{}/{path}", part.id()), "nothing reads this file");
                found.push(problem.with_cure(format!("is its name meant to be `{meant}`?")));
            }
        }
    }
    found
}
