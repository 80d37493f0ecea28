//! A value that is never nil is compared with nil.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "never-nil",
    severity: Severity::Error,
    summary: "a value that is never nil is compared with nil",
    explanation: "A field has the default of its declaration, and a calculated value is always there; only \
                  references can be nil. Compare a number with 0, a text with `\"\"`, and count a list with `#`.",
    bad: Example::Resolve(
        r#"local need = ctx.actor.strength + 1
if need == nil then
	rb.say("none")
end"#,
    ),
    good: Example::Resolve(
        r#"local need = ctx.actor.strength + 1
if need == 0 then
	rb.say("none")
end"#,
    ),
};
