//! A call passes its values in another order than the function takes them.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_dice::Dice;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "argument-order",
    severity: Severity::Error,
    summary: "a call passes its values in another order than the function takes them",
    explanation: "Two values have changed places: each has the name or the type of what the function takes in the \
                  place of the other. Exchange them.",
    bad: Example::Resolve(r#"ctx.actor:set(3, "strength")"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", 3)"#),
};

impl ScriptReader<'_> {
    /// Reports `table.find(value, list)`.
    pub(crate) fn finds_list(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.find"
            && let [list, value, ..] = args
            && self.value_type(*value) == Some(ValueType::List)
            && self.value_type(*list) != Some(ValueType::List)
        {
            let wrong = "a list stands in the place of the value to look for".to_string();
            let change = self.exchanged_with(*list, *value);
            self.cured(&LINT, list.location(), (wrong, "it is written table.find(list, value)".into()), change);
        }
    }

    /// Reports `:set(value, "field")`, with the arguments in the wrong order. Returns whether it did.
    pub(crate) fn field_comes_first(&mut self, name: &str, args: &[Expression<'_>]) -> bool {
        let [first, second, ..] = args else { return false };
        let Some(field) = literal(*second).filter(|field| self.known.types_of(field).next().is_some()) else {
            return false;
        };
        // A variable with such a name may hold the name of a field.
        let words = ["field", "name", "key", "stat", "what", "which"];
        let called_so =
            crate::syntax::name_of(*first).is_some_and(|called| !words.iter().any(|word| called.contains(word)));
        let no_text = self.value_type(*first).is_some_and(|sort| sort != ValueType::Text);
        let wrong = literal(*first).is_none() && (called_so || no_text);
        if wrong {
            let cure = format!("write :{name}(\"{field}\", value)");
            let change = self.exchanged_with(*first, *second);
            self.cured(&LINT, first.location(), ("the name of the field comes first".into(), cure), change);
        }
        wrong
    }

    /// Reports `:set("field", reason, value)`: the reason is one of the values of the field, and the value is not.
    pub(crate) fn reason_comes_last(&mut self, name: &str, thing: &Option<Symbol>, args: &[Expression<'_>]) -> bool {
        let [field, value, reason] = args else { return false };
        let Some(word) = literal(*reason).filter(|_| name == "set" && literal(*value).is_none()) else { return false };
        let field = literal(*field).unwrap_or_default();
        let types = self.types_at(thing, &field);
        let takes = |ty: &&Type| matches!(ty, Type::Enum(values) if values.iter().any(|value| **value == *word));
        if types.is_empty() || !types.iter().all(takes) {
            return false;
        }
        let wrong = format!("\"{word}\" is a value of `{field}`, and stands in the place of the reason");
        let cure = format!("write :set(\"{field}\", \"{word}\", {})", self.source(*value));
        let change = self.exchanged_with(*value, *reason);
        self.cured(&LINT, value.location(), (wrong, cure), change);
        true
    }

    /// Reports a roll against a number whose dice come second.
    pub(crate) fn dice_come_first(
        &mut self,
        (name, label): (&str, usize),
        args: &[Expression<'_>],
        first: Option<&(String, Location)>,
        call: Location,
    ) {
        if label == 2
            && first.is_none()
            && let Some(dice) = args.get(1).and_then(|arg| literal(*arg))
            && let (true, Some(word)) = (Dice::parse(&dice).is_ok(), api::word(name))
        {
            let mistake = (format!("the dice \"{dice}\" come first"), format!("it is written {}", word.usage));
            let change = self.exchanged_with(args[0], args[1]);
            self.cured(&LINT, call, mistake, change);
        }
    }
}
