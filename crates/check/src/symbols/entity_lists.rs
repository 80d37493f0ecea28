//! Functions that return lists of entities.

use std::collections::{BTreeMap, BTreeSet};

use crate::symbols::given_words::assigned_in;
use crate::symbols::surroundings::{Callee, Surroundings, is_vocabulary};
use crate::syntax::{literal, local_id, returned, text};
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Function, StatementView, TableItem};

/// The entities in the lists that a function returns, if it returns nothing else.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GivenEntities {
    /// The kinds of the entities; `None` for a kind that is not written down.
    kinds: BTreeSet<Option<String>>,
    /// The functions whose results it returns, too.
    of: Vec<Callee>,
}

impl GivenEntities {
    /// Reads the returned lists of a function; `None` unless each of them certainly is a list of entities.
    pub fn of(function: &Function<'_>, around: Surroundings<'_>) -> Option<GivenEntities> {
        let returns = returned(function.body);
        let firsts: Vec<Expression<'_>> = returns.iter().filter_map(|values| values.first()).copied().collect();
        if firsts.is_empty() || firsts.len() != returns.len() {
            return None;
        }
        let lists = Lists::of(function);
        let mut reader = ListReader { around, lists, seen: BTreeSet::new(), found: GivenEntities::default() };
        let is_closed = firsts.into_iter().all(|value| reader.list(value));
        let is_sure = !reader.found.kinds.is_empty() || !reader.found.of.is_empty();
        (is_closed && is_sure).then_some(reader.found)
    }

    /// Returns the kind of the entities, or `Some(None)` if there are several kinds; `None` if some called function returns
    /// something else. `known` answers for a function with the kind of the entities that it returns.
    pub fn resolved(&self, known: &dyn Fn(&Callee) -> Option<Option<String>>) -> Option<Option<String>> {
        let mut kinds = self.kinds.clone();
        for callee in &self.of {
            kinds.insert(known(callee)?);
        }
        let mut kinds = kinds.into_iter();
        let first = kinds.next()?;
        Some(first.filter(|_| kinds.next().is_none()))
    }
}

/// The variables of a function that may hold lists.
struct Lists<'a> {
    /// The values of each variable; `None` for a variable that gets others, too.
    values: BTreeMap<u64, Option<Vec<Expression<'a>>>>,
    /// The values that `table.insert` adds to a variable.
    inserted: BTreeMap<u64, Vec<Expression<'a>>>,
    /// The lists through which loops run, by the variable of the element.
    looped: BTreeMap<u64, Expression<'a>>,
    /// Variables to which something else may be added: by an index, or by a function.
    open: BTreeSet<u64>,
}

impl<'a> Lists<'a> {
    fn of(function: &Function<'a>) -> Lists<'a> {
        let mut lists = Lists {
            values: assigned_in(function),
            inserted: BTreeMap::new(),
            looped: BTreeMap::new(),
            open: BTreeSet::new(),
        };
        function.body.visit(&mut |node: AstNode<'a>| {
            match node {
                AstNode::Statement(statement) => match statement.view() {
                    StatementView::GenericFor(generic) => {
                        if let ([list], Some(element)) = (generic.values, generic.names.get(1)) {
                            lists.looped.insert(element.id, elements_of(*list));
                        }
                    }
                    StatementView::Assign(assign) => assign.vars.iter().for_each(|var| lists.fills(*var)),
                    StatementView::CompoundAssign(assign) => lists.fills(assign.var),
                    _ => {}
                },
                AstNode::Expression(expression) => {
                    if let ExpressionKind::Call { func, args, .. } = expression.kind() {
                        lists.call(func, args);
                    }
                }
            }
            true
        });
        lists
    }

    fn fills(&mut self, target: Expression<'a>) {
        if let ExpressionKind::IndexExpr { expr, .. } | ExpressionKind::IndexName { expr, .. } = target.kind() {
            self.open.extend(local_id(expr));
        }
    }

