//! A part of the ruleset was not examined.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unexamined",
    severity: Severity::Error,
    summary: "a part of the ruleset was not examined",
    explanation: "A check has a budget of work, and reports at most 200 findings of a file. What it has not \
                  examined is named. Correct what is listed, or split the ruleset, and check again. It cannot be \
                  allowed.",
    bad: Example::None,
    good: Example::None,
};
