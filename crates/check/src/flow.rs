//! Reports endless loops, and functions that can end without a result.

use std::collections::BTreeSet;

use super::lints;
use super::script::ScriptReader;
use super::signature::type_named;
use super::symbol::Symbol;
use super::syntax::{any_of_loop, leaves_loop, literal, text};
use super::value_type::ValueType;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, Block, Expression, ExpressionKind, Function, Location, Statement, StatementView, TextPosition,
    TypeNode,
};

impl ScriptReader<'_> {
    /// Reports a function with a result type that can end without `return`.
    pub(super) fn promised(&mut self, function: &Function<'_>) {
        if promised_type(function).is_none() || !falls_through(function.body) {
            return;
        }
        let wrong = "this function must return a value, and can end without one".to_string();
        match function.body.as_slice().last() {
            Some(last) if matches!(last.view(), StatementView::Expression(_)) => {
                self.problem(
                    &lints::missing_return::LINT,
                    last.location(),
                    (wrong, "write `return` in front of this".into()),
                );
            }
            _ => self.problem(
                &lints::missing_return::LINT,
                end_of(function),
                (wrong, "add `return ...` before this `end`".into()),
            ),
        }
    }

    /// Reports a loop that never ends: its condition uses only local variables and their members, and its body changes
    /// none of them.
    pub(super) fn ends(&mut self, condition: Expression<'_>, body: Block<'_>) {
        let mut asked = AskedNames::default();
        if !asked.takes(condition) || asked.locals.is_empty() || leaves_loop(body) {
            return;
        }
        let mut changed = ChangeSearch { reader: self, asked: &asked, found: false };
        body.visit(&mut changed);
        // A function that the loop calls may change variables that it has captured.
        if changed.found || asked.locals.iter().any(|id| self.locals.caught.contains(id)) {
            return;
        }
        let wrong = "this loop never ends: nothing in it changes its condition".to_string();
        let cure = "change in the loop what its condition asks for, or add a `break`";
        self.problem(&lints::endless_loop::LINT, condition.location(), (wrong, cure.into()));
    }
}

/// Returns the position of a function's `end`.
pub(super) fn end_of(function: &Function<'_>) -> Location {
    let end = function.location.end;
    Location::new(TextPosition::new(end.line, end.column.saturating_sub(3)), end)
}

/// Returns the result type that a function declares, if it is a number, a text, a truth value or a table.
pub(super) fn promised_type(function: &Function<'_>) -> Option<ValueType> {
    let ty = function.returns?;
    type_named(ty).or_else(|| matches!(ty, TypeNode::Table).then_some(ValueType::Table))
}

/// Whether control can reach the end of a block.
pub(super) fn falls_through(block: Block<'_>) -> bool {
    block.as_slice().last().is_none_or(|last| goes_on(*last))
}

/// Whether control can reach the statement after this one.
pub(super) fn goes_on(statement: Statement<'_>) -> bool {
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

/// The local variables in a condition, and the names of members that it reads.
#[derive(Default)]
struct AskedNames {
    locals: BTreeSet<u64>,
    names: BTreeSet<String>,
}

impl AskedNames {
    /// Collects the names in an expression. Returns false if it does more than compare and calculate with variables,
    /// members and constants.
    fn takes(&mut self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.locals.insert(local.id);
                true
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.names.insert(text(index));
                self.takes(expr)
            }
            ExpressionKind::Number { .. } | ExpressionKind::String { .. } | ExpressionKind::Boolean(_) => true,
            ExpressionKind::Nil => true,
            ExpressionKind::Grouped(inner) => self.takes(inner),
            ExpressionKind::Unary { op: riskbreaker_script::syntax::UnaryOp::Length, .. } => false,
            ExpressionKind::Unary { rhs, .. } => self.takes(rhs),
            ExpressionKind::Binary { lhs, rhs, .. } => self.takes(lhs) && self.takes(rhs),
            _ => false,
        }
    }
}

/// Looks for anything that may change a condition. If the condition reads members, any call that may change the game
/// counts.
struct ChangeSearch<'c, 'r> {
    reader: &'c ScriptReader<'r>,
    asked: &'c AskedNames,
    found: bool,
}

impl ChangeSearch<'_, '_> {
    fn called(&self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) -> bool {
        if let Some(called) = self.reader.called(func, self_call) {
            return !called.signature.pure;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else {
            return !matches!(func.kind(), ExpressionKind::Global(_));
        };
        match self.reader.symbol(expr) {
            Some(Symbol::Vocabulary) => api::word(&text(index))
                .is_none_or(|word| word.acts && !matches!(word.group, api::WordGroup::Dice | api::WordGroup::Telling)),
            Some(Symbol::Library(library)) => library == "table",
            _ if self_call && matches!(&*text(index), "set" | "add" | "shift") => {
                args.first().and_then(|field| literal(*field)).is_none_or(|field| self.asked.names.contains(&field))
            }
            Some(Symbol::Entity(_)) => false,
            _ => true,
        }
    }
}

impl<'ast> AstVisitor<'ast> for ChangeSearch<'_, '_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        self.found |= match node {
            AstNode::Statement(statement) => statement.assigned().iter().any(|target| match target.kind() {
                ExpressionKind::Local { local, .. } => self.asked.locals.contains(&local.id),
                ExpressionKind::IndexName { index, .. } => self.asked.names.contains(&text(index)),
                _ => !self.asked.names.is_empty(),
            }),
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Call { func, args, self_call, .. } if !self.asked.names.is_empty() => {
                    self.called(func, args, self_call)
                }
                _ => false,
            },
        };
        !self.found
    }
}
