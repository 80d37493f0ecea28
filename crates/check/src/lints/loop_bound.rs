//! A loop counts to something that is no number.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "loop-bound",
    severity: Severity::Error,
    summary: "a loop counts to something that is no number",
    explanation: "The first number, the last number and the step of a `for` are numbers. The length of a list is \
                  `#list`.",
    bad: Example::Resolve(
        r#"for n = 1, rb.each("puller") do
	rb.say("{}", n)
end"#,
    ),
    good: Example::Resolve(
        r#"for n = 1, #rb.each("puller") do
	rb.say("{}", n)
end"#,
    ),
};
