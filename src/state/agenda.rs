use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::numbers::Number;
use super::{EntityId, Value};

/// Names an agenda entry inside the host: counted from 1 over the whole game. Rules know it by [`Entry::number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct EntryId(pub u32);

/// When an entry is due: up to eight whole numbers, compared place by place; places that a key lacks count as zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    places: [i64; Key::PLACES],
    length: u8,
}

/// A key that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It has no place, or too many: how many.
    #[error("a key has 1 to {most} places, not {0}", most = Key::PLACES)]
    Length(usize),
}

impl Key {
    /// Most places of a key.
    pub const PLACES: usize = 8;

    /// A key of these places.
    ///
    /// # Errors
    ///
    /// No place, or more than eight.
    pub fn new(places: &[i64]) -> Result<Key, KeyError> {
        if places.is_empty() || places.len() > Key::PLACES {
            return Err(KeyError::Length(places.len()));
        }
        let mut key = Key { places: [0; Key::PLACES], length: places.len() as u8 };
        key.places[..places.len()].copy_from_slice(places);
        Ok(key)
    }

    /// Its places.
    pub fn places(&self) -> &[i64] {
        &self.places[..self.length as usize]
    }

    /// The key moved on by `step`, place by place; places that one of them lacks count as zero.
    pub fn plus(&self, step: &Key) -> Key {
        let mut sum = *self;
        sum.length = self.length.max(step.length);
        for (at, by) in step.places().iter().enumerate() {
            sum.places[at] = sum.places[at].saturating_add(*by);
        }
        sum
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        self.places.cmp(&other.places).then(self.length.cmp(&other.length))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.places())
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.places().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        Key::new(&Vec::<i64>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Something that is due: the script entry `what`, run for `owner` with `args`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is named by.
    pub id: EntryId,
    /// When it is due: the entry with the smallest key comes first.
    pub key: Key,
    /// Name of the ruleset's agenda entry.
    pub what: Arc<str>,
    /// The entry goes when its owner goes.
    pub owner: Option<EntityId>,
    /// What its function is given.
    pub args: Value,
    /// Moves the key of the next one, for an entry that recurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Box<Key>>,
    /// The number that scripts are given, where that is not the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) numbered: Option<Number>,
}

impl Entry {
    /// The number by which rules, fields and viewers know it. It tells nothing of what is due in secret.
    pub fn number(&self) -> u32 {
        self.numbered.map_or(self.id.0, |numbered| numbered.number)
    }
}

/// All that is due, in order of key; entries with equal keys stand in the order of their making.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Agenda {
    entries: VecDeque<Entry>,
}

impl Agenda {
    pub fn entries(&self) -> &VecDeque<Entry> {
        &self.entries
    }

    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Puts an entry in its place, where it can be looked at.
    pub(super) fn insert(&mut self, entry: Entry) -> &Entry {
        let at = self.place(&entry);
        self.entries.insert(at, entry);
        &self.entries[at]
    }

    /// Where an entry stands, or would stand.
    fn place(&self, entry: &Entry) -> usize {
        self.entries.partition_point(|other| (&other.key, other.id) < (&entry.key, entry.id))
    }

    /// Takes back an [`Agenda::insert`]; the entry has the same key still.
    pub(super) fn take_back(&mut self, entry: &Entry) {
        let at = self.place(entry);
        if self.entries.get(at).is_some_and(|found| found.id == entry.id) {
            self.entries.remove(at);
        }
    }

    /// Takes all entries that are wanted, in their order.
    pub(super) fn take_all(&mut self, wanted: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        if !self.entries.iter().any(&wanted) {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.entries).into_iter().partition::<Vec<_>, _>(wanted);
        self.entries = kept.into();
        taken
    }

    /// Gives an entry another key and returns the one it had.
    pub(super) fn rekey(&mut self, id: EntryId, key: Key) -> Option<Key> {
        let entry = self.take(id)?;
        let from = entry.key;
        self.insert(Entry { key, ..entry });
        Some(from)
    }

    /// Lets the entries share no text with others.
    pub(super) fn set_apart(&mut self) {
        for entry in &mut self.entries {
            (entry.what, entry.args) = (Arc::from(&*entry.what), entry.args.apart());
        }
    }

    /// Takes an entity out of what entries are given.
    pub(super) fn forget(&mut self, entity: EntityId) {
        for entry in &mut self.entries {
            entry.args = entry.args.without_entity(entity);
        }
    }

    pub(super) fn take_first(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    pub(super) fn take(&mut self, id: EntryId) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.id == id)?;
        self.entries.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, key: &[i64]) -> Entry {
        Entry {
            id: EntryId(id),
            key: Key::new(key).unwrap(),
            what: "turn".into(),
            owner: None,
            args: Value::None,
            every: None,
            numbered: None,
        }
    }

    #[test]
    fn keys_compare_place_by_place_and_places_that_are_lacking_count_as_zero() {
        let key = |places: &[i64]| Key::new(places).unwrap();
        assert!(key(&[1, 2]) < key(&[1, 3]));
        assert!(key(&[1]) < key(&[1, 0]));
        assert!(key(&[1, -5]) < key(&[1]));
        assert!(key(&[2]) > key(&[1, 9, 9]));
        assert_eq!(Key::new(&[]), Err(KeyError::Length(0)));
    }

    #[test]
    fn equal_keys_leave_in_the_order_of_their_making_however_they_came_in() {
        let mut agenda = Agenda::default();
        for id in [3, 1, 2] {
            agenda.insert(entry(id, &[7]));
        }
        agenda.insert(entry(4, &[6]));
        let order: Vec<u32> = agenda.entries().iter().map(|entry| entry.id.0).collect();
        assert_eq!(order, [4, 1, 2, 3]);
    }
}
