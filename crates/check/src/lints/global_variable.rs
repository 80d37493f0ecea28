//! A global variable is written.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "global-variable",
    severity: Severity::Error,
    summary: "a global variable is written",
    explanation: "A ruleset has no globals. Write `local` before the first assignment; keep what is to stay in a \
                  field of an entity.",
    bad: Example::Resolve(
        r#"far = 3
rb.say("{}", far)"#,
    ),
    good: Example::Resolve(
        r#"local far = 3
rb.say("{}", far)"#,
    ),
};
