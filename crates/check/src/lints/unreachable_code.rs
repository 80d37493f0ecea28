//! A statement never runs, because the one before it leaves the block.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unreachable-code",
    severity: Severity::Warning,
    summary: "a statement never runs, because the one before it leaves the block",
    explanation: "Nothing runs behind `return`, `break`, `continue`, `error(...)` and `rb.cut(...)` in the same \
                  block. `rb.finish` ends the game after the action, so the statements behind it do run.",
    bad: Example::Resolve(
        r#"rb.cut("the rope tears")
rb.say("{} falls", ctx.actor)"#,
    ),
    good: Example::Resolve(
        r#"rb.say("{} falls", ctx.actor)
rb.cut("the rope tears")"#,
    ),
};
