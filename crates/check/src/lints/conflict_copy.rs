//! A program for synchronisation has made a copy of a file.

use crate::lint::{Example, Lint, Severity};
use riskbreaker_ruleset::{Problem, Stack};

pub(crate) static LINT: Lint = Lint {
    name: "conflict-copy",
    severity: Severity::Warning,
    summary: "a program for synchronisation has made a copy of a file",
    explanation: "The host does not read such a copy. Put what is right into the file, and delete the copy.",
    bad: Example::Files(&[(
        "maneuvers/pull (conflicted copy).luau",
        r#"return {}
"#,
    )]),
    good: Example::Files(&[(
        "scenarios/three.toml",
        r#"left = "Cid"
right = "Dora"
"#,
    )]),
};

/// Returns the problems of copies that a program for synchronisation has made, from a part of the stack on.
pub(crate) fn conflict_copies(stack: &Stack, own: usize) -> Vec<Problem> {
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        for path in &part.folder.conflict_copies {
            let wrong = "a program for synchronisation has made this copy, and nothing reads it";
            let cure = "put what is right into the file and delete the copy";
            found.push(LINT.problem(format!("{}/{path}", part.id()), wrong).with_cure(cure));
        }
    }
    found
}
