//! Titles of entities and values in words.

use std::collections::HashMap;
use std::sync::Arc;

use super::ActionContext;
use super::op::Op;
use crate::{Choice, Viewer, marked_part};
use riskbreaker_state::{Audience, EntityId, Kind, Value, readable_name};

/// Longest list in a text, in bytes.
const LONGEST_LIST: usize = 4_000;

impl ActionContext {
    /// The title of an entity: the value of its title field, or else its kind and number.
    pub fn title(&self, id: EntityId) -> Arc<str> {
        self.title_for(id, &Audience::nobody())
    }

    /// Like [`ActionContext::title`], in a text for an audience: kind and number if not everybody in it may see the
    /// title field.
    pub fn title_for(&self, id: EntityId, audience: &Audience) -> Arc<str> {
        let Some(entity) = self.state.entity(id) else { return Arc::from(id.to_string()) };
        let kind = self.rules.schema().kind(entity.kind);
        let title = kind.title.filter(|_| self.is_named_to(id, audience));
        match title.map(|field| &entity.fields[field.0 as usize]) {
            Some(Value::Text(text)) if !text.is_empty() => text.clone(),
            _ => match (kind.relates.as_slice(), entity.fields.as_slice()) {
                ([one], fields) => self.title_of_relation(kind, &fields[one.0 as usize], None, audience),
                ([one, other], fields) => {
                    let other = Some(&fields[other.0 as usize]);
                    self.title_of_relation(kind, &fields[one.0 as usize], other, audience)
                }
                _ => Arc::from(format!("{} {}", kind.name, id.0)),
            },
        }
    }

    /// The name of the kind of an entity that has neither a title field nor relates two others: its title is this name and its number.
    pub(crate) fn untitled_kind(&self, id: EntityId) -> Option<&str> {
        let kind = self.rules.schema().kind(self.state.entity(id)?.kind);
        (kind.title.is_none() && kind.relates.is_empty()).then_some(&*kind.name)
    }

    /// The audience of an entity's title field, if that field has an audience of its own.
    pub fn title_audience(&self, id: EntityId) -> Option<Audience> {
        let schema = self.rules.schema();
        let kind = schema.kind(self.state.entity(id)?.kind);
        let field = kind.title.filter(|field| kind.field(*field).audience.is_some())?;
        Some(self.state.field_audience(schema, id, field, None))
    }

    fn is_named_to(&self, id: EntityId, audience: &Audience) -> bool {
        match (self.title_audience(id), audience) {
            (None | Some(Audience::Everybody), _) => true,
            (Some(_), Audience::Everybody) => false,
            (Some(named), Audience::Only(seats)) => seats.iter().all(|seat| Viewer::seat(seat).sees(&named)),
        }
    }

    /// The title of an entity for a seat, read by a script. Records the fields that the title is made of as read.
    pub fn read_title(&mut self, id: EntityId, seat: &str) -> Arc<str> {
        if self.observers.fixed_entities().is_some() {
            self.note_title(id);
        }
        self.title_for(id, &Audience::named(seat))
    }

    fn note_title(&mut self, id: EntityId) {
        let rules = self.rules.clone();
        let Some(kind) = self.state.entity(id).map(|entity| rules.schema().kind(entity.kind)) else { return };
        if kind.title.is_some_and(|field| kind.field(field).audience.is_some()) {
            // The audience depends on fields whose reads are not observed.
            self.observers.observe(&Op::Glimpse);
        }
        if let Some(field) = kind.title
            && let Some(Value::Text(text)) = self.read(id, field)
            && !text.is_empty()
        {
            return;
        }
        if kind.relates.is_empty() {
            self.observers.observe(&Op::ReadId { entity: id, state: &self.state });
        }
        for end in &kind.relates {
            if let Some(Value::Entity(other)) = self.read(id, *end).cloned() {
                self.note_title(other);
            }
        }
    }

    /// The title of a relation that has no title field, made from the titles of its two ends.
    fn title_of_relation(&self, kind: &Kind, one: &Value, other: Option<&Value>, audience: &Audience) -> Arc<str> {
        let (word, one) = (readable_name(&kind.name), self.words_for(one, audience));
        Arc::from(match other.map(|other| self.words_for(other, audience)) {
            None => format!("{one} {word}"),
            Some(other) if kind.mutual => format!("{one} and {other} {word}"),
            Some(other) => format!("{one} {word} {other}"),
        })
    }

    /// Returns the value with titles in place of entities.
    pub fn titled(&self, value: &Value) -> Value {
        match value {
            Value::Entity(id) => Value::Text(self.title(*id)),
            Value::List(items) => Value::list(items.iter().map(|item| self.titled(item))),
            Value::Map(items) => Value::map(items.iter().map(|(key, item)| (key, self.titled(item)))),
            other => other.clone(),
        }
    }

    /// Converts a value to text, with entities by title.
    pub fn words(&self, value: &Value) -> String {
        self.words_for(value, &Audience::nobody())
    }

    /// Like [`ActionContext::words`], in a text for an audience.
    pub fn words_for(&self, value: &Value, audience: &Audience) -> String {
        let words = |item: &Value| self.words_for(item, audience);
        match value {
            Value::Entity(id) => self.title_for(*id, audience).to_string(),
            Value::List(items) if !items.is_empty() => joined(items.iter().map(words)),
            Value::Map(items) if !items.is_empty() => {
                joined(items.iter().map(|(key, item)| format!("{key}: {}", words(item))))
            }
            Value::Text(text) if text.is_empty() => "nothing".into(),
            other => other.to_string(),
        }
    }

    /// Like [`ActionContext::words_for`], inside a line of the host: quotes a text or title that could be taken for a
    /// part of that line.
    pub fn words_of_change(&self, value: &Value, audience: &Audience) -> String {
        let words = |item: &Value| self.words_of_change(item, audience);
        match value {
            Value::List(items) if !items.is_empty() => joined(items.iter().map(words)),
            Value::Map(items) if !items.is_empty() => {
                joined(items.iter().map(|(key, item)| format!("{}: {}", marked_part(key), words(item))))
            }
            Value::Text(_) | Value::Entity(_) => marked_part(&self.words_for(value, audience)).into_owned(),
            other => self.words_for(other, audience),
        }
    }

    /// Sets the ids of options that are entities: the title, followed by the number if two options share it.
    pub fn settle_ids(options: &mut [(Choice, Option<EntityId>)]) {
        let (mut labels, mut ids) = (HashMap::<&str, usize>::new(), HashMap::<&str, usize>::new());
        for (choice, _) in options.iter() {
            *labels.entry(&choice.label).or_default() += 1;
            *ids.entry(&choice.id).or_default() += 1;
        }
        let is_shared = |choice: &Choice| labels[&*choice.label] > 1 || ids[&*choice.id] > 1;
        let shared: Vec<bool> = options.iter().map(|(choice, entity)| entity.is_some() && is_shared(choice)).collect();
        for ((choice, entity), _) in options.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
            let Some(entity) = entity else { continue };
            choice.id = Arc::from(format!("{}{entity}", choice.label));
            choice.note.get_or_insert_with(|| entity.to_string());
        }
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if text.len() > LONGEST_LIST {
            text.push_str("...");
            break;
        }
        text.push_str(&part);
    }
    text
}
