//! The words that a value can be, by what declares it: a switch, a field, a parameter, the topic of a question.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::type_of_param;
use crate::syntax::text;
use riskbreaker_ruleset::{ParamType, SwitchKind};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function};
use riskbreaker_state::Type;

/// The words that a value can be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredWords {
    /// What declares them, as messages call it: "the switch `rust`".
    pub of: String,
    pub words: Vec<String>,
}

impl Inference<'_> {
    /// Returns the words that a value can be, and nothing but them; `None` if it may be something else.
    pub(crate) fn words_of_value(&self, value: Expression<'_>) -> Option<DeclaredWords> {
        match value.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.words_of_value(inner)
            }
            ExpressionKind::Local { local, .. } => self.declared_words.get(&local.id).cloned(),
            ExpressionKind::IndexName { expr, index, .. } => self.words_of_member(expr, text(index)),
            ExpressionKind::Call { .. } => {
                let words = self.words_of_answer(value)?;
                Some(DeclaredWords { of: "the answer".into(), words })
            }
            _ => None,
        }
    }

    fn words_of_member(&self, of: Expression<'_>, name: String) -> Option<DeclaredWords> {
        let symbol = self.symbol(of);
        if let Some(Symbol::Word("switches")) = symbol {
            let SwitchKind::Choice { values } = &self.known.stack.switch(&name)?.kind else { return None };
            return Some(DeclaredWords { of: format!("the switch `{name}`"), words: values.clone() });
        }
        if let Some(words) = symbol.as_ref().and_then(|symbol| self.words_of_param(symbol, &name)) {
            return Some(DeclaredWords { of: format!("`{name}`"), words });
        }
        let is_entity = matches!(symbol, Some(Symbol::Entity(_))) || symbol.is_none() && self.is_entity_by_name(of);
        let types = self.types_at(&symbol.filter(|_| is_entity), &name);
        let Some((Type::Enum(first), others)) = types.split_first().filter(|_| is_entity) else { return None };
        let is_same = others.iter().all(|other| matches!(other, Type::Enum(words) if words == first));
        let words = first.iter().map(ToString::to_string).collect();
        is_same.then(|| DeclaredWords { of: format!("the field `{name}`"), words })
    }

    /// Notes what the parameters of the function of a verb are, where the verb declares them as texts, words, or true or false.
    /// A number may be a sum.
    pub(crate) fn parameters_of_verb(&mut self, verb: &str, function: &Function<'_>) {
        let Some(declared) = self.known.rules.and_then(|rules| rules.verb(verb)).filter(|verb| verb.is_typed) else {
            return;
        };
        if declared.params.len() != function.args.len() || self.known.names.is_declared_again(verb) {
            return;
        }
        for (param, arg) in declared.params.iter().zip(function.args) {
            if self.locals.reassigned.contains(&arg.id) || *param.name != *text(arg.name).trim_start_matches('_') {
                continue;
            }
            if let ParamType::Value(Type::Enum(words)) = &param.ty {
                let words = words.iter().map(ToString::to_string).collect();
                self.declared_words.insert(arg.id, DeclaredWords { of: format!("`{}`", param.name), words });
            }
            if let Some(ty) = type_of_param(&param.ty)
                && matches!(param.ty, ParamType::Value(Type::Text | Type::Enum(_) | Type::Bool))
            {
                self.value_types.insert(arg.id, ty);
            }
        }
    }
}
