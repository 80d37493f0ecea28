//! Nothing ends a loop.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "endless-loop",
    severity: Severity::Error,
    summary: "nothing ends a loop",
    explanation: "Nothing in the loop changes what its condition asks for, and it has no `break`. The host stops \
                  it when its budget of work is spent, and takes the action back. Change the condition in the \
                  loop, or add a `break`.",
    bad: Example::Resolve(
        r#"local n = 0
while n < 3 do
	rb.say("pull")
end"#,
    ),
    good: Example::Resolve(
        r#"local n = 0
while n < 3 do
	rb.say("pull")
	n += 1
end"#,
    ),
};
