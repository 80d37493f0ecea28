//! The changes that led to a field's value.

use std::sync::Arc;

use super::Game;
use super::history::with_schemas;
use crate::model::words_of;
use crate::{Cause, Explanation};
use riskbreaker_state::{Change, EntityId, FieldId, Schema, Value};

impl Game {
    /// The changes that led to a field's value, oldest first. Changes of rules are included.
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
        // Formats a change as a line, with the value before it.
        let line = |number: u32, cause: &Cause, change: &Change, field: Option<FieldId>| match change {
            Change::Set { entity: of, field: at, from, to } if *of == entity && Some(*at) == field => {
                let text =
                    format!("action {number} ({}): {} -> {}", why(cause), context.words(from), context.words(to));
                Some((text, Some(from.clone())))
            }
            Change::Spawn { entity: of, made } if *of == entity => {
                let first = field.and_then(|field| made.fields.get(field.0 as usize))?;
                Some((format!("action {number} ({}): begins with {}", why(cause), context.words(first)), None))
            }
            _ => None,
        };
        let (mut changes, mut after) = (Vec::new(), Some(value.clone()));
        let mut note = |found: Option<(String, Option<Value>)>, after: &mut Option<Value>| {
            if let Some((text, before)) = found {
                changes.push(text);
                *after = before;
            }
        };
        if let Some(open) = &self.open {
            let field = field_in(context.rules.schema());
            for change in context.state.since(0).iter().rev() {
                note(line(open.number, &open.cause, change, field), &mut after);
            }
        }
        for (done, schema) in with_schemas(&self.history, context.rules.schema()) {
            let field = field_in(schema);
            let made = done.changes.get();
            for change in made.iter().rev() {
                note(line(done.number, &done.cause, change, field), &mut after);
            }
            let Some(swap) = &done.swap else { continue };
            let before = swap.state.entity(entity).and_then(|found| {
                let at = swap.schema.kind(found.kind).field_named(name)?;
                found.fields.get(at.0 as usize).cloned()
            });
            let words = |value: &Value| context.words(value);
            let text = match (&before, &after) {
                (before, after) if before == after => continue,
                (Some(before), Some(after)) => format!("{} -> {}", words(before), words(after)),
                (None, Some(after)) => format!("begins with {}", words(after)),
                (Some(before), None) => format!("{} is kept aside", words(before)),
                (None, None) => continue,
            };
            let reason = done.reasons.get(&(entity, Arc::from(name)));
            let reason = reason.map_or(String::new(), |reason| format!(", {reason}"));
            note(Some((format!("action {} ({}{reason}): {text}", done.number, why(&done.cause)), before)), &mut after);
        }
        changes.reverse();
        let field = field_in(context.rules.schema());
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
