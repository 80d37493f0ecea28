use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attachment, AttachmentId, EntityId, Entry, Value};

/// Values and entities that the rules in force do not declare, kept as data until other rules declare them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dormant {
    /// Values by entity and field name. The entity may exist, or be dormant itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<EntityId, BTreeMap<Arc<str>, Kept>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub entities: BTreeMap<EntityId, Shelved>,
    /// Agenda entries that the rules do not know, or whose owner is dormant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attachments: BTreeMap<AttachmentId, Attachment>,
    /// Notes of conversions for the way back, by entity and name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<EntityId, BTreeMap<Arc<str>, Value>>,
    /// House rules by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<Arc<str>, Kept>,
}

/// A dormant value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedKept")]
pub struct Kept {
    pub value: Value,
    /// The value that the field or house rule has instead. `None` if it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Value>,
    /// True if `instead` is the same value in another form, such as a fraction for a whole number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_same: bool,
}

/// The saved form; earlier versions saved the bare value of a house rule.
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

/// The fate of a value in a change of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// It is unchanged.
    Carried,
    /// It was dormant and is restored.
    Returned,
    /// It does not fit: it is dormant, and another value is in its place.
    StandIn,
    /// It did not exist: the default is used.
    Defaulted,
}

/// Carries the value of a field or house rule over to other rules, and returns the new value with its fate. The result
/// depends on the value that was set last and on the new rules, not on the rules in between: the dormant value behind a
/// stand-in has priority.
///
/// `now`: the value before. `settled`: converts a value to the form in the new rules, if it fits. `stand_in`: the value
/// to use for one that does not fit. A value with another form in the new rules is also kept in its original form.
pub fn pass(
    aside: &mut BTreeMap<Arc<str>, Kept>,
    name: &Arc<str>,
    now: Option<&Value>,
    settled: impl Fn(&Value) -> Option<Value>,
    stand_in: impl Fn(Option<&Value>) -> Value,
) -> (Value, Passage) {
    // If the stand-in was edited since, drop the dormant value.
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

/// Makes a value dormant, or the value that it stands in for. `now`: the value before. `instead`: the value that
/// replaces it; `None` if the field or house rule does not exist any more.
pub fn put_aside(aside: &mut BTreeMap<Arc<str>, Kept>, name: &Arc<str>, now: &Value, instead: Option<Value>) {
    let kept = aside.remove(name).filter(|kept| kept.instead.as_ref() == Some(now));
    let value = kept.map_or_else(|| now.clone(), |kept| kept.value);
    aside.insert(name.clone(), Kept { value, instead, is_same: false });
}

/// A dormant entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shelved {
    pub kind: Arc<str>,
    pub fields: BTreeMap<Arc<str>, Value>,
    /// The ruleset that it waits for, if a script made it dormant. `None`: any ruleset with its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Arc<str>>,
}

impl Dormant {
    pub fn is_empty(&self) -> bool {
        *self == Dormant::default()
    }

    /// True if there are dormant entities, agenda entries or attachments.
    pub fn holds_entities(&self) -> bool {
        !(self.entities.is_empty() && self.entries.is_empty() && self.attachments.is_empty())
    }

    /// Forgets a dormant value or note of an entity.
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

    /// A note on an entity, or a dormant value of it.
    pub fn kept(&self, entity: EntityId, name: &str) -> Option<&Value> {
        let note = self.notes.get(&entity).and_then(|notes| notes.get(name));
        note.or_else(|| Some(&self.fields.get(&entity)?.get(name)?.value))
    }
}
