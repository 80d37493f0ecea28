use super::packed::{Packed, Pool};
use super::step::Step;
use crate::state::State;

/// What the fields of a state hold, packed, as far as it was asked for: so that following a lesson compares numbers that lie
/// side by side.
///
/// Whoever writes to the state says so here; a state that has changed in any other way is read again.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// By entity and field; [`Packed::UNKNOWN`] where nobody asked.
    now: Vec<Packed>,
    /// Which state it is, and how far it had moved when all of this was right.
    identity: u64,
    moves: u64,
    /// How all games begin, if they begin alike: how far the state has moved by then, its ids, and what it holds.
    opening: Option<(u64, u32)>,
    first: Vec<Packed>,
    /// What is not known yet is as it was at the beginning.
    follows_opening: bool,
}

/// Places of an entity. What lies in others is read from the state.
const FIELDS: usize = 64;

impl Standing {
    /// `opening`: the state at which all games begin.
    pub fn new(opening: Option<&State>) -> Standing {
        Standing { opening: opening.map(|state| (state.moves(), state.ids())), ..Standing::default() }
    }

    /// The same for another pool.
    pub fn of_other_values(self) -> Standing {
        Standing { opening: self.opening, ..Standing::default() }
    }

    #[inline]
    fn slot(step: Step) -> Option<usize> {
        let field = step.place().0 as usize;
        (field < FIELDS).then_some(step.entity().0 as usize * FIELDS + field)
    }

    /// From here on it is asked for the fields of this state.
    #[inline]
    pub fn turn_to(&mut self, state: &State) {
        if self.identity == state.identity() && self.moves == state.moves() {
            return;
        }
        self.follows_opening = self.opening.is_some_and(|(moves, _)| moves == state.moves());
        match self.follows_opening {
            true => self.now.clone_from(&self.first),
            false => self.now.clear(),
        }
        self.identity = state.identity();
        self.moves = state.moves();
    }

    /// All that has changed in the state since it was turned to has been said here.
    pub fn keep_up(&mut self, state: &State) {
        self.moves = state.moves();
    }

    /// What a field holds; nothing if the entity is gone.
    #[inline]
    pub fn find(&mut self, step: Step, state: &State, pool: &mut Pool) -> Option<Packed> {
        match Standing::slot(step).and_then(|slot| self.now.get(slot)).copied() {
            Some(found) if found != Packed::UNKNOWN => {
                debug_assert_eq!(Some(found), packed(step, state, pool));
                Some(found)
            }
            _ => self.read(step, state, pool),
        }
    }

    #[cold]
    fn read(&mut self, step: Step, state: &State, pool: &mut Pool) -> Option<Packed> {
        let found = packed(step, state, pool)?;
        self.set(step, found);
        let was_there = self.opening.is_some_and(|(_, ids)| step.entity().0 <= ids);
        if let Some(slot) = Standing::slot(step).filter(|_| self.follows_opening && was_there) {
            put(&mut self.first, slot, found);
        }
        Some(found)
    }

    /// A field holds something else.
    #[inline]
    pub fn set(&mut self, step: Step, to: Packed) {
        if let Some(slot) = Standing::slot(step) {
            put(&mut self.now, slot, to);
        }
    }

    /// Something has changed, nobody says to what.
    pub fn lose(&mut self) {
        self.identity = 0;
    }
}

/// What the state holds.
fn packed(step: Step, state: &State, pool: &mut Pool) -> Option<Packed> {
    let value = state.field(step.entity(), step.place())?;
    Some(pool.pack(value).unwrap_or(Packed::LARGE))
}

#[inline]
fn put(list: &mut Vec<Packed>, slot: usize, value: Packed) {
    if list.len() <= slot {
        list.resize(slot + 1, Packed::UNKNOWN);
    }
    list[slot] = value;
}
