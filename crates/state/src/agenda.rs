use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::numbers::DrawnNumber;
use super::{EntityId, LARGEST_NUMBER, Value};

/// Identifies an agenda entry inside the host: counted from 1 over the whole game. Rules use [`Entry::number`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct EntryId(pub u32);

/// The time at which an entry is due: up to eight whole numbers, compared place by place. Missing places count as zero;
/// of two otherwise equal keys, the shorter one comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    places: [i64; Key::PLACES],
    length: u8,
}

/// The error of an invalid key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key has no place, or too many: their number.
    #[error("a key has 1 to {most} places, not {0}", most = Key::PLACES)]
    Length(usize),
}

impl Key {
    /// Most places of a key.
    pub const PLACES: usize = 8;

    /// Creates a key with these places.
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

    /// The places of the key.
    pub fn places(&self) -> &[i64] {
        &self.places[..self.length as usize]
    }

    /// True if relative keys may count from this one: no place is so large that a sum could be invalid.
    #[inline]
    #[doc(hidden)]
    pub fn is_near(&self) -> bool {
        let most = LARGEST_NUMBER - RelativeKey::FARTHEST;
        self.places.iter().all(|place| (-most..=most).contains(place))
    }

    /// Adds `step` place by place; missing places count as zero. `None` if a place would be more than
    /// [`LARGEST_NUMBER`] away from zero.
    #[doc(hidden)]
    pub fn plus(&self, step: &Key) -> Option<Key> {
        let mut sum = *self;
        sum.length = self.length.max(step.length);
        for (place, by) in sum.places.iter_mut().zip(step.places()) {
            *place = place.checked_add(*by).filter(|sum| sum.unsigned_abs() <= LARGEST_NUMBER.unsigned_abs())?;
        }
        Some(sum)
    }
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        for at in 0..Key::PLACES {
            if self.places[at] != other.places[at] {
                return self.places[at].cmp(&other.places[at]);
            }
        }
        self.length.cmp(&other.length)
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

/// A key as a script gives it: each place is absolute, or relative to the same place of the running entry's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RelativeKey {
    key: Key,
    /// A bit for each place: set if the place is relative to the running entry.
    relative: u8,
}

impl RelativeKey {
    /// The largest distance of a relative place.
    pub const FARTHEST: i64 = 1_000_000_000;

    /// Creates a key with these places. `relative`: a bit for each place; a relative place is at most
    /// [`RelativeKey::FARTHEST`].
    pub fn new(places: &[i64], relative: u8) -> Result<RelativeKey, KeyError> {
        Ok(RelativeKey { key: Key::new(places)?, relative })
    }

    /// Parses a distance such as `+1` or `-2`. `None` if the text is no distance or is beyond
    /// [`RelativeKey::FARTHEST`].
    pub fn distance(text: &str) -> Option<i64> {
        let distance = text.parse::<i64>().ok().filter(|_| text.starts_with(['+', '-']));
        distance.filter(|distance| (-RelativeKey::FARTHEST..=RelativeKey::FARTHEST).contains(distance))
    }

    /// The key, if no place is relative.
    pub fn absolute(&self) -> Option<Key> {
        (self.relative == 0).then_some(self.key)
    }

    /// The absolute key for a running entry with the key `now`, which must be [near](Key::is_near).
    #[inline]
    pub fn from(&self, now: &Key) -> Key {
        let mut key = self.key;
        let mut left = self.relative;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            key.places[at] += now.places[at];
            left &= left - 1;
        }
        key
    }
}

/// A scheduled call: the script entry `what`, run for `owner` with `args`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Due {
    /// Name of the ruleset's agenda entry.
    pub what: Arc<str>,
    /// The owner. The entry is removed with it.
    pub owner: Option<EntityId>,
    /// The arguments of the entry's function.
    pub args: Value,
    /// The step to the key of the next occurrence. `None` if the entry does not recur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Box<Key>>,
}

