//! What the functions of a card read off their parameters, and which tables they return.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{listed, named, returned, text};
use riskbreaker_script::syntax::{
    AstNode, Expression, ExpressionKind, Function, StatementView, TableItem, TextPosition,
};

/// A function that a card has under a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardFunction {
    pub params: Vec<CardParam>,
    /// The names in the tables that it returns, with their positions. `None` if some `return` gives anything but a table literal
    /// in which each value has a name.
    pub made: Option<BTreeMap<String, TextPosition>>,
}

/// A parameter of a function of a card.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardParam {
    pub name: String,
    /// The names that are read off it, with the position of the first one of each.
    pub read: BTreeMap<String, TextPosition>,
}

impl CardFunction {
    pub fn of(function: &Function<'_>) -> CardFunction {
        let params =
            function.args.iter().map(|arg| CardParam { name: text(arg.name), read: read_off(function, arg.id) });
        CardFunction { params: params.collect(), made: made_by(function) }
    }
}

/// The names that are read off a variable, without those that are only assigned.
fn read_off(function: &Function<'_>, id: u64) -> BTreeMap<String, TextPosition> {
    let mut assigned = BTreeSet::new();
    let mut read = BTreeMap::new();
    function.body.visit(&mut |node: AstNode<'_>| {
        match node {
            AstNode::Statement(statement) => {
                if let StatementView::Assign(assign) = statement.view() {
                    assigned.extend(assign.vars.iter().map(|var| var.location().begin));
                }
            }
            AstNode::Expression(expression) => {
                if let ExpressionKind::IndexName { expr, index, .. } = expression.kind()
                    && let ExpressionKind::Local { local, .. } = expr.kind()
                    && local.id == id
                    && !assigned.contains(&expression.location().begin)
                {
                    read.entry(text(index)).or_insert(expression.location().begin);
                }
            }
        }
        true
    });
    read
}

/// The names in the returned tables.
fn made_by(function: &Function<'_>) -> Option<BTreeMap<String, TextPosition>> {
    let mut made = BTreeMap::new();
    let returns = returned(function.body);
    for values in &returns {
        let [table] = values else { return None };
        made.extend(names_in(*table)?);
    }
    (!returns.is_empty()).then_some(made)
}

fn names_in(table: Expression<'_>) -> Option<Vec<(String, TextPosition)>> {
    let ExpressionKind::Table { items } = table.kind() else { return None };
    let is_plain = items.iter().all(|item| matches!(item, TableItem::Record { .. })) && listed(table).next().is_none();
    is_plain.then(|| named(table).map(|(name, at, _)| (name, at.begin)).collect())
}
