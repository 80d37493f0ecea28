//! A variable is used before it has a value.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "no-value-yet",
    severity: Severity::Error,
    summary: "a variable is used before it has a value",
    explanation: "`local name` without a value is nil until something is assigned. Calculating with it is a \
                  fault, and reading it gives nil.",
    bad: Example::Resolve(
        r#"local sum
for n = 1, 3 do
	sum += n
end
rb.say("{}", sum)"#,
    ),
    good: Example::Resolve(
        r#"local sum = 0
for n = 1, 3 do
	sum += n
end
rb.say("{}", sum)"#,
    ),
};
