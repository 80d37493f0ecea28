//! Reports functions that may only read and that change an outer variable. The host calls them once, several times or
//! not at all.

use super::lints;
use super::script::ScriptReader;
use super::syntax::text;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind};

impl ScriptReader<'_> {
    /// Reports changes of outer variables in a function that may only read. `what` names the function in the message.
    pub(super) fn changes_nothing_outside(&mut self, value: Expression<'_>, what: &str) {
        let ExpressionKind::FunctionLiteral(_) = value.kind() else { return };
        // Only variables of enclosing functions count. Changes of the file's variables are another problem.
        let mut changes = Vec::new();
        let depth = self.depth;
        value.visit(&mut |node: AstNode<'_>| {
            let AstNode::Statement(statement) = node else { return true };
            for target in statement.assigned() {
                let changed = match target.kind() {
                    ExpressionKind::IndexExpr { expr, .. } | ExpressionKind::IndexName { expr, .. } => expr,
                    _ => *target,
                };
                if let ExpressionKind::Local { local, upvalue: true } = changed.kind()
                    && (1..=depth).contains(&local.function_depth)
                {
                    changes.push((text(local.name), target.location()));
                }
            }
            true
        });
        for (name, at) in changes {
            let wrong = format!("{what} changes `{name}`, a variable outside it, and may only read");
            self.problem(
                &lints::outer_change::LINT,
                at,
                (wrong, "return what it finds, and change the variable where the rule acts".into()),
            );
        }
    }
}