/// One entry of the agenda. Copies of it, and its next occurrences, share the scheduled call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The id.
    pub id: EntryId,
    /// The time at which it is due: the entry with the smallest key comes first.
    pub key: Key,
    #[serde(flatten)]
    #[doc(hidden)]
    pub due: Arc<Due>,
    /// The number for scripts, if that is not the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[doc(hidden)]
    pub numbered: Option<DrawnNumber>,
}

impl Deref for Entry {
    type Target = Due;

    #[inline]
    fn deref(&self) -> &Due {
        &self.due
    }
}

impl Due {
    /// A copy that shares no text with others.
    #[doc(hidden)]
    pub fn apart(&self) -> Arc<Due> {
        Arc::new(Due { what: Arc::from(&*self.what), args: self.args.apart(), ..self.clone() })
    }
}

impl Entry {
    /// True if the key of the next occurrence would be invalid.
    #[inline]
    #[doc(hidden)]
    pub fn recurs_too_far(&self) -> bool {
        self.every.as_ref().is_some_and(|step| self.key.plus(step).is_none())
    }

    /// Creates an entry for [`crate::State::schedule`], which sets its id.
    #[inline]
    #[doc(hidden)]
    pub fn new(key: Key, due: Arc<Due>) -> Entry {
        Entry { id: EntryId(0), key, due, numbered: None }
    }

    /// The number by which rules, fields and viewers name it. It reveals nothing about secret entries.
    pub fn number(&self) -> u32 {
        self.numbered.map_or(self.id.0, |numbered| numbered.number)
    }
}

/// All scheduled entries, in order of key; entries with equal keys are in the order of their creation.
#[derive(Debug, Default, PartialEq)]
pub struct Agenda {
    /// In reverse order: the next entry is the last.
    entries: Vec<Entry>,
}

impl Clone for Agenda {
    fn clone(&self) -> Agenda {
        Agenda { entries: self.entries.clone() }
    }

    /// Like `clone`, but reuses the allocated memory.
    fn clone_from(&mut self, other: &Agenda) {
        self.entries.clone_from(&other.entries);
    }
}

impl Serialize for Agenda {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.entries())
    }
}

impl<'de> Deserialize<'de> for Agenda {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Agenda, D::Error> {
        let mut entries = Vec::deserialize(deserializer)?;
        entries.reverse();
        Ok(Agenda { entries })
    }
}

