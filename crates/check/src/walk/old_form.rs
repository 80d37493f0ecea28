//! Verbs whose parameters are declared by their names alone: what they say in the form with types.

use std::collections::BTreeSet;

use crate::inference::value_type::ValueType;
use crate::reader::ScriptReader;
use crate::syntax::members_of;
use riskbreaker_script::api;
use riskbreaker_script::syntax::Function;
use riskbreaker_state::Type;

impl ScriptReader<'_> {
    /// A parameter with the type that its uses suggest: `{ "amount", rb.int(), optional = true }`.
    pub(crate) fn entry(&self, verb: &str, names: &[String], at: usize, run: Option<&Function<'_>>) -> String {
        let name = &names[at];
        let known = self.known.names.verb(verb).filter(|known| known.params.len() == names.len());
        let used = known.and_then(|known| known.uses.get(at).copied().flatten());
        let read = run.and_then(|run| Some(members_of(run, run.args.get(at)?.id))).unwrap_or_default();
        let ty = match used {
            Some(ValueType::Number | ValueType::Sum) => "rb.int()".to_string(),
            Some(ValueType::Text) => "rb.text()".into(),
            Some(ValueType::Truth) => "rb.bool()".into(),
            Some(ValueType::Entity) => self.reference(name, &read),
            Some(ValueType::Table | ValueType::Record) if !self.may_be_entity(&read) => "rb.record()".into(),
            Some(ValueType::Function | ValueType::List | ValueType::Attached) => "rb.any()".into(),
            Some(ValueType::Table | ValueType::Record) | None => match self.known.type_of_all(name) {
                _ if self.known.kind(name).is_some() => self.reference(name, &read),
                Some(Type::Int { .. }) => "rb.int()".into(),
                Some(Type::Bool) => "rb.bool()".into(),
                Some(Type::Ref(_)) => self.reference(name, &read),
                _ if self.may_be_entity(&read) => self.reference(name, &read),
                _ => "rb.any()".into(),
            },
        };
        let needed = known.is_some_and(|known| at < known.needed);
        let optional = if needed || ty == "rb.any()" { "" } else { ", optional = true" };
        format!("{{ \"{name}\", {ty}{optional} }}")
    }

    /// The kind that a name says, or the only one that has all the members that are read off it.
    fn reference(&self, name: &str, read: &BTreeSet<String>) -> String {
        let kinds: Vec<&str> = self.kinds_with(read).collect();
        match kinds.as_slice() {
            _ if self.known.kind(name).is_some() => format!("rb.ref(\"{name}\")"),
            [only] => format!("rb.ref(\"{only}\")"),
            _ => "rb.ref()".into(),
        }
    }

    fn may_be_entity(&self, read: &BTreeSet<String>) -> bool {
        !read.is_empty() && self.kinds_with(read).next().is_some()
    }

    /// The kinds that have all of some members.
    pub(crate) fn kinds_with<'s>(&'s self, read: &'s BTreeSet<String>) -> impl Iterator<Item = &'s str> {
        let of_all = |name: &str| api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).any(|own| *own == name);
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let having =
            kinds.filter(move |kind| read.iter().all(|name| of_all(name) || kind.members().any(|own| own == name)));
        having.map(|kind| &*kind.name)
    }
}
