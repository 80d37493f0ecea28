//! A field is called like a function.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "called-field",
    severity: Severity::Error,
    summary: "a field is called like a function",
    explanation: "Fields hold values and are read with a dot, without brackets. Derived values are called with a \
                  colon and brackets.",
    bad: Example::Resolve(
        r#"if ctx.actor:strength() > 3 then
	rb.say("strong")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor.strength > 3 then
	rb.say("strong")
end"#,
    ),
};
