//! `a and nil or b` is always `b`.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "and-or-nil",
    severity: Severity::Error,
    summary: "`a and nil or b` is always `b`",
    explanation: "`a and b or c` stands for a choice only if `b` is true. With nil or false in its place the \
                  result is always the part behind `or`. Write `if a then b else c`.",
    bad: Example::Resolve(
        r#"local note = ctx.rope.at > 1 and nil or "near"
rb.say("{}", note)"#,
    ),
    good: Example::Resolve(
        r#"local note = if ctx.rope.at > 1 then "far" else "near"
rb.say("{}", note)"#,
    ),
};
