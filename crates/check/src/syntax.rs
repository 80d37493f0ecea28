//! Mistakes that the syntax tree of one script shows, without the rest of the ruleset.

use std::collections::BTreeSet;

use riskbreaker_script::syntax::{
    AstName, AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Location, Statement, StatementView,
    TableItem,
};
use riskbreaker_state::Value;

pub(super) fn text(name: AstName<'_>) -> String {
    name.0.to_string()
}

/// The text of an expression that is one.
pub(super) fn literal(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::String { value, .. } => Some(String::from_utf8_lossy(value).into_owned()),
        ExpressionKind::Grouped(inner) => literal(inner),
        _ => None,
    }
}

/// The texts that an expression can come to, where they stand in it: those of both branches of a condition.
pub(super) fn possible_texts(expression: Expression<'_>) -> Vec<String> {
    match expression.kind() {
        ExpressionKind::If { then_expression, else_expression, .. } => {
            [then_expression, else_expression].into_iter().flat_map(possible_texts).collect()
        }
        _ => literal(expression).into_iter().collect(),
    }
}

/// The local variable that an expression is, by its number in the file.
pub(super) fn local_id(expression: Expression<'_>) -> Option<u64> {
    match expression.kind() {
        ExpressionKind::Local { local, .. } => Some(local.id),
        _ => None,
    }
}

/// The name of a member that is read off something.
pub(super) fn member(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::IndexName { index, .. } => Some(text(index)),
        _ => None,
    }
}

/// What a value is called at its end: `ctx.side` is a `side`.
pub(super) fn name_of(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::Local { local, .. } => Some(text(local.name)),
        _ => member(expression),
    }
}

/// The name of a member with that of what it is read off: `ctx.targets` and `foe.ctx.targets` alike.
pub(super) fn path_of(expression: Expression<'_>) -> Option<String> {
    let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return None };
    Some(format!("{}.{}", name_of(expr)?, text(index)))
}

/// A table that is written down with texts as keys only.
pub(super) fn is_text_map(value: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = value.kind() else { return false };
    let by_text = |item: &TableItem<'_>| match item {
        TableItem::Record { .. } => true,
        TableItem::General { key, .. } => literal(*key).is_some(),
        TableItem::List { .. } => false,
    };
    !items.is_empty() && items.iter().all(by_text)
}

/// The value of an expression that is always the same.
pub(super) fn constant(expression: Expression<'_>) -> Option<Value> {
    match expression.kind() {
        ExpressionKind::Nil => Some(Value::None),
        ExpressionKind::Boolean(yes) => Some(Value::Bool(yes)),
        ExpressionKind::Number { value, .. } if value.fract() == 0.0 && value.abs() < 1e15 => {
            Some(Value::Int(value as i64))
        }
        ExpressionKind::String { .. } => literal(expression).map(Value::text),
        ExpressionKind::Unary { op: riskbreaker_script::syntax::UnaryOp::Negate, rhs } => match constant(rhs)? {
            Value::Int(n) => Some(Value::Int(-n)),
            _ => None,
        },
        _ => None,
    }
}

/// The values of a table that have names, as it is written down: the name, where it stands, and the value.
pub(super) fn named(table: Expression<'_>) -> impl Iterator<Item = (String, Location, Expression<'_>)> {
    items_of(table).iter().filter_map(|item| match item {
        TableItem::Record { key, value } => Some((literal(*key)?, key.location(), *value)),
        _ => None,
    })
}

/// The values of a table that have no key.
pub(super) fn listed(table: Expression<'_>) -> impl Iterator<Item = Expression<'_>> {
    items_of(table).iter().filter_map(|item| match item {
        TableItem::List { value } => Some(*value),
        _ => None,
    })
}

/// The texts among them, and where they stand.
pub(super) fn listed_texts(table: Expression<'_>) -> impl Iterator<Item = (String, Location)> {
    listed(table).filter_map(|value| Some((literal(value)?, value.location())))
}

fn items_of(table: Expression<'_>) -> &[TableItem<'_>] {
    match table.kind() {
        ExpressionKind::Table { items } => items,
        _ => &[],
    }
}

/// The value of a key in a table as it is written down.
pub(super) fn value_of<'a>(items: &[TableItem<'a>], wanted: &str) -> Option<Expression<'a>> {
    items.iter().find_map(|item| match item {
        TableItem::Record { key, value } if literal(*key).as_deref() == Some(wanted) => Some(*value),
        _ => None,
    })
}

/// What a function returns, each place of it; functions inside it are none of it.
pub(super) fn returned<'a>(block: Block<'a>) -> Vec<&'a [Expression<'a>]> {
    let mut returns = Vec::new();
    block.visit(&mut |node: AstNode<'a>| {
        let AstNode::Statement(statement) = node else { return false };
        if let StatementView::Return(found) = statement.view() {
            returns.push(found.expressions);
        }
        true
    });
    returns
}

