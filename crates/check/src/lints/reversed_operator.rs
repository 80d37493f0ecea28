//! `=-` stands where `-=` is meant.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "reversed-operator",
    severity: Severity::Error,
    summary: "`=-` stands where `-=` is meant",
    explanation: "`n =- 1` sets `n` to minus one. `n -= 1` takes one off.",
    bad: Example::Resolve(
        r#"local n = 3
n =- 1
rb.say("{}", n)"#,
    ),
    good: Example::Resolve(
        r#"local n = 3
n -= 1
rb.say("{}", n)"#,
    ),
};
