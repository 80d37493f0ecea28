use std::sync::Arc;

use super::FUNCTION;
use super::traces::TraceTable;
use riskbreaker_state::{EntryId, Value};

/// One thread's cache of the roots of entries that replays have scheduled. It saves the look-up by name, owner and arguments.
#[derive(Debug)]
pub(super) struct RootCache {
    /// The entries that were scheduled last, each in the one place where its number can stand, with the number that the table has
    /// for what is due.
    scheduled: [(EntryId, u32); PLACES],
    /// The entry that was looked up last of those that recur: where its tree begins, and the hashes.
    recurring: (EntryId, (u64, u64), u32),
    /// The same for the entries with which all games begin, by their numbers, which are the same in all games.
    opening: Vec<Option<((u64, u64), u32)>>,
    /// By the number of what is due: where its tree begins, and the hashes of who was there and what was attached then.
    trees: Vec<Option<((u64, u64), u32)>>,
    /// Functions that only read, by where their names lie in memory: where their trees begin, and the hashes.
    functions: Vec<(Arc<str>, (u64, u64), u32)>,
    /// How often the table had dropped trees when all of this was right.
    dropped: u64,
}

/// Entries that it keeps, a power of 2.
const PLACES: usize = 256;

/// Functions that it keeps.
const MOST_FUNCTIONS: usize = 16;

/// No entry has this number.
const NO_ENTRY: EntryId = EntryId(0);

impl Default for RootCache {
    fn default() -> RootCache {
        RootCache {
            scheduled: [(NO_ENTRY, 0); PLACES],
            recurring: (NO_ENTRY, (0, 0), 0),
            opening: Vec::new(),
            trees: Vec::new(),
            functions: Vec::new(),
            dropped: 0,
        }
    }
}

impl RootCache {
    /// All games begin with entries of numbers up to this one.
    pub fn new(last: u32) -> RootCache {
        RootCache { opening: vec![None; last as usize + 1], ..RootCache::default() }
    }

    /// Forgets the entries: those of another game have the same numbers.
    pub fn forget_entries(&mut self) {
        self.scheduled.fill((NO_ENTRY, 0));
        self.recurring.0 = NO_ENTRY;
    }

    /// Notes the first node of the tree of an entry whose root names fixed entities alone, if it will be asked for again.
    pub fn note_entry(&mut self, entry: EntryId, recurs: bool, hashes: (u64, u64), first: u32, table: &TraceTable) {
        self.forget_dropped(table);
        if let Some(opening) = self.opening.get_mut(entry.0 as usize) {
            *opening = Some((hashes, first));
        } else if recurs {
            self.recurring = (entry, hashes, first);
        }
    }

    /// An entry that recurs was put on the agenda again, as another one.
    #[inline]
    pub fn recur(&mut self, entry: EntryId, next: EntryId) {
        if self.recurring.0 == entry {
            self.recurring.0 = next;
        }
    }

    /// The first node of the tree of an entry, if it was noted.
    pub fn entry(&self, entry: EntryId, hashes: (u64, u64), table: &TraceTable) -> Option<u32> {
        let (known, first) = match self.opening.get(entry.0 as usize) {
            Some(opening) => (*opening)?,
            None if self.recurring.0 == entry => (self.recurring.1, self.recurring.2),
            None => return None,
        };
        (known == hashes && self.dropped == table.dropped()).then_some(first)
    }

    /// A replay has scheduled an entry. `root`: the number of what is due, where it names fixed entities alone.
    #[inline]
    pub fn schedule(&mut self, entry: EntryId, root: u32) {
        self.scheduled[entry.0 as usize % PLACES] = (entry, root);
    }

    /// The number of what is due with an entry, if a replay has scheduled it.
    #[inline]
    pub fn root(&self, entry: EntryId) -> Option<u32> {
        let (known, root) = self.scheduled[entry.0 as usize % PLACES];
        (known == entry).then_some(root)
    }

    /// The first node of the tree of what is due, if it was noted.
    #[inline]
    pub fn tree(&self, root: u32, hashes: (u64, u64), table: &TraceTable) -> Option<u32> {
        let (known, first) = (*self.trees.get(root as usize)?)?;
        (known == hashes && self.dropped == table.dropped()).then_some(first)
    }

    /// Notes the first node of the tree of what is due.
    pub fn note(&mut self, root: u32, hashes: (u64, u64), first: u32, table: &TraceTable) {
        self.forget_dropped(table);
        let root = root as usize;
        if self.trees.len() <= root {
            self.trees.resize(root + 1, None);
        }
        self.trees[root] = Some((hashes, first));
    }

    /// The first node of the tree of a function that only reads, if there is one.
    pub fn function(
        &mut self,
        name: &Arc<str>,
        is_result: bool,
        hashes: (u64, u64),
        table: &TraceTable,
    ) -> Option<u32> {
        self.forget_dropped(table);
        let place = self.functions.iter().position(|(known, ..)| Arc::ptr_eq(known, name));
        if let Some((_, known, first)) = place.map(|place| &self.functions[place])
            && *known == hashes
        {
            return Some(*first);
        }
        let first = table.tree((name, FUNCTION, &Value::Bool(is_result)), hashes)?;
        match place {
            Some(place) => (self.functions[place].1, self.functions[place].2) = (hashes, first),
            None if self.functions.len() < MOST_FUNCTIONS => self.functions.push((name.clone(), hashes, first)),
            None => {}
        }
        Some(first)
    }

    fn forget_dropped(&mut self, table: &TraceTable) {
        if self.dropped != table.dropped() {
            self.trees.clear();
            self.functions.clear();
            self.recurring.0 = NO_ENTRY;
            self.opening.fill(None);
            self.dropped = table.dropped();
        }
    }
}
