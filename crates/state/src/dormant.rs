use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attachment, AttachmentId, EntityId, Entry, Value};

/// Values and entities that the rules in force have no place for, kept as data until other rules have one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dormant {
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
    pub switches: BTreeMap<Arc<str>, Kept>,
}

/// A value that is kept aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedKept")]
pub struct Kept {
    pub value: Value,
    /// The value that the field, or the house rule, has instead; `None` if there is no such field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Value>,
    /// Whether what stands in its place is the same in another form, such as a whole number as a fraction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_same: bool,
}

/// As it is saved; earlier versions saved the bare value of a house rule.
#[derive(Deserialize)]
#[serde(untagged)]
enum SavedKept {
    Whole {
        value: Value,
        #[serde(default)]
        instead: Option<Value>,
        #[serde(default)]
        is_same: bool,
    },
    Bare(Value),
}

impl From<SavedKept> for Kept {
    fn from(saved: SavedKept) -> Kept {
        match saved {
            SavedKept::Whole { value, instead, is_same } => Kept { value, instead, is_same },
            SavedKept::Bare(value) => Kept { value, instead: None, is_same: false },
        }
    }
}

/// How a value came through a change of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// It is as it was.
    Carried,
    /// It was kept aside, and has a place again.
    Returned,
    /// It does not fit: it is kept aside, and another one stands in for it.
    StandIn,
    /// There was none: it is the default.
    Defaulted,
}

/// The value that a field, or a house rule, has under other rules, and how it came to it. It depends on the value that somebody gave
/// it last and on the new rules, not on the rules in between: what a stand-in has replaced is asked first.
///
/// `now` is the value before, `settled` gives a value as the new rules hold it where it fits, `stand_in` what they have for one
/// that does not. A value that they hold in another form is kept as it was given.
pub fn pass(
    aside: &mut BTreeMap<Arc<str>, Kept>,
    name: &Arc<str>,
    now: Option<&Value>,
    settled: impl Fn(&Value) -> Option<Value>,
    stand_in: impl Fn(Option<&Value>) -> Value,
) -> (Value, Passage) {
    // Where somebody has changed what stands in for it, it does not count any more.
    let kept = aside.remove(name).filter(|kept| kept.instead.as_ref() == now);
    let was_away = kept.as_ref().is_some_and(|kept| !kept.is_same);
    let wanted = kept.map(|kept| kept.value).or_else(|| now.cloned());
    let Some(wanted) = wanted else { return (stand_in(None), Passage::Defaulted) };
    if let Some(value) = settled(&wanted) {
        if value != wanted {
            aside.insert(name.clone(), Kept { value: wanted, instead: Some(value.clone()), is_same: true });
        }
        return (value, if was_away { Passage::Returned } else { Passage::Carried });
    }
    let instead = stand_in(Some(&wanted));
    let stands_already = was_away && now == Some(&instead);
    aside.insert(name.clone(), Kept { value: wanted, instead: Some(instead.clone()), is_same: false });
    (instead, if stands_already { Passage::Carried } else { Passage::StandIn })
}

/// A value has to go: it is kept aside, or what it stands in for. `now` is the value before, `instead` what takes its place;
/// `None` where the field, or the house rule, is gone.
pub fn put_aside(aside: &mut BTreeMap<Arc<str>, Kept>, name: &Arc<str>, now: &Value, instead: Option<Value>) {
    let kept = aside.remove(name).filter(|kept| kept.instead.as_ref() == Some(now));
    let value = kept.map_or_else(|| now.clone(), |kept| kept.value);
    aside.insert(name.clone(), Kept { value, instead, is_same: false });
}

/// An entity that is kept aside whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shelved {
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

    /// Whether entities are kept aside, or what belongs to them.
    pub fn holds_entities(&self) -> bool {
        !(self.entities.is_empty() && self.entries.is_empty() && self.attachments.is_empty())
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
