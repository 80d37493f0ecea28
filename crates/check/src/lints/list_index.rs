//! A list is read by a name or by 0, or a table with names by a number.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "list-index",
    severity: Severity::Error,
    summary: "a list is read by a name or by 0, or a table with names by a number",
    explanation: "The places of a list are the numbers from 1. A table with names has no places. The result of \
                  another index is nil.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[0])"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.say("{}", names[1])"#,
    ),
};
