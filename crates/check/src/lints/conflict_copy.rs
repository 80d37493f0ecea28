//! A program for synchronisation has made a copy of a file.

use super::{Example, Lint, Severity};

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
