//! Helpers for the syntax tree of one script.

use std::collections::{BTreeMap, BTreeSet};

use riskbreaker_script::syntax::{
    AstName, AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, Location, Statement,
    StatementView, TableItem, TextPosition, UnaryOp,
};
use riskbreaker_state::Value;

pub(crate) fn text(name: AstName<'_>) -> String {
    name.0.to_string()
}

/// Returns the text of a string literal.
pub(crate) fn literal(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::String { value, .. } => Some(String::from_utf8_lossy(value).into_owned()),
        ExpressionKind::Grouped(inner) => literal(inner),
        _ => None,
    }
}

/// Returns the texts that an expression can be: its literal, or those of both branches of a conditional.
pub(crate) fn possible_texts(expression: Expression<'_>) -> Vec<String> {
    match expression.kind() {
        ExpressionKind::If { then_expression, else_expression, .. } => {
            [then_expression, else_expression].into_iter().flat_map(possible_texts).collect()
        }
        _ => literal(expression).into_iter().collect(),
    }
}

/// Returns the number of the local variable that an expression is.
pub(crate) fn local_id(expression: Expression<'_>) -> Option<u64> {
    match expression.kind() {
        ExpressionKind::Local { local, .. } => Some(local.id),
        _ => None,
    }
}

/// Whether a letter may be part of a name.
pub(crate) fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the name of the member that an expression reads.
pub(crate) fn member(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::IndexName { index, .. } => Some(text(index)),
        _ => None,
    }
}

/// Returns the last name of an expression: `side` for `ctx.side`.
pub(crate) fn name_of(expression: Expression<'_>) -> Option<String> {
    match expression.kind() {
        ExpressionKind::Local { local, .. } => Some(text(local.name)),
        _ => member(expression),
    }
}

/// Returns a member's name with that of its owner: `ctx.targets` for `ctx.targets` and for `foe.ctx.targets`.
pub(crate) fn path_of(expression: Expression<'_>) -> Option<String> {
    let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return None };
    Some(format!("{}.{}", name_of(expr)?, text(index)))
}

/// Whether an expression is a table literal with only texts as keys.
pub(crate) fn is_text_map(value: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = value.kind() else { return false };
    let by_text = |item: &TableItem<'_>| match item {
        TableItem::Record { .. } => true,
        TableItem::General { key, .. } => literal(*key).is_some(),
        TableItem::List { .. } => false,
    };
    !items.is_empty() && items.iter().all(by_text)
}

/// Whether an expression is a table literal without keys.
pub(crate) fn is_list(value: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = value.kind() else { return false };
    !items.is_empty() && items.iter().all(|item| matches!(item, TableItem::List { .. }))
}

/// Returns the value of a constant expression; `None` if it is no constant.
pub(crate) fn constant(expression: Expression<'_>) -> Option<Value> {
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

/// Returns the values of a table literal that have names: the name, its position and the value.
pub(crate) fn named(table: Expression<'_>) -> impl Iterator<Item = (String, Location, Expression<'_>)> {
    items_of(table).iter().filter_map(|item| match item {
        TableItem::Record { key, value } => Some((literal(*key)?, key.location(), *value)),
        _ => None,
    })
}

/// Returns the values of a table literal that have no key.
pub(crate) fn listed(table: Expression<'_>) -> impl Iterator<Item = Expression<'_>> {
    items_of(table).iter().filter_map(|item| match item {
        TableItem::List { value } => Some(*value),
        _ => None,
    })
}

/// Returns the texts of a table literal that have no key, with their positions.
pub(crate) fn listed_texts(table: Expression<'_>) -> impl Iterator<Item = (String, Location)> {
    listed(table).filter_map(|value| Some((literal(value)?, value.location())))
}

fn items_of(table: Expression<'_>) -> &[TableItem<'_>] {
    match table.kind() {
        ExpressionKind::Table { items } => items,
        _ => &[],
    }
}

/// Returns the value of a key in a table literal.
pub(crate) fn value_of<'a>(items: &[TableItem<'a>], wanted: &str) -> Option<Expression<'a>> {
    items.iter().find_map(|item| match item {
        TableItem::Record { key, value } if literal(*key).as_deref() == Some(wanted) => Some(*value),
        _ => None,
    })
}

/// Returns the values of each `return` of a function, without those of inner functions.
pub(crate) fn returned<'a>(block: Block<'a>) -> Vec<&'a [Expression<'a>]> {
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

/// Returns the position of a `return` without a value in a block, without those of inner functions.
pub(crate) fn empty_return(block: Block<'_>) -> Option<Location> {
    let mut found = None;
    block.visit(&mut |node: AstNode<'_>| {
        let AstNode::Statement(statement) = node else { return false };
        if matches!(statement.view(), StatementView::Return(returned) if returned.expressions.is_empty()) {
            found = found.or(Some(statement.location()));
        }
        true
    });
    found
}

