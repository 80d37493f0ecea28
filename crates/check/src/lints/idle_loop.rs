//! A loop from a high number to a low one has no step.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "idle-loop",
    severity: Severity::Error,
    summary: "a loop from a high number to a low one has no step",
    explanation: "A `for` with two numbers counts up by one. From a higher number to a lower one it never runs. \
                  Give it the step -1.",
    bad: Example::Resolve(
        r#"for n = 3, 1 do
	rb.say("{}", n)
end"#,
    ),
    good: Example::Resolve(
        r#"for n = 3, 1, -1 do
	rb.say("{}", n)
end"#,
    ),
};
