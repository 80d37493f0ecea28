//! A kind has no such field or derived value.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::member;
use crate::value_use::ValueUse;
use riskbreaker_ruleset::{Cure, TextChange, likeliest};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, Location};
use riskbreaker_state::{Kind, Type};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-field",
    severity: Severity::Error,
    summary: "a kind has no such field or derived value",
    explanation: "An entity has the fields and derived values that kinds.luau declares for its kind. Reading \
                  another name or writing it by `:set`, `:add` or `:shift` is a fault when it is played. Correct \
                  the name, or declare the field.",
    bad: Example::Resolve(r#"ctx.actor:add("restz", 1)"#),
    good: Example::Resolve(r#"ctx.actor:add("rests", 1)"#),
};

impl ScriptReader<'_> {
    pub(crate) fn field_or_value(&mut self, name: &str, at: Location) {
        let Some(mut members) = self.known.names("field") else { return };
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let of_kind = |kind: &Kind| {
            // `t:edit` makes and ends relations by their names.
            let relation = (kind.relates.len() == 2).then(|| kind.name.to_string());
            kind.derived.iter().map(ToString::to_string).chain(relation).collect::<Vec<_>>()
        };
        members.extend(kinds.flat_map(of_kind));
        if !members.iter().any(|known| known == name) {
            self.problem(
                &LINT,
                at,
                (format!("no kind has a field or a derived value `{name}`"), self.known.instead(name, &members)),
            );
        }
    }

    /// Reports a field that a kind does not have.
    pub(crate) fn no_field_of(&mut self, kind: &Kind, name: &str, at: Location) {
        let names: Vec<String> = kind.fields.iter().map(|field| field.name.to_string()).collect();
        self.problem(&LINT, at, (format!("a {} has no field `{name}`", kind.name), self.known.instead(name, &names)));
    }

    /// Reports a field that a kind does not have, in a table with the fields `given`. The field that its value is read off,
    /// or the only one that the table lacks, is meant.
    pub(crate) fn no_field_beside(
        &mut self,
        kind: &Kind,
        (name, at): (&str, Location),
        value: Expression<'_>,
        given: &[String],
    ) {
        let is_free = |field: &str| kind.field_named(field).is_some() && !given.iter().any(|given| given == field);
        let names: Vec<String> = kind.fields.iter().map(|field| field.name.to_string()).collect();
        let free: Vec<&str> = names.iter().map(String::as_str).filter(|name| is_free(name)).collect();
        let of_value = member(value).filter(|member| is_free(member));
        let meant = match (of_value, free.as_slice()) {
            (Some(member), _) => Some(member),
            (None, [only]) => Some((*only).to_owned()),
            (None, free) => likeliest(name, free.iter().copied()).map(str::to_owned),
        };
        let cure = meant.map_or_else(|| self.known.instead(name, &names), |meant| Cure::meant(name, meant));
        self.problem(&LINT, at, (format!("a {} has no field `{name}`", kind.name), cure));
    }

    /// Reports a field that no kind has.
    pub(crate) fn no_field_of_any_kind(&mut self, name: &str, at: Location) {
        let wrong = self.known.wrong_name("field", name);
        self.tell(&LINT, at, wrong.map(|(_, cure)| (format!("no kind has a field `{name}`"), cure)));
    }

    /// Reports a member that an entity of a kind does not have.
    pub(crate) fn member_of_entity(&mut self, kind: &Kind, name: &str, at: Location) {
        if let Some((code, change)) = self.as_addition(kind, name, at) {
            let wrong = format!("a {} has no `{name}`", kind.name);
            return self.cured(&LINT, at, (wrong, format!("write `:{code}`").into()), change);
        }
        let more: Vec<&str> = api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).copied().collect();
        let wrong = self.known.wrong_member(kind, name, &more);
        let numbers: Vec<String> = match self.use_of(at) {
            Some(ValueUse::Number) => self.numbers_of_kind(kind),
            _ => Vec::new(),
        };
        // What is calculated with is a number.
        let cure = match (&wrong, numbers.as_slice()) {
            (Some((_, Cure::Meant { meant, .. })), [_, ..]) if !numbers.contains(meant) => match numbers.as_slice() {
                [only] => Some(Cure::meant(name, only.as_str())),
                _ => Some(self.known.instead(name, &numbers)),
            },
            _ => None,
        };
        self.tell(&LINT, at, wrong.map(|(message, first)| (message, cure.unwrap_or(first))));
    }

    /// The fields and derived values of a kind that are numbers.
    fn numbers_of_kind(&self, kind: &Kind) -> Vec<String> {
        let fields = kind.fields.iter().filter(|field| matches!(field.ty, Type::Int { .. })).map(|field| &*field.name);
        let is_number = |name: &&str| self.known.names.type_of_derived(name) == Some(ValueType::Number);
        let derived = kind.derived.iter().map(|name| &**name).filter(is_number);
        fields.chain(derived).map(str::to_owned).collect()
    }

    /// The call of `:add` that is written instead of `:sub("field", n)` and the like, and the change to it.
    fn as_addition(&self, kind: &Kind, name: &str, at: Location) -> Option<(String, TextChange)> {
        let takes_away = matches!(name, "sub" | "subtract" | "minus" | "dec" | "decrease" | "reduce" | "lower");
        if !takes_away && !matches!(name, "plus" | "inc" | "increase" | "raise" | "gain") {
            return None;
        }
        let (inside, end) = self.arguments_behind(at)?;
        let (field, number) = inside.split_once(',')?;
        let (field, number) = (field.trim(), number.trim());
        kind.field_named(field.trim_matches('"'))?;
        let is_simple = number.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter));
        let number = match (takes_away, is_simple) {
            (false, _) => number.to_owned(),
            (true, true) => format!("-{number}"),
            (true, false) => format!("-({number})"),
        };
        let code = format!("add({field}, {number})");
        Some((code.clone(), TextChange { begin: self.offset_of(at.begin), end, text: code }))
    }
}
