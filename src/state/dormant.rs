use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attachment, AttachmentId, EntityId, Entry, Value};

/// Values and entities that the rules in force have no place for, kept as data until other rules have one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Dormant {
    /// Values by entity and field name. The entity may exist, or be kept aside itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<EntityId, BTreeMap<Arc<str>, Kept>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub entities: BTreeMap<EntityId, Shelved>,
    /// Agenda entries that the rules do not know, or whose owner is kept aside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attachments: BTreeMap<AttachmentId, Attachment>,
    /// What conversions note down for the way back, by entity and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<EntityId, BTreeMap<Arc<str>, Value>>,
    /// House rules by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<String, Value>,
}

/// A value that is kept aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub value: Value,
    /// The value that the field has instead; `None` if there is no such field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Value>,
}

/// An entity that is kept aside whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shelved {
    pub kind: Arc<str>,
    pub fields: BTreeMap<Arc<str>, Value>,
    /// The ruleset that it waits for, where a script put it aside; otherwise it waits for any that has its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Arc<str>>,
}

impl Dormant {
    pub fn is_empty(&self) -> bool {
        *self == Dormant::default()
    }

    /// Keeps a value of an entity aside.
    pub fn keep(&mut self, entity: EntityId, name: Arc<str>, value: Value, instead: Option<Value>) {
        self.fields.entry(entity).or_default().insert(name, Kept { value, instead });
    }

    /// Forgets a value of an entity, or a note on it.
    pub fn forget(&mut self, entity: EntityId, name: &str) {
        if let Some(kept) = self.fields.get_mut(&entity) {
            kept.remove(name);
        }
        if let Some(notes) = self.notes.get_mut(&entity) {
            notes.remove(name);
        }
        self.fields.retain(|_, kept| !kept.is_empty());
        self.notes.retain(|_, notes| !notes.is_empty());
    }

    /// A note on an entity, or a value of it that is kept aside.
    pub fn kept(&self, entity: EntityId, name: &str) -> Option<&Value> {
        let note = self.notes.get(&entity).and_then(|notes| notes.get(name));
        note.or_else(|| Some(&self.fields.get(&entity)?.get(name)?.value))
    }
}
