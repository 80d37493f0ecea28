//! One card or character has a fact of another shape than all others.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "odd-fact",
    severity: Severity::Error,
    summary: "one card or character has a fact of another shape than all others",
    explanation: "If many cards or files of cast/ have a fact, and all but one are lists, tables with names, \
                  numbers, dice or truth values, then the one that is different is most likely wrong.",
    bad: Example::Files(&[
        (
            "cast/ann.toml",
            r#"strength = 3
"#,
        ),
        (
            "cast/bob.toml",
            r#"strength = 4
"#,
        ),
        (
            "cast/cid.toml",
            r#"strength = 5
"#,
        ),
        (
            "cast/dora.toml",
            r#"strength = 6
"#,
        ),
        (
            "cast/eve.toml",
            r#"strength = "7"
"#,
        ),
    ]),
    good: Example::Files(&[
        (
            "cast/ann.toml",
            r#"strength = 3
"#,
        ),
        (
            "cast/bob.toml",
            r#"strength = 4
"#,
        ),
        (
            "cast/cid.toml",
            r#"strength = 5
"#,
        ),
        (
            "cast/dora.toml",
            r#"strength = 6
"#,
        ),
        (
            "cast/eve.toml",
            r#"strength = 7
"#,
        ),
    ]),
};
