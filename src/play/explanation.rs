use serde::{Deserialize, Serialize};

use super::Game;
use super::action::{Cause, words_of};
use super::reload::with_schemas;
use crate::state::{Change, EntityId, FieldId, Schema, Value};

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The entity and what was asked about, in words.
    pub title: String,
    /// The value, in words.
    pub value: String,
    /// For a derived value: its terms, in the order they were worked out.
    pub terms: Vec<Term>,
    /// For a field: the changes that led to the value, in order.
    pub changes: Vec<String>,
}

/// One part of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Term {
    /// What the term is called.
    pub label: String,
    /// The value, in words.
    pub value: String,
    /// The file that adds it.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// How deep in the working out it was added: the parts of a part lie deeper, and come before it.
    pub depth: u32,
}

impl Game {
    /// The changes that led to a field's value.
    pub fn history_of(&self, entity: EntityId, name: &str, value: Value) -> Explanation {
        let context = &self.context;
        let why = |cause: &Cause| match cause {
            Cause::Entry { what, owner: Some(owner), .. } if context.state.entity(*owner).is_some() => {
                format!("{what}, {}", context.title(*owner))
            }
            cause => words_of(cause).to_string(),
        };
        let kind = context.state.entity(entity).map(|found| context.rules.schema().kind(found.kind).name.clone());
        let field_in = |schema: &Schema| schema.kind(schema.kind_named(kind.as_deref()?)?).field_named(name);
        let line = |number: u32, cause: &Cause, change: &Change, field: Option<FieldId>| match change {
            Change::Set { entity: of, field: at, from, to } if *of == entity && Some(*at) == field => {
                Some(format!("action {number} ({}): {} -> {}", why(cause), context.words(from), context.words(to)))
            }
            Change::Spawn { entity: of, made } if *of == entity => {
                let first = field.and_then(|field| made.fields.get(field.0 as usize));
                Some(format!("action {number} ({}): begins with {}", why(cause), context.words(first?)))
            }
            _ => None,
        };
        let mut changes = Vec::new();
        for (done, schema) in with_schemas(&self.history, context.rules.schema()) {
            let field = field_in(schema);
            let made = done.changes.get();
            changes.extend(made.iter().rev().filter_map(|change| line(done.number, &done.cause, change, field)));
        }
        changes.reverse();
        let field = field_in(context.rules.schema());
        if let Some(open) = &self.open {
            changes.extend(
                context.state.since(0).iter().filter_map(|change| line(open.number, &open.cause, change, field)),
            );
        }
        let kind = kind.as_deref().and_then(|kind| context.rules.schema().kind_named(kind));
        let label = kind.zip(field).map(|(kind, field)| &context.rules.schema().kind(kind).field(field).label);
        Explanation {
            title: format!("{}: {}", context.title(entity), label.map_or(name, |label| label)),
            value: context.words(&value),
            terms: Vec::new(),
            changes,
        }
    }
}