/// Whether a block leaves a loop around it: by `break` there, by `return` or by a call that ends the action.
pub(super) fn leaves_loop(block: Block<'_>) -> bool {
    let ends = |expression: Expression<'_>| match expression.kind() {
        ExpressionKind::Call { func, .. } => match func.kind() {
            ExpressionKind::IndexName { index, .. } => index == "cut" || index == "finish",
            ExpressionKind::Global(name) => name == "error",
            _ => false,
        },
        _ => false,
    };
    let leaves = |statement: Statement<'_>| match statement.view() {
        StatementView::Break => true,
        StatementView::Expression(called) => ends(called.expr),
        _ => false,
    };
    !returned(block).is_empty() || any_of_loop(block, &leaves)
}

/// Whether a statement of a loop's body is such a one. The loops in it are left out: what leaves one of them leaves that alone.
pub(super) fn any_of_loop(body: Block<'_>, wanted: &dyn Fn(Statement<'_>) -> bool) -> bool {
    fn any(statement: Statement<'_>, wanted: &dyn Fn(Statement<'_>) -> bool) -> bool {
        match statement.view() {
            StatementView::Block(inner) => any_of_loop(inner, wanted),
            StatementView::If(branch) => {
                any_of_loop(branch.then_body, wanted) || branch.else_body.is_some_and(|rest| any(rest, wanted))
            }
            _ => wanted(statement),
        }
    }
    body.as_slice().iter().any(|statement| any(*statement, wanted))
}

/// Local variables of a file: their names, of which one is meant where a name is not there, and what is done with them.
#[derive(Default)]
pub(super) struct Locals {
    pub names: BTreeSet<String>,
    /// Those that are assigned after they were declared.
    pub changing: BTreeSet<u64>,
    /// Those that may hold another sort of value then: what numbers are added to stays a number.
    pub reassigned: BTreeSet<u64>,
    /// Those that a function assigns that stands further in than they do.
    pub caught: BTreeSet<u64>,
    /// Tables into which something is put by an index.
    pub filled: BTreeSet<u64>,
    /// On which `:set("field", ...)` or `:add("field", ...)` is called.
    entities: BTreeSet<u64>,
    /// The option that was chosen, which may be an entity or a word.
    chosen: BTreeSet<u64>,
    /// What is compared with a word.
    compared: BTreeSet<u64>,
}

impl Locals {
    /// Whether it is an entity by what is called on it, and never a word that was chosen instead.
    pub fn is_entity(&self, id: u64) -> bool {
        self.entities.contains(&id) && !(self.chosen.contains(&id) && self.compared.contains(&id))
    }
}

/// Whether this calls a word of the vocabulary that gives one of several options.
fn chooses(value: Expression<'_>) -> bool {
    let ExpressionKind::Call { func, .. } = value.kind() else { return false };
    matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "choose")
}

impl<'ast> AstVisitor<'ast> for Locals {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        let mut assigned = |target: Expression<'_>, adds: bool| {
            let table = match target.kind() {
                ExpressionKind::IndexExpr { expr, .. } => expr,
                ExpressionKind::Local { local, upvalue } => {
                    let id = local.id;
                    self.changing.insert(id);
                    if !adds {
                        self.reassigned.insert(id);
                    }
                    if upvalue {
                        self.caught.insert(id);
                    }
                    return;
                }
                _ => return,
            };
            if let ExpressionKind::Local { local, .. } = table.kind() {
                self.filled.insert(local.id);
            }
        };
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => assign.vars.iter().for_each(|var| assigned(*var, false)),
                StatementView::CompoundAssign(assign) => assigned(assign.var, assign.op != BinaryOp::Concat),
                StatementView::FunctionDeclaration(declaration) => assigned(declaration.name, false),
                StatementView::Local(local) => {
                    self.names.extend(local.bindings.iter().map(|binding| text(binding.name)));
                    let chosen = local.bindings.iter().zip(local.values).filter(|(_, value)| chooses(**value));
                    self.chosen.extend(chosen.map(|(binding, _)| binding.id));
                }
                StatementView::LocalFunction(local) => {
                    self.names.insert(text(local.name.name));
                }
                _ => {}
            },
            AstNode::Expression(expression) => {
                if let ExpressionKind::FunctionLiteral(function) = expression.kind() {
                    self.names.extend(function.args.iter().map(|arg| text(arg.name)));
                }
                if let ExpressionKind::Binary { lhs, op: BinaryOp::Equal | BinaryOp::NotEqual, rhs } = expression.kind()
                {
                    let word = |(_, other): &(_, Expression<'_>)| literal(*other).is_some();
                    let sides = [(lhs, rhs), (rhs, lhs)].into_iter().filter(word);
                    self.compared.extend(sides.filter_map(|(side, _)| local_id(side)));
                }
                // Whoever is handed a table may fill it.
                if let ExpressionKind::Call { args, .. } = expression.kind() {
                    self.filled.extend(args.iter().filter_map(|arg| local_id(*arg)));
                }
                if let ExpressionKind::Call { func, args, self_call: true, .. } = expression.kind()
                    && let ExpressionKind::IndexName { expr, index, .. } = func.kind()
                    && matches!(&*text(index), "set" | "add" | "shift")
                    && let ExpressionKind::Local { local, .. } = expr.kind()
                    && args.first().is_some_and(|arg| literal(*arg).is_some())
                {
                    self.entities.insert(local.id);
                }
            }
        }
        true
    }
}
