//! A kind has no such field or derived value.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::api;
use riskbreaker_script::syntax::Location;
use riskbreaker_state::Kind;

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

    /// Reports a field that no kind has.
    pub(crate) fn no_field_of_any_kind(&mut self, name: &str, at: Location) {
        let wrong = self.known.wrong_name("field", name);
        self.tell(&LINT, at, wrong.map(|(_, cure)| (format!("no kind has a field `{name}`"), cure)));
    }

    /// Reports a member that an entity of a kind does not have.
    pub(crate) fn member_of_entity(&mut self, kind: &Kind, name: &str, at: Location) {
        let more: Vec<&str> = api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).copied().collect();
        self.tell(&LINT, at, self.known.wrong_member(kind, name, &more));
    }
}
