//! Operators bind otherwise than they read.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "operator-order",
    severity: Severity::Error,
    summary: "operators bind otherwise than they read",
    explanation: "`not a == b` is `(not a) == b`, and `a < b < c` compares true or false with `c`. Write `a ~= b` \
                  and `a < b and b < c`, or put brackets around what belongs together.",
    bad: Example::Resolve(
        r#"local near, far = ctx.rope.at > 1, ctx.rope.at > 3
if not near == far then
	rb.say("between")
end"#,
    ),
    good: Example::Resolve(
        r#"local near, far = ctx.rope.at > 1, ctx.rope.at > 3
if near ~= far then
	rb.say("between")
end"#,
    ),
};
