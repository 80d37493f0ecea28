//! A later branch has the condition of an earlier one.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "same-condition",
    severity: Severity::Error,
    summary: "a later branch has the condition of an earlier one",
    explanation: "The second branch never runs, because the first one takes all its cases. One of the two is a \
                  copy that was not changed.",
    bad: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 then
	rb.say("near")
elseif at > 1 then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"local at = ctx.rope.at
if at > 1 then
	rb.say("near")
elseif at < -1 then
	rb.say("far")
end"#,
    ),
};
