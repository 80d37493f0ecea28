//! A comparison with a value that a field or a switch never has.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-value",
    severity: Severity::Error,
    summary: "a comparison with a value that a field or a switch never has",
    explanation: "A switch and a field of words have the values that their declarations list. A comparison with \
                  another value is never true. Name one of the values, or add it to the declaration.",
    bad: Example::Resolve(
        r#"if rb.switches.wins_at == "five" then
	rb.say("to five")
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.switches.wins_at == 5 then
	rb.say("to five")
end"#,
    ),
};
