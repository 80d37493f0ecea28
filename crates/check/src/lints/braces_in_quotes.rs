//! `{name}` stands in a text in plain quotes.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "braces-in-quotes",
    severity: Severity::Error,
    summary: "`{name}` stands in a text in plain quotes",
    explanation: "Luau fills `{name}` only in a text between backquotes. In plain quotes it stays as it is. Write \
                  backquotes, or `{}` and hand the value over.",
    bad: Example::Resolve(
        r#"local by = 2
rb.say("{by} feet")
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = 2
rb.say(`{by} feet`)
rb.say("{}", by)"#,
    ),
};
