//! A `return` ends a loop in its first round.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::local_id;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{AstNode, Block, ExpressionKind, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "return-in-loop",
    severity: Severity::Error,
    summary: "a `return` ends a loop in its first round",
    explanation: "The last statement of the loop returns what the loop collects, so the loop never goes into its second \
                  round. The `return` belongs behind the `end` of the loop.",
    bad: Example::Resolve(
        r#"local function strong(list)
	local found = {}
	for _, puller in list do
		table.insert(found, puller.name)
		return found
	end
	return found
end
rb.say("{} pull", #strong(rb.each("puller")))"#,
    ),
    good: Example::Resolve(
        r#"local function strong(list)
	local found = {}
	for _, puller in list do
		table.insert(found, puller.name)
	end
	return found
end
rb.say("{} pull", #strong(rb.each("puller")))"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports a `return` at the end of a loop's body that gives what the loop collects.
    pub(crate) fn returns_in_first_round(&mut self, body: Block<'_>) {
        let Some((last, before)) = body.as_slice().split_last() else { return };
        let StatementView::Return(returned) = last.view() else { return };
        let [value] = returned.expressions else { return };
        let Some(id) = local_id(*value) else { return };
        let mut is_collected = false;
        for statement in before {
            statement.visit(&mut |node: AstNode<'_>| {
                is_collected |= collects(node, id);
                !is_collected
            });
        }
        let is_declared_inside = before.iter().any(|statement| match statement.view() {
            StatementView::Local(local) => local.bindings.iter().any(|binding| binding.id == id),
            _ => false,
        });
        if is_collected && !is_declared_inside {
            let wrong = "this `return` ends the loop in its first round";
            self.tell(&LINT, last.location(), wrong, "write it behind the `end` of the loop");
        }
    }
}

/// Whether a piece of code adds something to a variable: `table.insert(found, x)`, `sum += 1`, `found[n] = x`.
fn collects(node: AstNode<'_>, id: u64) -> bool {
    match node {
        AstNode::Statement(statement) => match statement.view() {
            StatementView::CompoundAssign(assign) => local_id(assign.var) == Some(id),
            StatementView::Assign(assign) => assign.vars.iter().any(|var| match var.kind() {
                ExpressionKind::IndexExpr { expr, .. } => local_id(expr) == Some(id),
                _ => false,
            }),
            _ => false,
        },
        AstNode::Expression(expression) => match expression.kind() {
            ExpressionKind::Call { func, args, .. } => {
                let inserts = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "insert");
                inserts && args.first().is_some_and(|list| local_id(*list) == Some(id))
            }
            _ => false,
        },
    }
}
