//! A statement never runs, because the one before it leaves the block.

use crate::control_flow::goes_on;
use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Block, StatementView};

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

impl SyntaxLints<'_> {
    /// Reports the first statement that never runs.
    pub(crate) fn unreachable(&mut self, block: Block<'_>) {
        for pair in block.as_slice().windows(2) {
            let ends_action = matches!(pair[0].view(), StatementView::Expression(_));
            let returns = matches!(pair[1].view(), StatementView::Return(_));
            // A `return` after `rb.cut` is common and harmless.
            if !(goes_on(pair[0]) || ends_action && returns) {
                self.tell(
                    &LINT,
                    pair[1].location(),
                    "this never runs: the statement before it ends the block",
                    "take it out, or move it up",
                );
                break;
            }
        }
    }
}
