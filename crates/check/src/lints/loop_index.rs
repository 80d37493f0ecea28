//! A loop over a list uses the index as if it were the element.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "loop-index",
    severity: Severity::Error,
    summary: "a loop over a list uses the index as if it were the element",
    explanation: "A loop over a list yields the index first and the element second. Write `for _, name in` to get \
                  the element.",
    bad: Example::Resolve(
        r#"for puller in rb.each("puller") do
	rb.say("{} waits", puller)
end"#,
    ),
    good: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	rb.say("{} waits", puller)
end"#,
    ),
};
