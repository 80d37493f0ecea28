//! The words that functions can return: the texts among their values, if all of them are written down.

use std::collections::{BTreeMap, BTreeSet};

use crate::control_flow::falls_through;
use crate::inference::evidence::is_math;
use crate::inference::value_type::{ValueType, result_of};
use crate::symbols::surroundings::{Callee, Surroundings, is_vocabulary};
use crate::syntax::{literal, local_id, returned, text, value_of};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, BinaryOp, Expression, ExpressionKind, Function, StatementView, TableItem, UnaryOp,
};

/// The most words of one function that are kept. A function that returns more of them is not compared with.
const MOST_WORDS: usize = 40;

/// The texts that a function can return, besides values that are no texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GivenWords {
    pub words: BTreeSet<String>,
    /// Whether it can give something else than a text.
    pub is_other: bool,
    /// The functions whose results it returns, too.
    pub of: Vec<Callee>,
}

impl GivenWords {
    /// Returns the texts that a function can return as its first value; `None` if it may be a text that the function does
    /// not write down.
    pub fn of(function: &Function<'_>, around: Surroundings<'_>) -> Option<GivenWords> {
        let mut reader =
            WordReader { around, values: assigned_in(function), seen: BTreeSet::new(), found: GivenWords::default() };
        let all = returned(function.body).into_iter().filter_map(|values| values.first());
        let is_closed = all.into_iter().all(|value| reader.read(*value));
        reader.found.is_other |= falls_through(function.body);
        let GivenWords { words, of, is_other } = &reader.found;
        // A function of one word says what other rules may say otherwise.
        let is_choice = words.len() + usize::from(*is_other) > 1 || !of.is_empty();
        (is_closed && words.len() <= MOST_WORDS && is_choice).then_some(reader.found)
    }

    /// Returns all words, if those of the called functions are known. `known` answers for a function: its words, or none if
    /// its result is no text.
    pub fn resolved(&self, known: &dyn Fn(&Callee) -> Option<BTreeSet<String>>) -> Option<BTreeSet<String>> {
        let mut words = self.words.clone();
        for callee in &self.of {
            words.extend(known(callee)?);
        }
        (words.len() <= MOST_WORDS).then_some(words)
    }
}

/// The values that a function gives to its own local variables; `None` for a variable that gets others, too.
pub(super) fn assigned_in<'a>(function: &Function<'a>) -> BTreeMap<u64, Option<Vec<Expression<'a>>>> {
    let mut values: BTreeMap<u64, Option<Vec<Expression<'a>>>> = BTreeMap::new();
    function.body.visit(&mut |node: AstNode<'a>| {
        let AstNode::Statement(statement) = node else { return true };
        match statement.view() {
            StatementView::Local(local) => {
                for (at, binding) in local.bindings.iter().enumerate() {
                    // Behind the last value, a call may give further ones.
                    let is_open = local.values.len() <= at && !local.values.is_empty();
                    let given = local.values.get(at).copied().into_iter().collect();
                    values.insert(binding.id, (!is_open).then_some(given));
                }
            }
            StatementView::Assign(assign) => {
                for (at, id) in assign.vars.iter().enumerate().filter_map(|(at, var)| Some((at, local_id(*var)?))) {
                    let known = values.entry(id).or_insert(None);
                    match (assign.values.get(at), known.as_mut()) {
                        (Some(value), Some(known)) => known.push(*value),
                        _ => *known = None,
                    }
                }
            }
            StatementView::CompoundAssign(assign) => {
                values.extend(local_id(assign.var).map(|id| (id, None)));
            }
            _ => {}
        }
        true
    });
    values
}

/// Whether a called function is `rb.choose`.
fn is_choice(func: Expression<'_>) -> bool {
    matches!(func.kind(), ExpressionKind::IndexName { expr, index, .. } if index == "choose" && is_vocabulary(expr))
}

/// Returns the ids that a choice with these fields can yield; `None` unless all its options are written down and yield their
/// ids.
pub(crate) fn ids_of_options(question: Expression<'_>) -> Option<Vec<String>> {
    let ExpressionKind::Table { items } = question.kind() else { return None };
    if value_of(items, "other").is_some() || value_of(items, "more").is_some() {
        return None;
    }
    let ExpressionKind::Table { items } = value_of(items, "options")?.kind() else { return None };
    let ids = items.iter().map(|item| match item {
        TableItem::List { value: option } => match option.kind() {
            ExpressionKind::Table { items } if value_of(items, "value").is_none() => literal(value_of(items, "id")?),
            _ => literal(*option),
        },
        _ => None,
    });
    ids.collect()
}

