//! Where control can go: whether a block can reach its end.

use crate::inference::value_type::ValueType;
use crate::inference::value_type::type_named;
use crate::syntax::{any_of_loop, local_id};
use riskbreaker_script::syntax::{
    AstNode, Block, Expression, ExpressionKind, Function, Location, Statement, StatementView, TextPosition, TypeNode,
};

/// Returns the position of a function's `end`.
pub(crate) fn end_of(function: &Function<'_>) -> Location {
    let end = function.location.end;
    Location::new(TextPosition::new(end.line, end.column.saturating_sub(3)), end)
}

/// Returns the result type that a function declares, if it is a number, a text, a truth value or a table.
pub(crate) fn promised_type(function: &Function<'_>) -> Option<ValueType> {
    let ty = function.returns?;
    type_named(ty).or_else(|| matches!(ty, TypeNode::Table).then_some(ValueType::Table))
}

/// Whether control can reach the end of a block.
pub(crate) fn falls_through(block: Block<'_>) -> bool {
    block.as_slice().last().is_none_or(|last| goes_on(*last))
}

/// Whether control can reach the statement after this one.
pub(crate) fn goes_on(statement: Statement<'_>) -> bool {
    match statement.view() {
        StatementView::Return(_) | StatementView::Break | StatementView::Continue => false,
        StatementView::Block(inner) => falls_through(inner),
        StatementView::If(branch) => falls_through(branch.then_body) || branch.else_body.is_none_or(goes_on),
        StatementView::While(looped) => {
            let breaks = |statement: Statement<'_>| matches!(statement.view(), StatementView::Break);
            !matches!(looped.condition.kind(), ExpressionKind::Boolean(true)) || any_of_loop(looped.body, &breaks)
        }
        StatementView::Repeat(looped) => falls_through(looped.body),
        StatementView::Expression(called) => !ends_action(called.expr),
        _ => true,
    }
}

/// A `return` at the end of a loop's body that gives back what the loop collects.
pub(crate) struct EarlyReturn {
    /// The place of the `return`.
    pub at: Location,
    /// The end of the statement before it.
    pub before: TextPosition,
    /// The place of the loop.
    pub of_loop: Location,
}

/// Returns the first `return` of a function, without inner ones, that ends a loop in its first round although it gives
/// back a variable that is declared before the loop and changed in it.
pub(crate) fn early_return(function: &Function<'_>) -> Option<EarlyReturn> {
    let mut found = None;
    function.body.visit(&mut |node: AstNode<'_>| {
        let AstNode::Statement(statement) = node else { return false };
        let body = match statement.view() {
            StatementView::GenericFor(looped) => looped.body,
            StatementView::NumericFor(looped) => looped.body,
            _ => return true,
        };
        if let [.., before, last] = body.as_slice()
            && let StatementView::Return(returned) = last.view()
            && let [value] = returned.expressions
            && let ExpressionKind::Local { local, .. } = value.kind()
            && local.location.begin < statement.location().begin
            && changes(body, local.id)
            && !any_of_loop(body, &|inner: Statement<'_>| matches!(inner.view(), StatementView::Continue))
        {
            let (at, before) = (last.location(), before.location().end);
            found = found.take().or(Some(EarlyReturn { at, before, of_loop: statement.location() }));
        }
        true
    });
    found
}

/// Whether a block assigns a variable, assigns something in it, or adds something to it by `table.insert`.
fn changes(block: Block<'_>, id: u64) -> bool {
    let is_it = |target: Expression<'_>| match target.kind() {
        ExpressionKind::IndexName { expr, .. } | ExpressionKind::IndexExpr { expr, .. } => local_id(expr) == Some(id),
        _ => local_id(target) == Some(id),
    };
    let mut changes = false;
    block.visit(&mut |node: AstNode<'_>| {
        changes |= match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => assign.vars.iter().any(|var| is_it(*var)),
                StatementView::CompoundAssign(assign) => is_it(assign.var),
                _ => false,
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Call { func, args, .. } => {
                    let inserts = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "insert");
                    inserts && args.first().is_some_and(|table| local_id(*table) == Some(id))
                }
                _ => false,
            },
        };
        !changes
    });
    changes
}

/// Whether a call never returns: `rb.cut` or `error`. After `rb.finish` the action goes on to its end.
fn ends_action(expression: Expression<'_>) -> bool {
    let ExpressionKind::Call { func, .. } = expression.kind() else { return false };
    match func.kind() {
        ExpressionKind::IndexName { expr, index, .. } => {
            let rb = matches!(expr.kind(), ExpressionKind::Local { local, .. } if local.name == "rb");
            rb && index == "cut"
        }
        ExpressionKind::Global(name) => name == "error",
        _ => false,
    }
}
