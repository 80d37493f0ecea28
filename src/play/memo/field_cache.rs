use super::guard::Guard;
use super::numbering::{Numbering, is_number};
use super::tagged::{Interner, Tagged};
use crate::state::State;

/// Fields of the state as tagged values, as far as they were asked for, so that following a trace compares numbers that lie
/// side by side.
///
/// It holds fixed entities only. Whoever writes to the state says so here; a state that has changed in any other way is read again.
#[derive(Debug, Default)]
pub(super) struct FieldCache {
    /// By entity and field; [`Tagged::UNKNOWN`] where nobody asked.
    now: Vec<Tagged>,
    /// Identity of the state, and its count of changes when all of this was right.
    identity: u64,
    moves: u64,
    /// The state at which all games begin, if they begin alike: its count of changes, its ids, and its fields.
    opening: Option<u64>,
    first: Vec<Tagged>,
    /// Whether fields that are not known yet are as they were at the beginning.
    follows_opening: bool,
}

/// Fields of an entity that are cached. Others are read from the state.
const FIELDS: usize = 64;

impl FieldCache {
    /// `opening`: the state at which all games begin.
    pub fn new(opening: Option<&State>) -> FieldCache {
        FieldCache { opening: opening.map(State::moves), ..FieldCache::default() }
    }

    #[inline]
    fn slot(field: Guard) -> Option<usize> {
        let place = field.field_id().0 as usize;
        (place < FIELDS).then_some(field.entity().0 as usize * FIELDS + place)
    }

    /// Makes the cache one of this state.
    #[inline]
    pub fn turn_to(&mut self, state: &State) {
        if self.identity == state.identity() && self.moves == state.moves() {
            return;
        }
        self.follows_opening = self.opening.is_some_and(|moves| moves == state.moves());
        match self.follows_opening {
            true => self.now.clone_from(&self.first),
            false => self.now.clear(),
        }
        self.identity = state.identity();
        self.moves = state.moves();
    }

    /// Notes that every change of the state since [`FieldCache::turn_to`] has been passed to [`FieldCache::set`].
    #[inline]
    pub fn keep_up(&mut self, state: &State) {
        self.moves = state.moves();
    }

    /// The value of a field; nothing if the entity is gone.
    #[inline]
    pub fn find(&mut self, field: Guard, state: &State, interner: &Interner, numbering: &Numbering) -> Option<Tagged> {
        match FieldCache::slot(field).and_then(|slot| self.now.get(slot)).copied() {
            None | Some(Tagged::UNKNOWN) => self.read(field, state, interner, numbering, true),
            Some(Tagged::STALE) => self.read(field, state, interner, numbering, false),
            Some(found) => {
                debug_assert_eq!(Some(found), tagged(field, state, interner, numbering));
                Some(found)
            }
        }
    }

    #[cold]
    fn read(
        &mut self,
        field: Guard,
        state: &State,
        interner: &Interner,
        numbering: &Numbering,
        is_first: bool,
    ) -> Option<Tagged> {
        let found = tagged(field, state, interner, numbering)?;
        if found == Tagged::FOREIGN {
            // A later trace may know it.
            return Some(found);
        }
        self.set(field, found);
        if let Some(slot) = FieldCache::slot(field).filter(|_| is_first && self.follows_opening) {
            put(&mut self.first, slot, found);
        }
        Some(found)
    }

    /// Whether a field of a fixed entity is known to hold a value.
    #[inline]
    pub fn holds(&self, field: Guard, value: Tagged) -> bool {
        !is_number(field.entity()) && FieldCache::slot(field).and_then(|slot| self.now.get(slot)) == Some(&value)
    }

    /// A field has another value now.
    #[inline]
    pub fn set(&mut self, field: Guard, to: Tagged) {
        if let Some(slot) = FieldCache::slot(field) {
            put(&mut self.now, slot, to);
        }
    }
}

fn tagged(field: Guard, state: &State, interner: &Interner, numbering: &Numbering) -> Option<Tagged> {
    let value = state.field(field.entity(), field.field_id())?;
    if numbering.concerns(value) {
        return Some(Tagged::NUMBERED);
    }
    Some(interner.known(value).unwrap_or(Tagged::FOREIGN))
}

#[inline]
fn put(list: &mut Vec<Tagged>, slot: usize, value: Tagged) {
    if list.len() <= slot {
        list.resize(slot + 1, Tagged::UNKNOWN);
    }
    list[slot] = value;
}
