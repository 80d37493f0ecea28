//! The answers of choices, and the words that calls give.

use std::collections::BTreeSet;

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::symbols::given_words::ids_of_options;
use crate::syntax::{literal, text};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind};

/// What a call gives where all texts that it can give are written down.
#[derive(Clone, Debug)]
pub(crate) struct WordsOfCall {
    /// The function, as the script names it.
    pub name: String,
    pub words: Vec<String>,
}

impl Inference<'_> {
    /// The words of two alternatives, as in `a or b`. One of them is a call, the other one a call or a constant.
    fn words_of_either(&self, one: Expression<'_>, other: Expression<'_>) -> Option<WordsOfCall> {
        let (call, rest) = match self.words_of_call(one) {
            Some(call) => (call, other),
            None => (self.words_of_call(other)?, one),
        };
        let mut words = call.words;
        match rest.kind() {
            ExpressionKind::Nil | ExpressionKind::Boolean(_) | ExpressionKind::Number { .. } => {}
            ExpressionKind::String { .. } => words.extend(literal(rest)),
            _ => words.extend(self.words_of_call(rest)?.words),
        }
        Some(WordsOfCall { name: call.name, words })
    }

    /// Returns the texts that the function gives which a value comes from: a called function, a verb, a derived value, or
    /// the verb of an event with its `result`. `None` if it may be another text, or never is one.
    pub(crate) fn words_of_call(&self, value: Expression<'_>) -> Option<WordsOfCall> {
        let names = &self.known.names;
        let of = |name: String, words: &BTreeSet<String>| WordsOfCall { name, words: words.iter().cloned().collect() };
        match value.kind() {
            ExpressionKind::Grouped(inner) => self.words_of_call(inner),
            ExpressionKind::If { then_expression, else_expression, .. } => {
                self.words_of_either(then_expression, else_expression)
            }
            ExpressionKind::Binary { lhs, op: BinaryOp::Or, rhs } => self.words_of_either(lhs, rhs),
            ExpressionKind::Binary { op: BinaryOp::And, rhs, .. } => self.words_of_call(rhs),
            ExpressionKind::Local { local, .. } => self.words_of_results.get(&local.id).cloned(),
            ExpressionKind::IndexName { expr, index, .. } if index == "result" => {
                let Some(Symbol::Event { verb, .. }) = self.symbol(expr) else { return None };
                Some(of(format!("rb.act.{verb}"), names.words_of_verb(&verb)?))
            }
            ExpressionKind::Call { func, self_call: true, .. } => {
                let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
                let name = text(index);
                let words = names.words_of_derived(&name).filter(|_| self.known.is_derived(&name))?;
                Some(of(name, words))
            }
            ExpressionKind::Call { func, .. } => {
                let called = self.called(func, false)?;
                let words = match called.verb {
                    true => names.words_of_verb(called.name.strip_prefix("rb.act.")?)?,
                    false => called.signature.words.as_ref().filter(|words| !words.is_empty())?,
                };
                Some(of(called.name.clone(), words))
            }
            _ => None,
        }
    }

    /// Returns the ids that a choice can yield; `None` unless all its options are literals and yield their ids.
    pub(crate) fn chosen_ids(&self, choice: Expression<'_>) -> Option<Vec<String>> {
        let ExpressionKind::Call { func, args, .. } = choice.kind() else { return None };
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let [table] = args else { return None };
        if index != "choose" || self.symbol(expr) != Some(Symbol::Vocabulary) {
            return None;
        }
        ids_of_options(*table)
    }
}
