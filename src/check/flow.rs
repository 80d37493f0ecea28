//! Endless loops, and functions that can end without a result.

use std::collections::BTreeSet;

use super::script::Reader;
use super::signature::type_named;
use super::syntax::leaves_loop;
use super::value_type::ValueType;
use crate::script::syntax::{
    AstNode, AstVisitor, Block, Expression, ExpressionKind, Function, Location, Position, Statement, StatementView,
    TypeKind,
};

impl Reader<'_> {
    /// A function with a result type that can end without `return`.
    pub(super) fn promised(&mut self, function: &Function<'_>) {
        if promised_type(function).is_none() || !falls_through(function.body) {
            return;
        }
        let wrong = "this function must return a value, and can end without one".to_string();
        match function.body.as_slice().last() {
            Some(last) if matches!(last.view(), StatementView::Expression(_)) => {
                self.problem(last.location(), (wrong, "write `return` in front of this".into()));
            }
            _ => self.problem(end_of(function), (wrong, "add `return ...` before this `end`".into())),
        }
    }

    /// A loop whose condition uses only local variables that the loop does not change.
    pub(super) fn ends(&mut self, condition: Expression<'_>, body: Block<'_>) {
        let mut asked = BTreeSet::new();
        if !made_of_locals(condition, &mut asked) || asked.is_empty() || leaves_loop(body) {
            return;
        }
        let mut assigned = Assigned::default();
        body.visit(&mut assigned);
        // A function that is called in the loop may change what it has caught.
        if asked.iter().any(|id| assigned.0.contains(id) || self.caught.contains(id)) {
            return;
        }
        let wrong = "this loop never ends: nothing in it changes its condition".to_string();
        self.problem(condition.location(), (wrong, "change one of its variables in the loop, or add a `break`".into()));
    }
}

/// Where the `end` of a function stands.
pub(super) fn end_of(function: &Function<'_>) -> Location {
    let end = function.location.end;
    Location::new(Position::new(end.line, end.column.saturating_sub(3)), end)
}

/// The value that the type of a function says it gives back: a number, a text, a truth value or a table.
pub(super) fn promised_type(function: &Function<'_>) -> Option<ValueType> {
    let ty = function.returns?;
    type_named(ty).or_else(|| matches!(ty.kind(), TypeKind::Table).then_some(ValueType::Table))
}

/// Whether a block can be run to its end and past it.
pub(super) fn falls_through(block: Block<'_>) -> bool {
    block.as_slice().last().is_none_or(|last| goes_on(*last))
}

/// Whether what stands behind a statement can be run.
pub(super) fn goes_on(statement: Statement<'_>) -> bool {
    match statement.view() {
        StatementView::Return(_) | StatementView::Break | StatementView::Continue => false,
        StatementView::Block(inner) => falls_through(inner),
        StatementView::If(branch) => falls_through(branch.then_body) || branch.else_body.is_none_or(goes_on),
        StatementView::While(looped) => {
            !matches!(looped.condition.kind(), ExpressionKind::Boolean(true)) || breaks(looped.body)
        }
        StatementView::Repeat(looped) => falls_through(looped.body),
        StatementView::Expression(called) => !ends_action(called.expr),
        _ => true,
    }
}

/// Whether a block has a `break` of the loop around it.
fn breaks(block: Block<'_>) -> bool {
    block.as_slice().iter().any(|statement| breaks_here(*statement))
}

fn breaks_here(statement: Statement<'_>) -> bool {
    match statement.view() {
        StatementView::Break => true,
        StatementView::Block(inner) => breaks(inner),
        StatementView::If(branch) => breaks(branch.then_body) || branch.else_body.is_some_and(breaks_here),
        _ => false,
    }
}

/// A call behind which nothing is run.
fn ends_action(expression: Expression<'_>) -> bool {
    let ExpressionKind::Call { func, .. } = expression.kind() else { return false };
    match func.kind() {
        ExpressionKind::IndexName { expr, index, .. } => {
            let rb = matches!(expr.kind(), ExpressionKind::Local { local, .. } if local.name == "rb");
            rb && (index == "cut" || index == "finish")
        }
        ExpressionKind::Global(name) => name == "error",
        _ => false,
    }
}

/// Whether an expression only compares and reckons with local variables and constants; `locals` takes the variables.
fn made_of_locals(expression: Expression<'_>, locals: &mut BTreeSet<u64>) -> bool {
    match expression.kind() {
        ExpressionKind::Local { local, .. } => {
            locals.insert(local.id);
            true
        }
        ExpressionKind::Number { .. } | ExpressionKind::String { .. } | ExpressionKind::Boolean(_) => true,
        ExpressionKind::Nil => true,
        ExpressionKind::Grouped(inner) => made_of_locals(inner, locals),
        ExpressionKind::Unary { op: crate::script::syntax::UnaryOp::Length, .. } => false,
        ExpressionKind::Unary { rhs, .. } => made_of_locals(rhs, locals),
        ExpressionKind::Binary { lhs, rhs, .. } => made_of_locals(lhs, locals) && made_of_locals(rhs, locals),
        _ => false,
    }
}

/// The local variables that are assigned somewhere.
#[derive(Default)]
struct Assigned(BTreeSet<u64>);

impl<'ast> AstVisitor<'ast> for Assigned {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        if let AstNode::Statement(statement) = node {
            for target in statement.assigned() {
                if let ExpressionKind::Local { local, .. } = target.kind() {
                    self.0.insert(local.id);
                }
            }
        }
        true
    }
}
