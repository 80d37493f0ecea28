use std::sync::Arc;

use super::recording::Root;
use super::traces::Table;
use crate::state::{EntityId, Value};

/// The roots that one thread has found last, each in the one place where it can stand: a direct-mapped cache in front of the
/// table of all trees, like a translation lookaside buffer.
///
/// Names are mostly compared by where they lie in memory. The places are chosen by that as well, and a root may stand in two.
#[derive(Debug)]
pub(super) struct RootCache {
    places: Vec<Option<(Root, u32)>>,
    /// How often the table had dropped trees when all of this was right.
    dropped: u64,
}

/// Places of the cache, as a power of 2.
const BITS: u32 = 10;

impl Default for RootCache {
    fn default() -> RootCache {
        RootCache { places: vec![None; 1 << BITS], dropped: 0 }
    }
}

impl RootCache {
    /// The first node of the tree of a root, if there is one.
    #[inline]
    pub fn find(
        &mut self,
        (what, owner, args): (&Arc<str>, Option<EntityId>, &Value),
        hashes: (u64, u64),
        table: &Table,
    ) -> Option<u32> {
        if self.dropped != table.dropped() {
            self.places.fill(None);
            self.dropped = table.dropped();
        }
        let owned = owner.map_or(0, |owner| u64::from(owner.0) + 1);
        let given = match args {
            Value::Int(n) => *n as u64,
            Value::List(items) => items.as_ptr() as u64,
            Value::Map(items) => Arc::as_ptr(items) as u64,
            _ => 0,
        };
        let mixed = what.as_ptr() as u64 ^ owned.rotate_left(40) ^ given.rotate_left(20);
        let place = (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize;
        if let Some((root, first)) = &self.places[place]
            && root.is(what, owner, args, hashes)
        {
            return Some(*first);
        }
        let first = table.tree((what, owner, args), hashes)?;
        let (what, args, (population, attachments)) = (what.clone(), args.clone(), hashes);
        self.places[place] = Some((Root { what, owner, args, population, attachments }, first));
        Some(first)
    }
}
