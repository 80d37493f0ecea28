//! Functions that may only read and change a variable around them: they are called once, several times or not at all.

use super::script::ScriptReader;
use super::syntax::text;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind};

impl ScriptReader<'_> {
    /// A function that may only read is written down here.
    pub(super) fn changes_nothing_outside(&mut self, value: Expression<'_>, what: &str) {
        let ExpressionKind::FunctionLiteral(_) = value.kind() else { return };
        // Changes of variables that functions around it declare. Those of the file are another problem.
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
            self.problem(at, (wrong, "return what it finds, and change the variable where the rule acts".into()));
        }
    }
}
