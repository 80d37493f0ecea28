//! Reads method calls of entities, and comparisons of fields with constants.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::{ValueType, list_of};
use crate::lints;
use crate::reader::ScriptReader;
use crate::syntax::{constant, literal, named, text};
use riskbreaker_ruleset::{SwitchKind, instead};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};
use riskbreaker_state::{Kind, State, Type, Value};

impl ScriptReader<'_> {
    /// Reports a comparison of a house rule or a field with a value that it never has.
    pub(crate) fn compared(&mut self, one: Expression<'_>, value: Expression<'_>) {
        let Some(constant) = constant(value).filter(|constant| *constant != Value::None) else { return };
        if let Some(Symbol::Switch(name)) = self.symbol(one) {
            return self.compared_switch(&name, &constant, value.location());
        }
        let Value::Text(given) = &constant else { return };
        let chosen = match one.kind() {
            ExpressionKind::Local { local, .. } => self.choices.get(&local.id).cloned(),
            _ => self.chosen_ids(one),
        };
        if let Some(ids) = chosen.filter(|ids| !ids.iter().any(|id| **id == **given)) {
            let wrong = format!("the answer is never \"{given}\": it is the id of an option");
            return self.problem(
                &lints::unknown_option::LINT,
                value.location(),
                (wrong, self.known.instead(given, &ids)),
            );
        }
        let ExpressionKind::IndexName { expr, index, .. } = one.kind() else { return self.slip(value) };
        if index == "topic" && !self.is_spec() {
            let topics: Vec<String> = self.known.names.topics().iter().cloned().collect();
            if !topics.iter().any(|topic| **topic == **given)
                && self.known.nearest(given, topics.iter().map(String::as_str)).is_some()
            {
                let wrong = format!("no question has the topic \"{given}\"");
                self.problem(
                    &lints::unknown_topic::LINT,
                    value.location(),
                    (wrong, self.known.instead(given, &topics)),
                );
            }
            return;
        }
        let (name, thing) = (text(index), self.symbol(expr));
        if name == "kind" && !self.is_spec() {
            let asks = api::QUESTIONS.iter().map(|(ask, _)| ask.to_string());
            let kinds: Vec<String> = asks.chain(self.known.names("kind").unwrap_or_default()).collect();
            let near = self.known.nearest(given, kinds.iter().map(String::as_str)).is_some();
            if near && !kinds.iter().any(|kind| **kind == **given) && self.known.names.times(given) <= 1 {
                let wrong = format!("there is no kind \"{given}\", neither of a question nor of an entity");
                return self.problem(
                    &lints::unknown_name::LINT,
                    value.location(),
                    (wrong, self.known.instead(given, &kinds)),
                );
            }
        }
        if thing == Some(Symbol::Holder) {
            let wrong = self.known.wrong_name("hook", given).filter(|_| name == "hook");
            return self.tell(&lints::unknown_name::LINT, value.location(), wrong);
        }
        if let Some(values) = thing.as_ref().and_then(|thing| self.words_of_param(thing, &name)) {
            if !values.iter().any(|value| **value == **given) {
                let wrong = format!("`{name}` is never \"{given}\"");
                let cure = instead(given, values.iter().map(String::as_str));
                self.problem(&lints::impossible_value::LINT, value.location(), (wrong, cure));
            }
            return;
        }
        let kind = match &thing {
            Some(Symbol::Entity(Some(kind))) => self.known.kind(kind),
            Some(Symbol::Entity(None)) | None => None,
            _ => return,
        };
        let types: Vec<&Type> = match kind {
            Some(kind) => kind.field_named(&name).map(|field| &kind.field(field).ty).into_iter().collect(),
            None => self.known.types_of(&name).collect(),
        };
        if types.is_empty() {
            return self.slip(value);
        }
        let mut values: Vec<String> = Vec::new();
        for ty in &types {
            let Type::Enum(texts) = ty else { return };
            values.extend(texts.iter().map(ToString::to_string));
        }
        let certain = kind.is_some() || self.known.nearest(given, values.iter().map(String::as_str)).is_some();
        if !types.is_empty() && certain && !values.iter().any(|value| **value == **given) {
            self.problem(
                &lints::impossible_value::LINT,
                value.location(),
                (format!("`{name}` is never \"{given}\""), self.known.instead(given, &values)),
            );
        }
    }

    /// Reports a comparison of a house rule with a value that it never has.
    fn compared_switch(&mut self, name: &str, constant: &Value, at: Location) {
        let Some(switch) = self.known.stack.switch(name) else { return };
        let cure = match (&switch.kind, constant) {
            (SwitchKind::Toggle, Value::Bool(_)) | (SwitchKind::Range { .. }, Value::Int(_)) => return,
            (SwitchKind::Choice { values }, Value::Text(text)) if values.iter().any(|value| **value == **text) => {
                return;
            }
            (SwitchKind::Choice { values }, Value::Text(text)) => self.known.instead(text, values),
            _ => format!("it is {}", switch.kind),
        };
        let wrong = format!("the switch `{name}` is never {}", shown(constant));
        self.problem(&lints::impossible_value::LINT, at, (wrong, cure));
    }

    /// Checks fields that are given by name, with their values.
    pub(crate) fn fields_of(&mut self, kind: &Kind, table: Expression<'_>) {
        for (name, at, value) in named(table) {
            self.field(kind, &name, at, Some(value));
        }
    }

    pub(crate) fn field(&mut self, kind: &Kind, name: &str, at: Location, value: Option<Expression<'_>>) {
        let Some(field) = kind.field_named(name) else {
            let names: Vec<String> = kind.fields.iter().map(|field| field.name.to_string()).collect();
            return self.problem(
                &lints::unknown_field::LINT,
                at,
                (format!("a {} has no field `{name}`", kind.name), self.known.instead(name, &names)),
            );
        };
        let declared = kind.field(field);
        let (Some(value), Some(schema)) = (value, self.known.schema()) else { return };
        if matches!(declared.ty, Type::Ref(_)) && self.takes_an_entity(name, value) {
            return;
        }
        if let Type::List(element) = &declared.ty {
            return self.elements_fit(name, element, value);
        }
        let Some(given) = constant(value) else { return };
        if given == Value::None {
            return;
        }
        if matches!(declared.ty, Type::Ratio | Type::Map(_)) {
            return;
        }
        if let Err(wrong) = declared.ty.check(&given, schema, &State::new()) {
            let (cure, meant) = lints::field_type::value_instead(&[&declared.ty], &given);
            let change = meant.map(|meant| self.replaced(value.location(), meant));
            let mistake = (format!("the field `{name}` {wrong}"), cure);
            self.problem_with(&lints::field_type::LINT, value.location(), mistake, change);
        }
    }

    /// Checks a method call, `of:name(args)`.
    pub(crate) fn method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>], at: Location) {
        let thing = self.symbol(of);
        if thing == Some(Symbol::Spec) && api::spec_method(name).is_none() {
            let names: Vec<String> = api::SPEC_METHODS.iter().map(|method| method.name.to_string()).collect();
            self.problem(
                &lints::unknown_word::LINT,
                at,
                (format!("a spec has no `t:{name}`"), self.known.instead(name, &names)),
            );
        }
        if thing == Some(Symbol::Spec) {
            self.spec_call(name, args);
        }
        let takes_a_field = matches!(name, "set" | "add" | "shift" | "reaches");
        if !takes_a_field || thing == Some(Symbol::Spec) || self.is_spec() {
            return;
        }
        self.set_while_reading(name, at);
        if self.field_comes_first(name, args) || self.reason_comes_last(name, &thing, args) {
            return;
        }
        let Some((field, place)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        if args.len() == 1 && self.known.types_of(&field).next().is_some() {
            let (missing, cure) = match name {
                "set" => ("the new value", format!("write :set(\"{field}\", value)")),
                "reaches" => ("the number to reach", format!("write :reaches(\"{field}\", n)")),
                _ => ("the number to add", format!("write :{name}(\"{field}\", n)")),
            };
            self.problem(&lints::argument_count::LINT, at, (format!("{missing} of `{field}` is missing"), cure));
            return;
        }
        if name == "set" && self.of_another_sort(&thing, &field, args) {
            return;
        }
        let types = if name == "set" { Vec::new() } else { self.types_at(&thing, &field) };
        let adds = matches!(name, "add" | "shift");
        if let Some(by) = args.get(1).filter(|by| adds && is_fraction(**by) && !types.contains(&&Type::Ratio)) {
            let wrong = format!(":{name} takes a whole number, and this is a fraction");
            return self.problem(
                &lints::argument_type::LINT,
                by.location(),
                (wrong, "write `//` to divide without a rest, or count in a smaller unit".into()),
            );
        }
        if let Some(first) = types.first()
            && !types.iter().any(|ty| matches!(ty, Type::Int { .. } | Type::Ratio))
        {
            let wrong = format!(":{name} takes a number field, and `{field}` is {}", list_of(first));
            let cure = if adds { format!("write :set(\"{field}\", value)") } else { "compare the field itself".into() };
            return self.problem(&lints::argument_type::LINT, place, (wrong, cure));
        }
        if let (None, Some(by)) = (&thing, args.get(1).filter(|_| name != "set"))
            && let Some(sort) = self.value_type(*by).filter(|sort| *sort != ValueType::Number)
        {
            let wrong = format!("expected a number, found {}", sort.words());
            let why = if adds { ", why?" } else { "" };
            let is_number = literal(*by).is_some_and(|text| text.trim().parse::<i64>().is_ok());
            let cure = match is_number {
                true => "write the number without quotes".to_owned(),
                false => format!("it is written :{name}(\"field\", n{why})"),
            };
            return self.problem(&lints::argument_type::LINT, by.location(), (wrong, cure));
        }
        match thing {
            Some(Symbol::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    let value = args.get(1).copied().filter(|_| name == "set");
                    self.field(kind, &field, place, value);
                }
            }
            _ => {
                let wrong = self.known.wrong_name("field", &field);
                self.tell(
                    &lints::unknown_field::LINT,
                    place,
                    wrong.map(|(_, cure)| (format!("no kind has a field `{field}`"), cure)),
                );
                self.fits_no_kind(&field, args.get(1).copied().filter(|_| name == "set"));
            }
        }
    }
}

/// Whether an expression is a number literal, or a division of two, that is not a whole number.
fn is_fraction(expression: Expression<'_>) -> bool {
    match expression.kind() {
        ExpressionKind::Grouped(inner) => is_fraction(inner),
        ExpressionKind::Number { value, .. } => value.fract() != 0.0,
        ExpressionKind::Binary { lhs, op: BinaryOp::Divide, rhs } => match (lhs.kind(), rhs.kind()) {
            (ExpressionKind::Number { value: above, .. }, ExpressionKind::Number { value: below, .. }) => {
                (above / below).fract() != 0.0
            }
            _ => false,
        },
        _ => false,
    }
}

/// Formats a value for a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}
