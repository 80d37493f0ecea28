//! A function that may only read changes a variable outside it.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "outer-change",
    severity: Severity::Error,
    summary: "a function that may only read changes a variable outside it",
    explanation: "The host calls the text of `rb.say` and functions such as `why` and `check` of a question once, \
                  several times or not at all. Let the function return what it finds, and change the variable \
                  where the rule acts.",
    bad: Example::Resolve(
        r#"local told = 0
rb.say(function()
	told += 1
	return "pull"
end)
rb.say("{}", told)"#,
    ),
    good: Example::Resolve(
        r#"local told = 1
rb.say(function()
	return "pull"
end)
rb.say("{}", told)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports changes of outer variables in a function that may only read. `what` names the function in the message.
    pub(crate) fn changes_nothing_outside(&mut self, value: Expression<'_>, what: &str) {
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
                &LINT,
                at,
                (wrong, "return what it finds, and change the variable where the rule acts".into()),
            );
        }
    }
}
