//! A condition is always true, or never.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "always-true",
    severity: Severity::Error,
    summary: "a condition is always true, or never",
    explanation: "In Luau only nil and false are untrue. The number 0, an empty text, an empty list and a \
                  function count as true. A condition needs a comparison, such as `> 0`.",
    bad: Example::Resolve(
        r#"if rb.switches.wins_at then
	rb.say("far")
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.switches.wins_at > 3 then
	rb.say("far")
end"#,
    ),
};