impl Agenda {
    /// The entries, in the order in which they are due.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter().rev()
    }

    /// The number of entries.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// The entries with the name and the key of an entry, including itself.
    pub fn tied_with(&self, entry: &Entry) -> impl Iterator<Item = &Entry> {
        let same_key =
            self.entries().skip_while(|other| other.key != entry.key).take_while(|other| other.key == entry.key);
        same_key.filter(|other| other.what == entry.what)
    }

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries().find(|entry| entry.id == id)
    }

    /// Inserts an entry at its place and returns a reference to it.
    #[inline]
    pub(super) fn insert(&mut self, entry: Entry) -> &Entry {
        let at = self.place(&entry.key, entry.id);
        self.entries.insert(at, entry);
        &self.entries[at]
    }

    /// The index of an entry in the list, or the index at which it would be inserted. A new one is mostly among the
    /// last few, which are checked first.
    #[inline]
    fn place(&self, key: &Key, id: EntryId) -> usize {
        const FEW: usize = 4;
        let is_later = |other: &Entry| other.key.cmp(key).then(other.id.cmp(&id)).is_gt();
        let (last, others) = self.entries.split_at(self.entries.len().min(FEW));
        match last.iter().position(|other| !is_later(other)) {
            Some(place) => place,
            None => last.len() + others.partition_point(is_later),
        }
    }

    /// Removes the entry with this key and id.
    fn take_at(&mut self, key: &Key, id: EntryId) -> Option<Entry> {
        let at = self.place(key, id);
        let found = self.entries.get(at).is_some_and(|entry| entry.id == id);
        found.then(|| self.entries.remove(at))
    }

    /// Undoes an [`Agenda::insert`]. The key of the entry must be unchanged.
    pub(super) fn take_back(&mut self, entry: &Entry) {
        self.take_at(&entry.key, entry.id);
    }

    /// Removes all entries that satisfy a condition. Returns them in order.
    pub(super) fn take_all(&mut self, wanted: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let mut taken: Vec<Entry> = self.entries.extract_if(.., |entry| wanted(entry)).collect();
        taken.reverse();
        taken
    }

    /// Changes the key of the entry with the key `from`.
    pub(super) fn rekey(&mut self, id: EntryId, from: &Key, to: Key) -> Option<&Entry> {
        let entry = self.take_at(from, id)?;
        Some(self.insert(Entry { key: to, ..entry }))
    }

    /// Makes copies of all shared texts.
    pub(super) fn set_apart(&mut self) {
        for entry in &mut self.entries {
            entry.due = entry.due.apart();
        }
    }

    /// Removes an entity from the arguments of all entries.
    pub(super) fn forget(&mut self, entity: EntityId) {
        for entry in &mut self.entries {
            if entry.args.any_entity(&|id| id == entity) {
                let due = Arc::make_mut(&mut entry.due);
                due.args = due.args.without_entity(entity);
            }
        }
    }

    /// Drops the next entry.
    #[inline]
    pub(super) fn drop_first(&mut self) {
        self.entries.truncate(self.entries.len().saturating_sub(1));
    }

    pub(super) fn take(&mut self, id: EntryId) -> Option<Entry> {
        let at = self.entries.iter().rposition(|entry| entry.id == id)?;
        Some(self.entries.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, key: &[i64]) -> Entry {
        let due = Due { what: "turn".into(), owner: None, args: Value::None, every: None };
        Entry { id: EntryId(id), ..Entry::new(Key::new(key).unwrap(), Arc::new(due)) }
    }

    #[test]
    fn keys_compare_place_by_place_and_missing_places_count_as_zero() {
        let key = |places: &[i64]| Key::new(places).unwrap();
        assert!(key(&[1, 2]) < key(&[1, 3]));
        assert!(key(&[1]) < key(&[1, 0]));
        assert!(key(&[1, -5]) < key(&[1]));
        assert!(key(&[2]) > key(&[1, 9, 9]));
        assert_eq!(Key::new(&[]), Err(KeyError::Length(0)));
    }

    #[test]
    fn a_place_counts_from_the_same_place_of_another_key_which_may_lack_it() {
        let now = Key::new(&[5, 7]).unwrap();
        let key = RelativeKey::new(&[-1, 3, 2], 0b101).unwrap();
        assert_eq!(key.from(&now), Key::new(&[4, 3, 2]).unwrap());
        assert_eq!(key.absolute(), None);
        assert!(now.is_near() && !Key::new(&[LARGEST_NUMBER]).unwrap().is_near());
    }

    #[test]
    fn entries_are_sorted_by_key_for_any_number_of_entries() {
        let mut agenda = Agenda::default();
        for id in 1..100 {
            agenda.insert(entry(id, &[i64::from(id * 37 % 50)]));
        }
        let order: Vec<(Key, EntryId)> = agenda.entries().map(|entry| (entry.key, entry.id)).collect();
        assert!(order.is_sorted() && order.len() == 99);
        for (key, id) in order {
            assert_eq!(agenda.take_at(&key, id).map(|entry| entry.id), Some(id));
        }
    }

    #[test]
    fn entries_with_equal_keys_leave_in_order_of_creation() {
        let mut agenda = Agenda::default();
        for id in [3, 1, 2] {
            agenda.insert(entry(id, &[7]));
        }
        agenda.insert(entry(4, &[6]));
        let order: Vec<u32> = agenda.entries().map(|entry| entry.id.0).collect();
        assert_eq!(order, [4, 1, 2, 3]);
    }
}
