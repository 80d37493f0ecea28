//! A key of a question has a value of a wrong type.

use std::sync::Arc;

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::{ParamType, instead};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, TableItem};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "question-type",
    severity: Severity::Error,
    summary: "a key of a question has a value of a wrong type",
    explanation: "`min`, `max` and `total` are numbers, `seat` and `topic` texts, `auto`, `sealed` and the like \
                  true or false, and the default is what the question returns. A function for the options is \
                  called with the question.",
    bad: Example::Resolve(
        r#"local yes = rb.confirm({ seat = ctx.actor.seat, topic = "far", default = "no" })
rb.say("{}", yes)"#,
    ),
    good: Example::Resolve(
        r#"local yes = rb.confirm({ seat = ctx.actor.seat, topic = "far", default = false })
rb.say("{}", yes)"#,
    ),
};

/// The words of the vocabulary that ask for an answer of a type; empty for any of them.
fn words_of(ty: &ParamType) -> Vec<&'static str> {
    match ty {
        ParamType::Any | ParamType::Record(_) => Vec::new(),
        ParamType::Value(Type::Int { .. }) => vec!["number", "choose"],
        ParamType::Value(Type::Bool) => vec!["confirm", "choose"],
        ParamType::Value(Type::List(_)) => vec!["choose_many", "order", "allot", "choose"],
        ParamType::Value(Type::Map(_)) => vec!["allot", "choose"],
        ParamType::Value(Type::Text | Type::Enum(_)) => vec!["choose", "line"],
        ParamType::Value(Type::Ref(_) | Type::Ratio) => vec!["choose"],
        ParamType::OneOf(types) => {
            let each: Vec<Vec<&str>> = types.iter().map(words_of).collect();
            if each.iter().any(Vec::is_empty) { Vec::new() } else { each.concat() }
        }
    }
}

/// The texts that are the only answers of a type; `None` if it has others.
fn texts_of(ty: &ParamType) -> Option<Vec<Arc<str>>> {
    match ty {
        ParamType::Value(Type::Enum(values)) => Some(values.clone()),
        ParamType::OneOf(types) => Some(types.iter().map(texts_of).collect::<Option<Vec<_>>>()?.concat()),
        ParamType::Any | ParamType::Value(_) | ParamType::Record(_) => None,
    }
}

