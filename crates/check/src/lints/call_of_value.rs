//! A number, text or table is called like a function.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "call-of-value",
    severity: Severity::Error,
    summary: "a number, text or table is called like a function",
    explanation: "A variable that holds no function stands before brackets. If a comma or a new statement is \
                  missing between the two lines, Luau reads them as a call.",
    bad: Example::Resolve(
        r#"local by = 2
rb.say("by {}", by(1))"#,
    ),
    good: Example::Resolve(
        r#"local by = 2
rb.say("by {}", by)"#,
    ),
};
