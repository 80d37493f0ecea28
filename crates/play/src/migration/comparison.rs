//! The effects of a change of rules, found by comparing the state before and after.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{ActionContext, MigrationFate, MigrationNote};
use riskbreaker_state::{Belongings, EntityId, Kept, Kind, Renames, Schema, State};

/// The states before and after a change of rules.
pub(crate) struct StateComparison<'a> {
    pub old: &'a State,
    pub old_schema: &'a Schema,
    /// The names that differ after the change.
    pub names: &'a Renames,
    pub context: &'a ActionContext,
}

impl StateComparison<'_> {
    /// Adds notes on dormant, restored and new things, as far as a sheet would show them.
    pub fn tell(&self, belongings: &Belongings, notes: &mut Vec<MigrationNote>) {
        self.tell_entities(notes);
        self.tell_values(notes);
        self.tell_new_fields(notes);
        self.tell_new_names(notes);
        let mut note = |fate: MigrationFate, topic: &str, names: Vec<String>| {
            if !names.is_empty() {
                notes.push(MigrationNote { fate, topic: topic.into(), text: names.join(", "), rule: None });
            }
        };
        let entries = belongings.entries_kept.iter().map(|entry| entry.what.to_string());
        note(MigrationFate::Dormant, "agenda", entries.collect());
        let hooks = belongings.attachments_kept.iter().map(|(_, attachment)| attachment.hook.to_string());
        note(MigrationFate::Dormant, "attached", hooks.collect());
        let returned = belongings.returned.iter().map(|name| name.to_string());
        note(MigrationFate::Returned, "agenda and attached", returned.collect());
    }

    fn tell_entities(&self, notes: &mut Vec<MigrationNote>) {
        let mut told: BTreeMap<(MigrationFate, String), Vec<String>> = BTreeMap::new();
        let (was, now) = (&self.old.dormant().entities, &self.context.state.dormant().entities);
        for (id, shelved) in now.iter().filter(|(id, _)| !was.contains_key(*id)) {
            let title = self.old_schema.title_in(self.old, *id).to_string();
            told.entry((MigrationFate::Dormant, shelved.kind.to_string())).or_default().push(title);
        }
        for (id, shelved) in was.iter().filter(|(id, _)| self.context.state.entity(**id).is_some()) {
            let title = self.context.title(*id).to_string();
            told.entry((MigrationFate::Returned, shelved.kind.to_string())).or_default().push(title);
        }
        for ((fate, topic), titles) in told {
            notes.push(MigrationNote { fate, topic, text: titles.join(", "), rule: None });
        }
    }

    /// Adds notes on values that became dormant or were restored, by entity.
    fn tell_values(&self, notes: &mut Vec<MigrationNote>) {
        let new_schema = self.context.rules.schema();
        let (was, now) = (&self.old.dormant().fields, &self.context.state.dormant().fields);
        let known = |all: &BTreeMap<EntityId, BTreeMap<Arc<str>, Kept>>, id: EntityId, name: &str| {
            all.get(&id).and_then(|kept| kept.get(name)).is_some_and(|kept| !kept.is_same)
        };
        let old_names = self.names.reversed();
        for (id, entity) in self.context.state.entities() {
            let kind = new_schema.kind(entity.kind);
            let topic = self.context.title(id).to_string();
            let old_kind = self.old_kind(&old_names, kind);
            let mut aside = Vec::new();
            let away = now.get(&id).into_iter().flatten().filter(|(_, kept)| !kept.is_same);
            for (name, kept) in away.filter(|(name, _)| !known(was, id, name)) {
                let field = old_kind.and_then(|kind| Some(kind.field(kind.field_named(name)?)));
                if let Some(field) =
                    field.filter(|field| field.show && field.audience.is_none() && field.default != kept.value)
                {
                    aside.push(format!("{} {}", field.label, self.context.words(&kept.value)));
                }
            }
            let mut back = Vec::new();
            let returned = was.get(&id).into_iter().flatten().filter(|(_, kept)| !kept.is_same);
            for (name, kept) in returned.filter(|(name, _)| !known(now, id, name)) {
                let Some(place) = kind.field_named(name) else { continue };
                let (field, value) = (kind.field(place), &entity.fields[place.0 as usize]);
                // If the field was set since, the newer value wins.
                let is_back = field.ty.settle(kept.value.clone()) == *value;
                if is_back && field.show && field.audience.is_none() && field.default != *value {
                    back.push(format!("{} {}", field.label, self.context.words(value)));
                }
            }
            for (fate, parts) in [(MigrationFate::Dormant, aside), (MigrationFate::Returned, back)] {
                if !parts.is_empty() {
                    notes.push(MigrationNote { fate, topic: topic.clone(), text: parts.join(", "), rule: None });
                }
            }
        }
    }

    /// Adds notes on new fields that have their default in every entity.
    fn tell_new_fields(&self, notes: &mut Vec<MigrationNote>) {
        let schema = self.context.rules.schema();
        let old_names = self.names.reversed();
        for (at, kind) in schema.kinds.iter().enumerate() {
            let here = || self.context.state.entities().filter(move |(_, entity)| entity.kind.0 as usize == at);
            let Some(old) = self.old_kind(&old_names, kind) else { continue };
            let fields = kind.fields.iter().enumerate().filter(|(place, field)| {
                field.show
                    && old.field_named(&old_names.field(&kind.name, &field.name).1).is_none()
                    && here().all(|(_, entity)| entity.fields[*place] == field.default)
            });
            let fields: Vec<String> =
                fields.map(|(_, field)| format!("{} {}", field.label, self.context.words(&field.default))).collect();
            if !fields.is_empty() && here().next().is_some() {
                let (fate, topic) = (MigrationFate::Defaulted, format!("every {}", kind.name));
                notes.push(MigrationNote { fate, topic, text: fields.join(", "), rule: None });
            }
        }
    }

    /// The kind in the old rules; `None` if it is new. `old_names`: the names in the old rules.
    fn old_kind(&self, old_names: &Renames, kind: &Kind) -> Option<&Kind> {
        let place = self.old_schema.kind_named(&old_names.kind(&kind.name))?;
        Some(self.old_schema.kind(place))
    }

    /// Adds notes on fields that have another label under their new name, for kinds of which there are entities.
    fn tell_new_names(&self, notes: &mut Vec<MigrationNote>) {
        let schema = self.context.rules.schema();
        let old_names = self.names.reversed();
        for (at, kind) in schema.kinds.iter().enumerate() {
            let is_here = self.context.state.entities().any(|(_, entity)| entity.kind.0 as usize == at);
            let Some(old) = self.old_kind(&old_names, kind).filter(|_| is_here) else { continue };
            let names = kind.fields.iter().filter(|field| field.show && field.audience.is_none()).filter_map(|field| {
                let was = old.field(old.field_named(&old_names.field(&kind.name, &field.name).1)?);
                (was.name != field.name).then(|| format!("{} is called {}", was.label, field.label))
            });
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                let (fate, topic) = (MigrationFate::Carried, format!("every {}", kind.name));
                notes.push(MigrationNote { fate, topic, text: names.join(", "), rule: None });
            }
        }
    }
}
