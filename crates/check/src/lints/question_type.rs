//! A key of a question has a value of a wrong type.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_script::syntax::TableItem;

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

impl ScriptReader<'_> {
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
                        self.problem(&LINT, value.location(), (wrong, cure));
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
                        self.problem(&LINT, value.location(), (wrong, cure.into()));
                        continue;
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if let Some(sort) = self.value_type(*value).filter(|sort| *sort != wanted && !too.contains(sort)) {
                let wrong = format!("expected {}, found {}", wanted.words(), sort.words());
                let cure = match (literal(*value).as_deref(), wanted) {
                    (Some("yes" | "true"), ValueType::Truth) => "write true".to_string(),
                    (Some("no" | "false"), ValueType::Truth) => "write false".to_string(),
                    _ => "look at the question's other values, or at docs/reference.md".to_string(),
                };
                self.problem(&LINT, value.location(), (wrong, cure));
            }
        }
    }
}