struct WordReader<'a, 'f> {
    around: Surroundings<'f>,
    values: BTreeMap<u64, Option<Vec<Expression<'a>>>>,
    /// The variables that were read.
    seen: BTreeSet<u64>,
    found: GivenWords,
}

impl<'a> WordReader<'a, '_> {
    /// Adds the texts that a value can be. False if it may be another text.
    fn read(&mut self, value: Expression<'a>) -> bool {
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => self.read(inner),
            ExpressionKind::String { .. } => {
                self.found.words.extend(literal(value));
                true
            }
            ExpressionKind::Nil
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Number { .. }
            | ExpressionKind::Integer { .. }
            | ExpressionKind::Table { .. }
            | ExpressionKind::FunctionLiteral(_) => {
                self.found.is_other = true;
                true
            }
            ExpressionKind::Unary { op, .. } => matches!(op, UnaryOp::Not | UnaryOp::Negate | UnaryOp::Length),
            ExpressionKind::Binary { op: BinaryOp::Concat, .. } => false,
            // The left side is given if it is nil or false.
            ExpressionKind::Binary { op: BinaryOp::And, rhs, .. } => self.read(rhs),
            ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs } => self.read(lhs) && self.read(rhs),
            ExpressionKind::Binary { .. } => true,
            ExpressionKind::If { then_expression, else_expression, .. } => {
                self.read(then_expression) && self.read(else_expression)
            }
            ExpressionKind::Local { local, .. } => {
                if !self.seen.insert(local.id) {
                    return true;
                }
                let Some(Some(values)) = self.values.get(&local.id).cloned() else { return false };
                values.into_iter().all(|value| self.read(value))
            }
            ExpressionKind::Call { func, args: [question], self_call: false, .. } if is_choice(func) => {
                let ids = ids_of_options(*question);
                let is_closed = ids.is_some();
                self.found.words.extend(ids.into_iter().flatten());
                is_closed
            }
            ExpressionKind::Call { func, self_call: false, .. } => self.call(func),
            _ => false,
        }
    }

    fn call(&mut self, func: Expression<'a>) -> bool {
        if let Some(callee) = self.around.callee(func) {
            if !self.found.of.contains(&callee) {
                self.found.of.push(callee);
            }
            return true;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return false };
        let is_no_text = |ty: Option<ValueType>| ty.is_some_and(|ty| ty != ValueType::Text);
        is_math(expr) || is_vocabulary(expr) && is_no_text(api::word(&text(index)).and_then(|word| result_of(word.ty)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::evidence::FieldEvidence;
    use riskbreaker_script::syntax::{Arena, parse};

    fn words(body: &str) -> Option<Vec<String>> {
        let (fields, modules) = (FieldEvidence::default(), BTreeMap::new());
        let around = Surroundings { fields: &fields, modules: &modules };
        let source = format!("return function(a) {body} end");
        let arena = Arena::new();
        let root = parse(&arena, &source).unwrap();
        let StatementView::Return(returned) = root.as_slice()[0].view() else { panic!() };
        let ExpressionKind::FunctionLiteral(function) = returned.expressions[0].kind() else { panic!() };
        GivenWords::of(function, around).map(|given| given.words.into_iter().collect())
    }

    #[test]
    fn the_words_of_a_function_are_those_of_all_its_returns() {
        assert_eq!(words("if a then return 'hit' end return 'miss'").unwrap(), ["hit", "miss"]);
        assert_eq!(
            words("local x = 'hit' if a then x = a > 1 and 'miss' or nil end return x").unwrap(),
            ["hit", "miss"]
        );
        assert_eq!(words("return if a then 'hit' else false").unwrap(), ["hit"]);
        let choice =
            |rest: &str| format!("local rb return rb.choose({{ options = {{ 'hit', {{ id = 'miss' }}{rest} }})");
        assert_eq!(words(&choice(" }")).unwrap(), ["hit", "miss"]);
        assert_eq!((words(&choice(", a }")), words(&choice(" }, other = true"))), (None, None));
        for open in ["return a", "return 'x' .. a", "local x = a.b return x", "return 1", "local x, y = f() return y"] {
            assert_eq!(words(open), None, "{open}");
        }
    }
}
