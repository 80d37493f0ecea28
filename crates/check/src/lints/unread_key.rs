//! No script reads a key of a scenario, a sheet or a row, and one of a similar name is read.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unread-key",
    severity: Severity::Error,
    summary: "no script reads a key of a scenario, a sheet or a row, and one of a similar name is read",
    explanation: "Scenarios, files of cast/, sheets and the positions of specs are read by the scripts of the \
                  ruleset, key by key. A key that no script reads has no effect. The check reports it if a key of \
                  a similar name is read, or if one row of a list has a key that is spelt otherwise in all the \
                  other rows.",
    bad: Example::Files(&[(
        "scenarios/three.toml",
        r#"title = "Cid against Dora"
left = "Cid"
rihgt = "Dora"
"#,
    )]),
    good: Example::Files(&[(
        "scenarios/three.toml",
        r#"title = "Cid against Dora"
left = "Cid"
right = "Dora"
"#,
    )]),
};