    fn call(&mut self, func: Expression<'a>, args: &'a [Expression<'a>]) {
        let (is_known, is_insert) = match func.kind() {
            ExpressionKind::Global(name) => (matches!(&*text(name), "ipairs" | "pairs" | "next" | "type"), false),
            ExpressionKind::IndexName { expr, index, .. } => match expr.kind() {
                ExpressionKind::Global(library) if library == "table" => {
                    (!matches!(&*text(index), "move" | "insert"), index == "insert")
                }
                _ => (is_vocabulary(expr), false),
            },
            _ => (false, false),
        };
        match (is_insert, args) {
            (true, [list, .., value]) if local_id(*list).is_some() => {
                self.inserted.entry(local_id(*list).unwrap_or_default()).or_default().push(*value);
            }
            _ if !is_known => self.open.extend(args.iter().filter_map(|arg| local_id(*arg))),
            _ => {}
        }
    }
}

/// The list in `ipairs(list)`, or the value itself.
fn elements_of(value: Expression<'_>) -> Expression<'_> {
    match value.kind() {
        ExpressionKind::Call { func, args: [list], .. } if matches!(func.kind(), ExpressionKind::Global(name) if name == "ipairs") => {
            *list
        }
        _ => value,
    }
}

struct ListReader<'a, 'f> {
    around: Surroundings<'f>,
    lists: Lists<'a>,
    /// The variables that were read.
    seen: BTreeSet<u64>,
    found: GivenEntities,
}

impl<'a> ListReader<'a, '_> {
    /// Adds the entities of a list. False if it may be something else.
    fn list(&mut self, value: Expression<'a>) -> bool {
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => self.list(inner),
            ExpressionKind::If { then_expression, else_expression, .. } => {
                self.list(then_expression) && self.list(else_expression)
            }
            ExpressionKind::Table { items } => items.iter().all(|item| match item {
                TableItem::List { value } => self.entity(*value),
                _ => false,
            }),
            ExpressionKind::Local { local, .. } => self.variable(local.id, ListReader::list),
            ExpressionKind::Call { func, args, self_call: false, .. } => self.call(func, args),
            _ => false,
        }
    }

    fn call(&mut self, func: Expression<'a>, args: &[Expression<'a>]) -> bool {
        if let Some(callee) = self.around.callee(func) {
            self.found.of.push(callee);
            return true;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return false };
        let is_table = matches!(expr.kind(), ExpressionKind::Global(library) if library == "table");
        match (&*text(index), args) {
            ("each", [kind, ..]) if is_vocabulary(expr) => {
                self.found.kinds.insert(literal(*kind));
                true
            }
            ("filter" | "shuffle", [list, ..]) if is_vocabulary(expr) => self.list(*list),
            ("clone", [list]) if is_table => self.list(*list),
            _ => false,
        }
    }

    /// Adds an entity. False if it may be something else.
    fn entity(&mut self, value: Expression<'a>) -> bool {
        match value.kind() {
            ExpressionKind::Local { local, .. } => match self.lists.looped.get(&local.id).copied() {
                Some(_) if self.seen.contains(&local.id) => true,
                Some(list) => {
                    self.seen.insert(local.id);
                    self.list(list)
                }
                None => self.variable(local.id, ListReader::entity),
            },
            ExpressionKind::Call { func, args: [kind, ..], self_call: false, .. } => match func.kind() {
                ExpressionKind::IndexName { expr, index, .. }
                    if is_vocabulary(expr) && matches!(&*text(index), "first" | "spawn") =>
                {
                    self.found.kinds.insert(literal(*kind));
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Adds what the values of a variable and the values that are inserted into it have.
    fn variable(&mut self, id: u64, read: fn(&mut Self, Expression<'a>) -> bool) -> bool {
        if !self.seen.insert(id) {
            return true;
        }
        if self.lists.open.contains(&id) {
            return false;
        }
        let Some(Some(values)) = self.lists.values.get(&id).cloned() else { return false };
        let inserted = self.lists.inserted.get(&id).cloned().unwrap_or_default();
        !values.is_empty()
            && values.into_iter().all(|value| read(self, value))
            && inserted.into_iter().all(|value| self.entity(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::evidence::FieldEvidence;
    use riskbreaker_script::syntax::{Arena, parse};

    fn kind(body: &str) -> Option<Option<String>> {
        let (arena, fields, modules) = (Arena::new(), FieldEvidence::default(), BTreeMap::new());
        let text = format!("local rb\nlocal function f(a, b)\n{body}\nend");
        let root = parse(&arena, &text).unwrap();
        let StatementView::LocalFunction(local) = root.as_slice()[1].view() else { panic!("{text}") };
        let around = Surroundings { fields: &fields, modules: &modules };
        GivenEntities::of(local.function.as_function().unwrap(), around)?.resolved(&|_| None)
    }

    #[test]
    fn a_list_of_entities_is_one_on_every_path() {
        let foes = Some(Some("foe".to_owned()));
        let gathered = "local list = {}\nfor _, one in ipairs(rb.each(\"foe\")) do\nif one.near == a then\ntable.insert(list, one)\nend\nend\n";
        assert_eq!(kind("return rb.each(\"foe\")"), foes);
        assert_eq!(kind("return rb.filter(rb.each(\"foe\"), b)"), foes);
        assert_eq!(kind(&format!("{gathered}return list")), foes);
        assert_eq!(kind(&format!("{gathered}table.insert(list, a)\nreturn list")), None);
        assert_eq!(kind(&format!("{gathered}b(list)\nreturn list")), None);
        assert_eq!(kind("if a then return {} end\nreturn b"), None);
        assert_eq!(kind("if a then return rb.each(\"friend\") end\nreturn rb.each(\"foe\")"), Some(None));
        assert_eq!(kind("return a.engages"), None);
    }
}
