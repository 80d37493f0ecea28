//! A scenario cannot be set up.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "scenario-fails",
    severity: Severity::Error,
    summary: "a scenario cannot be set up",
    explanation: "The check sets up each scenario and plays until the first question. This one is refused, or \
                  ends in a fault. The place is that of the value that the message names, as far as one is named.",
    bad: Example::Files(&[(
        "scenarios/three.toml",
        r#"left = 5
right = "Dora"
"#,
    )]),
    good: Example::Files(&[(
        "scenarios/three.toml",
        r#"left = "Cid"
right = "Dora"
"#,
    )]),
};