/// Whether a block can leave the loop around it: by `break`, by `return` or by a call that ends the action.
pub(crate) fn leaves_loop(block: Block<'_>) -> bool {
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

/// Whether some statement of a loop's body fulfils a condition. The bodies of inner loops are not searched, because a
/// `break` there leaves only the inner loop.
pub(crate) fn any_of_loop(body: Block<'_>, wanted: &dyn Fn(Statement<'_>) -> bool) -> bool {
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

/// The local variables of a file: their names, and how each is changed.
#[derive(Default)]
pub(crate) struct Locals {
    pub names: BTreeSet<String>,
    /// Variables that are assigned after their declaration.
    pub changing: BTreeSet<u64>,
    /// Variables that may change their type. A variable to which numbers are added stays a number.
    pub reassigned: BTreeSet<u64>,
    /// Variables that an inner function assigns.
    pub caught: BTreeSet<u64>,
    /// Tables to which something is added by an index.
    pub filled: BTreeSet<u64>,
    /// Variables on which `:set("field", ...)` or `:add("field", ...)` is called.
    entities: BTreeSet<u64>,
    /// Variables with the functions and values that the file assigns to them by name.
    members: BTreeMap<u64, BTreeSet<String>>,
    /// Variables that hold a chosen option, which may be an entity or a word.
    chosen: BTreeSet<u64>,
    /// Variables that are compared with a word.
    compared: BTreeSet<u64>,
}

impl Locals {
    /// Whether the file itself assigns a member of that name to a variable.
    pub fn has_member(&self, expression: Expression<'_>, name: &str) -> bool {
        local_id(expression).and_then(|id| self.members.get(&id)).is_some_and(|members| members.contains(name))
    }

    /// Whether the methods called on a variable show that it is an entity, and it is never a chosen word.
    pub fn is_entity(&self, id: u64) -> bool {
        self.entities.contains(&id) && !(self.chosen.contains(&id) && self.compared.contains(&id))
    }
}

/// Whether a value is a call of `rb.choose`.
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
                ExpressionKind::IndexName { expr, index, .. } => {
                    if let Some(id) = local_id(expr) {
                        self.members.entry(id).or_default().insert(text(index));
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
                // A function may add to a table that it gets.
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

/// Returns the line and the column of a position, from 1. The parser counts bytes in a line; the result counts
/// characters.
pub(crate) fn place_in(text: &str, at: TextPosition) -> (u32, u32) {
    let line = text.lines().nth(at.line as usize).unwrap_or_default();
    let column = line.get(..at.column as usize).map_or(at.column, |before| before.chars().count() as u32);
    (at.line.saturating_add(1), column.saturating_add(1))
}

/// Returns the byte of a text at a position, at most its end.
pub(crate) fn byte_of(text: &str, at: TextPosition) -> usize {
    let lines = text.split_inclusive('\n').take(at.line as usize);
    (lines.map(str::len).sum::<usize>() + at.column as usize).min(text.len())
}

/// Whether an expression may yield any number of values.
pub(crate) fn gives_many(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Varargs | ExpressionKind::Call { .. })
}

pub(crate) fn is_length(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Unary { op: UnaryOp::Length, .. })
}

pub(crate) fn number(expression: Expression<'_>) -> Option<f64> {
    match expression.kind() {
        ExpressionKind::Number { value, .. } => Some(value),
        ExpressionKind::Integer { value, .. } => Some(value as f64),
        ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => number(rhs).map(|value| -value),
        _ => None,
    }
}

/// Whether an expression is an element of a member list, `thing.list[1]`.
pub(crate) fn is_one_of_a_list(expression: Expression<'_>) -> bool {
    let ExpressionKind::IndexExpr { expr, index } = expression.kind() else { return false };
    matches!(expr.kind(), ExpressionKind::IndexName { .. }) && matches!(index.kind(), ExpressionKind::Number { .. })
}

/// The names that are read off a parameter in the body of its function.
pub(crate) fn members_of(function: &Function<'_>, id: u64) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    function.body.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node
            && let ExpressionKind::IndexName { expr, index, .. } = expression.kind()
            && let ExpressionKind::Local { local, .. } = expr.kind()
            && local.id == id
        {
            names.insert(text(index));
        }
        true
    });
    names
}
