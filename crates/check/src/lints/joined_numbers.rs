//! `..` joins two numbers into a text.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "joined-numbers",
    severity: Severity::Error,
    summary: "`..` joins two numbers into a text",
    explanation: "`5 .. 1` is the text \"51\". Numbers are added with `+`.",
    bad: Example::Resolve(
        r#"local near, far = 1, 2
rb.act.move_rope(ctx.rope, math.max(0, ctx.actor.strength), ctx.actor)
rb.say("{}", near .. far)"#,
    ),
    good: Example::Resolve(
        r#"local near, far = 1, 2
rb.say("{}", near + far)"#,
    ),
};