impl ScriptReader<'_> {
    /// Returns the topic of `q.topic == "stake"` in a policy.
    pub(crate) fn topic_compared(&self, condition: Expression<'_>) -> Option<String> {
        let ExpressionKind::Binary { lhs, op: BinaryOp::Equal, rhs } = condition.kind() else { return None };
        let ExpressionKind::IndexName { expr, index, .. } = lhs.kind() else { return None };
        let asks = index == "topic" && self.symbol(expr) == Some(Symbol::Question);
        literal(rhs).filter(|_| asks)
    }

    /// Reports a question whose word does not give what `topics` of play.luau declares for its topic.
    pub(crate) fn fits_its_topic(&mut self, ask: &str, table: Expression<'_>, topic: Expression<'_>) {
        let Some(param) = self.topic_of(table) else { return };
        let words = words_of(&param.ty);
        if words.is_empty() || words.contains(&ask) {
            return;
        }
        let wrong = format!("rb.{ask} asks `{}`, and play.luau declares its answer as {}", param.name, param.ty);
        let cure =
            format!("ask it by {}", words.iter().map(|word| format!("rb.{word}")).collect::<Vec<_>>().join(" or "));
        self.problem(&LINT, topic.location(), (wrong, cure.into()));
    }

    /// Reports an answer of a policy that is none of the words of its topic. Returns whether it did.
    fn is_no_word_of_topic(&mut self, topic: &str, answer: Expression<'_>) -> bool {
        let Some(param) = self.known.rules.and_then(|rules| rules.declared_topic(topic)) else { return false };
        let Some(values) = texts_of(&param.ty) else { return false };
        let Some(word) = literal(answer).filter(|word| values.iter().all(|value| **value != **word)) else {
            return false;
        };
        let cure = instead(&word, values.iter().map(|value| &**value));
        self.problem(&LINT, answer.location(), (format!("the answer to `{topic}` is never \"{word}\""), cure));
        true
    }

    /// Reports an answer of a policy that the question of the topic never takes.
    pub(crate) fn answers_its_question(&mut self, answer: Expression<'_>) {
        let Some(topic) = self.answered.last().cloned() else { return };
        if self.is_no_word_of_topic(&topic, answer) {
            return;
        }
        let Some(ask) = self.known.names.asked_by(&topic).map(str::to_owned) else { return };
        let Some(given) = self.value_type(answer) else { return };
        let (wanted, fits) = match &*ask {
            "number" => (ValueType::Number, matches!(given, ValueType::Number | ValueType::Sum)),
            "confirm" => (ValueType::Truth, given == ValueType::Truth),
            "line" => (ValueType::Text, given == ValueType::Text),
            "choose_many" | "order" | "allot" => (ValueType::List, given.is_table()),
            _ => return,
        };
        if fits {
            return;
        }
        let wrong =
            format!("`{topic}` is asked by rb.{ask}, whose answer is {}; this is {}", wanted.words(), given.words());
        let (cure, meant) = match (wanted, literal(answer).as_deref()) {
            (ValueType::Number, Some("min" | "max")) => {
                let bound = literal(answer).unwrap_or_default();
                (format!("write `q.{bound}`"), Some(format!("q.{bound}")))
            }
            (ValueType::Number, Some(text)) if text.trim().parse::<i64>().is_ok() => {
                ("write the number without quotes".to_owned(), Some(text.trim().to_owned()))
            }
            (ValueType::Truth, Some("yes" | "true")) => ("write true".to_owned(), Some("true".to_owned())),
            (ValueType::Truth, Some("no" | "false")) => ("write false".to_owned(), Some("false".to_owned())),
            (ValueType::List, _) if given == ValueType::Text => {
                ("put it in braces".to_owned(), Some(format!("{{ {} }}", self.source(answer))))
            }
            _ => (format!("return {}", wanted.words()), None),
        };
        let change = meant.map(|meant| self.replaced(answer.location(), meant));
        self.problem_with(&LINT, answer.location(), (wrong, cure.into()), change);
    }

    /// Reports values of a question's fields that have the wrong type.
    pub(crate) fn fields_fit(&mut self, ask: &str, items: &[TableItem<'_>]) {
        for item in items {
            let TableItem::Record { key, value } = item else { continue };
            let (wanted, too): (ValueType, &[ValueType]) = match literal(*key).as_deref() {
                Some("min" | "max" | "total" | "least") => (ValueType::Number, &[]),
                Some("seat" | "topic") => (ValueType::Text, &[]),
                // A list of seats, or an entity: those who see it.
                Some("audience") => (ValueType::Text, &[ValueType::List, ValueType::Entity, ValueType::Table]),
                Some("options") => {
                    self.offers_nothing(*value);
                    if let Some(signature) = self.called(*value, false).map(|called| called.signature)
                        && let (Some(param), Some(Some(used))) = (signature.params.first(), signature.uses.first())
                        && !matches!(used, ValueType::Table | ValueType::Record)
                    {
                        let wrong =
                            format!("this function is handed the question, and its `{param}` is {}", used.words());
                        let cure = "call it: put brackets with its values behind it".to_string();
                        self.problem(&LINT, value.location(), (wrong, cure.into()));
                    }
                    (ValueType::List, &[ValueType::Table, ValueType::Record, ValueType::Function])
                }
                Some("auto" | "sealed" | "propose" | "peek" | "other") => (ValueType::Truth, &[]),
                Some("default") => match ask {
                    "confirm" => (ValueType::Truth, &[]),
                    "number" => (ValueType::Number, &[]),
                    "line" => (ValueType::Text, &[]),
                    "choose_many" | "order" => (ValueType::List, &[ValueType::Table]),
                    "choose" => {
                        let cure = match self.value_type(*value) {
                            Some(ValueType::List) => "name one of them, such as list[1]",
                            Some(ValueType::Function) => "write the id of one of them, or call the function",
                            _ => continue,
                        };
                        let found = self.value_type(*value).map_or("", ValueType::words);
                        let wrong = format!("the default is one of the options, and this is {found}");
                        let is_list = self.value_type(*value) == Some(ValueType::List);
                        let named =
                            matches!(value.kind(), ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. });
                        let change = (is_list && named).then(|| self.inserted(value.location().end, "[1]"));
                        self.problem_with(&LINT, value.location(), (wrong, cure.into()), change);
                        continue;
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if let Some(sort) = self.value_type(*value).filter(|sort| *sort != wanted && !too.contains(sort)) {
                let wrong = format!("expected {}, found {}", wanted.words(), sort.words());
                let (cure, meant) = match (literal(*value).as_deref(), wanted) {
                    (Some("yes" | "true"), ValueType::Truth) => ("write true", Some("true".to_owned())),
                    (Some("no" | "false"), ValueType::Truth) => ("write false", Some("false".to_owned())),
                    (Some(digits), ValueType::Number) if digits.trim().parse::<f64>().is_ok() => {
                        ("write the number without quotes", Some(digits.to_owned()))
                    }
                    _ => ("look at the question's other values, or at docs/reference.md", None),
                };
                let change = meant.map(|meant| self.replaced(value.location(), meant.trim()));
                self.problem_with(&LINT, value.location(), (wrong, cure.into()), change);
            }
        }
    }
}
