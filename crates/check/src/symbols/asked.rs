//! Which names the check of a file looks up in the symbol table, so that it is repeated only if they have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Mutex, PoisonError};

/// A part of the symbol table that is looked at as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Collection {
    /// Known names.
    Given,
    /// Names that are read, with their number.
    Read,
    /// Keys of tables and assigned names.
    Own,
    /// Texts in scripts.
    Texts,
    /// Parts of texts in data files.
    Said,
    /// Ids of cards, items and options.
    Ids,
    /// Topics of questions.
    Topics,
    /// Members with the name of their owner.
    Paths,
    /// The keys of each table.
    Tables,
    /// Attached hooks.
    Attached,
    /// Whether the members of `ctx` are known.
    Context,
    /// The dice in texts.
    Dice,
}

/// The names that were looked up since the last [`AskedNames::take`], as hashes: if two names have the same hash, a file
/// is checked once more than necessary.
#[derive(Debug, Default)]
pub(crate) struct AskedNames(Mutex<BTreeSet<u64>>);

/// The names about which two symbol tables answer differently, as the same hashes.
#[derive(Debug, Default)]
pub(crate) struct ChangedNames(BTreeSet<u64>);

/// A copy of a table has its own lookups.
impl Clone for AskedNames {
    fn clone(&self) -> AskedNames {
        AskedNames::default()
    }
}

impl AskedNames {
    /// Notes the lookup of a name.
    pub fn note(&self, name: &str) {
        self.insert(hash(&name));
    }

    /// Notes that whole collections are looked at.
    pub fn note_all(&self, collections: impl IntoIterator<Item = Collection>) {
        collections.into_iter().for_each(|collection| self.insert(hash(&collection)));
    }

    /// Removes all lookups and returns them.
    pub fn take(&self) -> BTreeSet<u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn insert(&self, hash: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(hash);
    }
}

impl ChangedNames {
    /// Adds a name.
    pub fn note(&mut self, name: &str) {
        self.0.insert(hash(&name));
    }

    /// Whether one of the names was looked up.
    pub fn concern(&self, asked: &BTreeSet<u64>) -> bool {
        self.0.iter().any(|name| asked.contains(name))
    }

    /// Adds the names that only one of two sets has, and the collection if there are any.
    pub fn in_set(&mut self, one: &BTreeSet<String>, other: &BTreeSet<String>, of: Option<Collection>) {
        one.symmetric_difference(other).for_each(|name| self.note(name));
        self.note_collection(one != other, of);
    }

    /// Adds the names with different values in two maps, and the collection if there are any.
    pub fn in_map<V: PartialEq>(
        &mut self,
        one: &BTreeMap<String, V>,
        other: &BTreeMap<String, V>,
        of: Option<Collection>,
    ) {
        self.in_map_by(one, other, |name| name);
        self.note_collection(one != other, of);
    }

    /// Adds the names in the keys with different values in two maps.
    pub fn in_map_by<K: Ord, V: PartialEq>(
        &mut self,
        one: &BTreeMap<K, V>,
        other: &BTreeMap<K, V>,
        name: impl Fn(&K) -> &str,
    ) {
        let (mut ones, mut others) = (one.iter().peekable(), other.iter().peekable());
        loop {
            match (ones.peek(), others.peek()) {
                (Some((key, value)), Some((same, now))) if key == same => {
                    if value != now {
                        self.note(name(key));
                    }
                    ones.next();
                    others.next();
                }
                (Some((key, _)), Some((later, _))) if key < later => {
                    self.note(name(key));
                    ones.next();
                }
                (_, Some((key, _))) => {
                    self.note(name(key));
                    others.next();
                }
                (Some((key, _)), None) => {
                    self.note(name(key));
                    ones.next();
                }
                (None, None) => return,
            }
        }
    }

    /// Adds a collection if two values of it differ.
    pub fn if_differ<T: PartialEq>(&mut self, one: &T, other: &T, of: Collection) {
        if one != other {
            self.0.insert(hash(&of));
        }
    }

    fn note_collection(&mut self, differs: bool, of: Option<Collection>) {
        if differs {
            self.0.extend(of.map(|of| hash(&of)));
        }
    }
}

fn hash(of: &impl std::hash::Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, usize)]) -> BTreeMap<String, usize> {
        entries.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect()
    }

    #[test]
    fn a_file_is_concerned_by_the_names_that_it_has_asked_for() {
        let asked = |names: &[&str]| {
            let log = AskedNames::default();
            names.iter().for_each(|name| log.note(name));
            log.take()
        };
        let mut changed = ChangedNames::default();
        let (one, other) = (map(&[("a", 1), ("b", 1), ("c", 2)]), map(&[("b", 2), ("c", 2), ("d", 1)]));
        changed.in_map(&one, &other, None);
        for (names, is_concerned) in [(&["a"][..], true), (&["b"], true), (&["d"], true), (&["c", "e"], false)] {
            assert_eq!(changed.concern(&asked(names)), is_concerned, "{names:?}");
        }
    }

    #[test]
    fn a_collection_has_changed_if_one_of_its_names_has() {
        let log = AskedNames::default();
        log.note_all([Collection::Read]);
        let asked = log.take();
        assert!(log.take().is_empty());
        let (mut changed, known) = (ChangedNames::default(), map(&[("a", 1)]));
        changed.in_map(&known, &known, Some(Collection::Read));
        assert!(!changed.concern(&asked));
        changed.in_map(&known, &map(&[("a", 2)]), Some(Collection::Texts));
        assert!(!changed.concern(&asked));
        changed.in_map(&map(&[]), &known, Some(Collection::Read));
        assert!(changed.concern(&asked));
    }
}
