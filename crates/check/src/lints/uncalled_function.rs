//! A function stands where its result is meant.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "uncalled-function",
    severity: Severity::Error,
    summary: "a function stands where its result is meant",
    explanation: "A derived value is called with a colon and brackets, other functions with brackets. Without \
                  them the function itself is the value: it is true in every condition and equal to nothing.",
    bad: Example::Resolve(
        r#"if ctx.actor.need > 3 then
	rb.say("strong")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor:need() > 3 then
	rb.say("strong")
end"#,
    ),
};
