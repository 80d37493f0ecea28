//! Two values are compared that are never equal.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "never-equal",
    severity: Severity::Error,
    summary: "two values are compared that are never equal",
    explanation: "Values of different types are never equal: a text is no number, an entity is no text, a list is \
                  no number. The condition is always false (or with `~=` always true). Compare the field or the \
                  number that is meant.",
    bad: Example::Resolve(
        r#"if ctx.actor.strength == "3" then
	rb.say("weak")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor.strength == 3 then
	rb.say("weak")
end"#,
    ),
};
