//! How the files of a ruleset use functions, derived values, verbs and lists.

use std::collections::{BTreeMap, BTreeSet};

use crate::symbols::asked::ChangedNames;
use crate::symbols::card_functions::CardFunction;

/// How the files use functions, derived values, verbs and lists. Specs do not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsesInFiles {
    /// How the results of functions of the ruleset and of derived values are used, by the function.
    pub results: BTreeMap<String, ResultUses>,
    /// The words that derived values give, by their names, if all of them are written down.
    pub derived_words: BTreeMap<String, BTreeSet<String>>,
    /// The names that the functions of derived values read off their entity, by the derived value.
    pub derived_reads: BTreeMap<String, BTreeSet<String>>,
    /// Verbs around which a hook runs.
    pub wrapped: BTreeSet<String>,
    /// Verbs after which a hook runs.
    pub followed: BTreeSet<String>,
    /// The lists of texts that scripts write down, without repetitions.
    pub text_lists: BTreeSet<BTreeSet<String>>,
    /// The members that files of cards read off `ctx` or assign there, with the files. No look-up of a script depends on them, nor
    /// on the two below.
    pub context_reads: BTreeMap<String, BTreeSet<String>>,
    /// The files that give a table of their own a member of a name, or assign one.
    pub writers: BTreeMap<String, BTreeSet<String>>,
    /// The functions of the cards in a file, by the path of the file and the key of the function.
    pub card_functions: BTreeMap<String, BTreeMap<String, CardFunction>>,
}

impl UsesInFiles {
    /// Adds the uses in other files.
    pub fn merge(&mut self, other: &UsesInFiles) {
        for (name, uses) in &other.results {
            self.results.entry(name.clone()).or_default().add(*uses);
        }
        add_sets(&mut self.derived_reads, &other.derived_reads);
        self.wrapped.extend(other.wrapped.iter().cloned());
        self.followed.extend(other.followed.iter().cloned());
        self.text_lists.extend(other.text_lists.iter().cloned());
        add_sets(&mut self.context_reads, &other.context_reads);
        add_sets(&mut self.writers, &other.writers);
        self.card_functions.extend(other.card_functions.iter().map(|(file, of)| (file.clone(), of.clone())));
    }

    /// Notes the names about which these uses and the last ones differ.
    pub fn note_changes(&self, last: &UsesInFiles, changed: &mut ChangedNames) {
        changed.in_map(&last.results, &self.results, None);
        changed.in_map(&last.derived_words, &self.derived_words, None);
        changed.in_map(&last.derived_reads, &self.derived_reads, None);
        changed.in_set(&last.wrapped, &self.wrapped, None);
        changed.in_set(&last.followed, &self.followed, None);
        for word in last.text_lists.symmetric_difference(&self.text_lists).flatten() {
            changed.note(&name_of_list(word));
        }
    }
}

/// Adds the names of further sets, by their keys.
pub(crate) fn add_sets<K: Clone + Ord>(sets: &mut BTreeMap<K, BTreeSet<String>>, more: &BTreeMap<K, BTreeSet<String>>) {
    for (key, names) in more {
        sets.entry(key.clone()).or_default().extend(names.iter().cloned());
    }
}

/// How the results of a function are used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ResultUses {
    /// How many calls are tested: in a condition, in a comparison, or before `or`.
    pub tested: i64,
    /// How many results are used otherwise. A result that is dropped or returned is not counted.
    pub untested: i64,
}

impl ResultUses {
    /// Adds further uses.
    pub fn add(&mut self, other: ResultUses) {
        self.tested += other.tested;
        self.untested += other.untested;
    }
}

/// The name under which a look-up of the lists with a word is noted.
pub(crate) fn name_of_list(word: &str) -> String {
    format!("a list with {word}")
}
