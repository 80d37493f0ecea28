use std::sync::Arc;

use super::recording::FUNCTION;
use super::traces::TraceTable;
use riskbreaker_state::{EntryId, Value};

/// One thread's cache of the roots of entries that replays have scheduled. It saves looking them up by name, owner and
/// arguments.
#[derive(Debug)]
pub(crate) struct RootCache {
    /// Entries scheduled last, each at its index modulo [`PLACES`], with the table's number for the scheduled call
    /// (name, owner, arguments).
    scheduled: [(EntryId, u32); PLACES],
    /// The recurring entry that was looked up last, with the hashes and the first node of its tree.
    recurring: (EntryId, (u64, u64), u32),
    /// The entries with which all games begin, by entry number: the hashes, and the first node of their trees.
    opening: Vec<Option<((u64, u64), u32)>>,
    /// The scheduled calls, by their number in the table: the hashes, and the first node of their trees.
    trees: Vec<Option<((u64, u64), u32)>>,
    /// Read-only functions, identified by the address of their name: the hashes, and the first node of their trees.
    functions: Vec<(Arc<str>, (u64, u64), u32)>,
    /// The table's count of dropped trees when the cache was filled.
    dropped: u64,
}

/// The number of scheduled entries in the cache, a power of 2.
const PLACES: usize = 256;

/// The most functions in the cache.
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
    /// Creates a cache. `last`: the largest number of an entry with which all games begin.
    pub fn new(last: u32) -> RootCache {
        RootCache { opening: vec![None; last as usize + 1], ..RootCache::default() }
    }

    /// Forgets the entries, since entries of another game have the same numbers.
    pub fn forget_entries(&mut self) {
        self.scheduled.fill((NO_ENTRY, 0));
        self.recurring.0 = NO_ENTRY;
    }

    /// Stores the first node of the tree of an entry, if it will be looked up again. The root must contain only fixed
    /// entities.
    pub fn note_entry(&mut self, entry: EntryId, recurs: bool, hashes: (u64, u64), first: u32, table: &TraceTable) {
        self.forget_dropped(table);
        if let Some(opening) = self.opening.get_mut(entry.0 as usize) {
            *opening = Some((hashes, first));
        } else if recurs {
            self.recurring = (entry, hashes, first);
        }
    }

    /// Replaces the number of a recurring entry that was scheduled again.
    #[inline]
    pub fn recur(&mut self, entry: EntryId, next: EntryId) {
        if self.recurring.0 == entry {
            self.recurring.0 = next;
        }
    }

    /// The first node of the tree of an entry, if it is in the cache.
    pub fn entry(&self, entry: EntryId, hashes: (u64, u64), table: &TraceTable) -> Option<u32> {
        let (known, first) = match self.opening.get(entry.0 as usize) {
            Some(opening) => (*opening)?,
            None if self.recurring.0 == entry => (self.recurring.1, self.recurring.2),
            None => return None,
        };
        (known == hashes && self.dropped == table.dropped()).then_some(first)
    }

    /// Stores an entry scheduled by a replay. `root`: the number of the scheduled call, which contains only fixed
    /// entities.
    #[inline]
    pub fn schedule(&mut self, entry: EntryId, root: u32) {
        self.scheduled[entry.0 as usize % PLACES] = (entry, root);
    }

    /// The number of an entry's scheduled call, if a replay has scheduled it.
    #[inline]
    pub fn root(&self, entry: EntryId) -> Option<u32> {
        let (known, root) = self.scheduled[entry.0 as usize % PLACES];
        (known == entry).then_some(root)
    }

    /// The first node of the tree of a scheduled call, if it is in the cache.
    #[inline]
    pub fn tree(&self, root: u32, hashes: (u64, u64), table: &TraceTable) -> Option<u32> {
        let (known, first) = (*self.trees.get(root as usize)?)?;
        (known == hashes && self.dropped == table.dropped()).then_some(first)
    }

    /// Stores the first node of the tree of a scheduled call.
    pub fn note(&mut self, root: u32, hashes: (u64, u64), first: u32, table: &TraceTable) {
        self.forget_dropped(table);
        let root = root as usize;
        if self.trees.len() <= root {
            self.trees.resize(root + 1, None);
        }
        self.trees[root] = Some((hashes, first));
    }

    /// The first node of the tree of a read-only function, if there is one.
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
