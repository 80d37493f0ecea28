//! Both sides of `and` or `or` are the same.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "same-operands",
    severity: Severity::Error,
    summary: "both sides of `and` or `or` are the same",
    explanation: "`a and a` and `a or a` are `a`. One of the two is a copy that was not changed.",
    bad: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 or at > 1 then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 or at < -1 then
	rb.say("far")
end"#,
    ),
};
