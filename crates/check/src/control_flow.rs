//! Where control can go: whether a block can reach its end.

use crate::inference::value_type::ValueType;
use crate::inference::value_type::type_named;
use crate::syntax::any_of_loop;
use riskbreaker_script::syntax::{
    Block, Expression, ExpressionKind, Function, Location, Statement, StatementView, TextPosition, TypeNode,
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
