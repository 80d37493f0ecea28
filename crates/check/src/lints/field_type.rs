//! A field is set to a value that it does not take.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::{ValueType, list_of};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{constant, listed};
use riskbreaker_ruleset::{Cure, TextChange, instead, number_meant};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::{Schema, State, Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "field-type",
    severity: Severity::Error,
    summary: "a field is set to a value that it does not take",
    explanation: "A field takes the values that its declaration in kinds.luau allows: its type, its range and its \
                  words. Only a reference can be nil. Setting another value is a fault when it is played.",
    bad: Example::Resolve(r#"ctx.actor:set("strength", 12)"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", 9)"#),
};

impl ScriptReader<'_> {
    /// Reports constants in a list literal that do not fit the type of the field's elements.
    pub(crate) fn elements_fit(&mut self, field: &str, element: &Type, list: Expression<'_>) {
        let Some(schema) = self.known.schema() else { return };
        for value in listed(list) {
            let Some(given) = constant(value).filter(|given| *given != Value::None) else { continue };
            if element.is_plain()
                && let Err(wrong) = element.check(&given, schema, &State::new())
            {
                let wrong = format!("an element of the field `{field}` {wrong}");
                self.problem(
                    &LINT,
                    value.location(),
                    (wrong, "write a value that it takes, or change its declaration".into()),
                );
            }
        }
    }

    /// Reports a value that cannot be an entity, for a field that is a reference. Returns whether it did.
    pub(crate) fn takes_an_entity(&mut self, field: &str, value: Expression<'_>) -> bool {
        let Some(what) = self.no_entity(value).filter(|_| !self.is_spec()) else { return false };
        let change = self.change_to_entity(value, &what);
        let wrong = format!("the field `{field}` takes an entity, and {}", what.wrong());
        self.problem_with(&LINT, value.location(), (wrong, what.cure()), change);
        true
    }

    /// Reports a value that no kind accepts for the field.
    pub(crate) fn fits_no_kind(&mut self, field: &str, value: Option<Expression<'_>>) {
        let (Some(value), Some(schema)) = (value, self.known.schema()) else { return };
        let Some(given) = constant(value).filter(|given| *given != Value::None) else { return };
        let mut wrong = None;
        for ty in self.known.types_of(field) {
            if matches!(ty, Type::Ratio | Type::List(_) | Type::Map(_)) {
                return;
            }
            match ty.check(&given, schema, &State::new()) {
                Ok(()) => return,
                Err(told) => wrong = Some(told),
            }
        }
        if let Some(told) = wrong {
            let types: Vec<&Type> = self.known.types_of(field).collect();
            if let [ty] = types.as_slice()
                && let Some(change) = self.added_instead(field, ty, &given, value.location())
            {
                let mistake = (format!("the field `{field}` {told}"), "write `:add` to change it by a number".into());
                return self.cured(&LINT, value.location(), mistake, change);
            }
            let (cure, meant) = value_instead(&types, &given);
            let change = meant.map(|meant| self.replaced(value.location(), meant));
            self.problem_with(&LINT, value.location(), (format!("the field `{field}` {told}"), cure), change);
        }
    }

    /// Reports a value that is no constant and whose type the field never accepts. Returns whether it did.
    pub(crate) fn of_another_sort(&mut self, thing: &Option<Symbol>, field: &str, args: &[Expression<'_>]) -> bool {
        let Some(value) = args.get(1).copied() else { return false };
        if self.known.always_refers(field) && self.takes_an_entity(field, value) {
            return true;
        }
        let types = self.types_at(thing, field);
        if matches!(value.kind(), ExpressionKind::Nil) {
            let never = !types.is_empty() && types.iter().all(|ty| !matches!(ty, Type::Ref(_)));
            if never {
                let wrong = format!("the field `{field}` takes {}, not nothing", ValueType::of_type(types[0]).words());
                self.problem(&LINT, value.location(), (wrong, "only a reference can be nothing".into()));
            }
            return never;
        }
        let Some(sort) = self.value_type(value).filter(|_| constant(value).is_none()) else { return false };
        let fits = |ty: &&Type| {
            let wanted = ValueType::of_type(ty);
            let tables = wanted.is_table() && sort.is_table();
            wanted == sort || tables || wanted == ValueType::Entity && sort == ValueType::Table
        };
        if types.is_empty() || types.iter().any(fits) {
            return false;
        }
        let wrong = format!("the field `{field}` takes {}, not {}", list_of(types[0]), sort.words());
        if let ([Type::Ref(_), ..], ExpressionKind::IndexName { expr, .. }) = (types.as_slice(), value.kind())
            && matches!(self.symbol(expr), Some(Symbol::Entity(_)))
        {
            let meant = self.source(expr);
            let change = self.replaced(value.location(), meant);
            self.cured(&LINT, value.location(), (wrong, format!("write `{meant}`").into()), change);
            return true;
        }
        self.problem(&LINT, value.location(), (wrong, "write a value that it takes, or change its declaration".into()));
        true
    }

    /// `:add` for the `:set` of a number below zero to a field that has none: it is what the field loses.
    fn added_instead(&self, name: &str, ty: &Type, given: &Value, at: Location) -> Option<TextChange> {
        let (Type::Int { min: Some(0..), .. }, Value::Int(..0)) = (ty, given) else { return None };
        let value = self.offset_of(at.begin);
        let line = self.text[..value].rfind('\n').map_or(0, |newline| newline + 1);
        let before =
            self.text[line..value].trim_end().strip_suffix(',')?.trim_end().strip_suffix(&format!("\"{name}\""))?;
        let begin = line + before.trim_end().strip_suffix("set(")?.len();
        Some(TextChange { begin, end: begin + "set".len(), text: "add".to_owned() })
    }

    /// Reports a value that the type of a field does not allow.
    pub(crate) fn misfits_field(&mut self, name: &str, ty: &Type, given: &Value, at: Location) {
        let Some(schema) = self.known.schema() else { return };
        if let Err(wrong) = ty.check(given, schema, &State::new()) {
            if let Some(change) = self.added_instead(name, ty, given, at) {
                let mistake = (format!("the field `{name}` {wrong}"), "write `:add` to change it by a number".into());
                return self.cured(&LINT, at, mistake, change);
            }
            let (cure, meant) = value_instead(&[ty], given);
            let change = meant.map(|meant| self.replaced(at, meant));
            self.problem_with(&LINT, at, (format!("the field `{name}` {wrong}"), cure), change);
        }
    }
}

/// Returns the cure for a constant that a field does not take, and the text to write in its place if that is certain.
pub(crate) fn value_instead(types: &[&Type], given: &Value) -> (Cure, Option<String>) {
    if let Value::Text(text) = given {
        let digits = text.trim().parse::<i64>().ok().map(Value::Int);
        let fits = |value: &Value| types.iter().any(|ty| ty.check(value, &Schema::default(), &State::new()).is_ok());
        if let Some(number) = digits.filter(fits) {
            return (format!("write {number} without quotes").into(), Some(number.to_string()));
        }
        if let Some(Type::Enum(values)) = types.first() {
            return (instead(text, values.iter().map(|value| &**value)), None);
        }
    }
    if let (Some(Type::Int { min, max }), Value::Int(number)) = (types.first(), given) {
        let bound = number_meant(*number, (*min, *max));
        let cure = format!("write {}, or change the bounds in kinds.luau", types[0].wanted());
        return (cure.into(), Some(bound.to_string()));
    }
    let cure = match types.first() {
        Some(Type::Int { .. }) => format!("write {}, or change the bounds in kinds.luau", types[0].wanted()),
        Some(ty) => format!("write {}, or change its declaration in kinds.luau", ty.wanted()),
        None => "write a value that it takes, or change its declaration in kinds.luau".to_string(),
    };
    (cure.into(), None)
}
