//! The result of `table.sort` or `table.clear` is used.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "result-of-sort",
    severity: Severity::Error,
    summary: "the result of `table.sort` or `table.clear` is used",
    explanation: "Both change the list itself and return nothing. Call them on a line of their own, and then use \
                  the list.",
    bad: Example::Resolve(
        r#"local names = { "Dora", "Cid" }
local sorted = table.sort(names)
rb.say("{}", sorted)"#,
    ),
    good: Example::Resolve(
        r#"local names = { "Dora", "Cid" }
table.sort(names)
rb.say("{}", names[1])"#,
    ),
};
