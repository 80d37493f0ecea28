use super::guard::Guard;
use super::numbering::Numbering;
use super::tagged::{Interner, Tagged};
use crate::state::{FieldId, State};

/// A cache of the fields that were read, as tagged values. Following a trace then compares numbers that are side by side.
///
/// It holds fixed entities only. Whoever writes to the state says so here; a state that has changed in any other way is read
/// again.
#[derive(Debug, Default)]
pub(super) struct FieldCache {
    /// By the place of the field; [`Tagged::UNKNOWN`] where nobody asked.
    now: Vec<Tagged>,
    /// Identity of the state, and its count of changes when all of this was right.
    identity: u64,
    moves: u64,
    /// The state at which all games begin, if they begin alike: its count of changes, its ids, and its fields.
    opening: Option<u64>,
    first: Vec<Tagged>,
    /// Whether fields that are not known yet are as they were at the beginning.
    follows_opening: bool,
    /// What queries about fixed entities have found, by the number of the query, and the count of writes by then.
    answers: Vec<(u64, Tagged)>,
    /// How often a field was written, and by field id how often it was by the last time, whatever the entity.
    writes: u64,
    written: Vec<u64>,
    /// The count of writes when answers from before were last forgotten, and who was there.
    forgotten: u64,
    population: u64,
}

impl FieldCache {
    /// `opening`: the state at which all games begin; `fields`: how many its entities have together.
    pub fn new(opening: Option<&State>, fields: usize) -> FieldCache {
        let unknown = vec![Tagged::UNKNOWN; fields];
        FieldCache { opening: opening.map(State::moves), now: unknown.clone(), first: unknown, ..FieldCache::default() }
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
            false => self.now.fill(Tagged::UNKNOWN),
        }
        self.identity = state.identity();
        self.moves = state.moves();
        self.forget_answers();
    }

    /// Notes who is there of the fixed entities, by a hash.
    #[inline]
    pub fn note_population(&mut self, population: u64) {
        if self.population != population {
            self.population = population;
            self.forget_answers();
        }
    }

    fn forget_answers(&mut self) {
        self.writes += 1;
        self.forgotten = self.writes;
    }

    /// The result of a query that depends on this field of fixed entities and on which of them exist. The query runs again only
    /// when one of them was written.
    #[inline]
    pub fn answer(&mut self, query: usize, field: FieldId, ask: impl FnOnce() -> Option<Tagged>) -> Option<Tagged> {
        let since = self.written.get(field.0 as usize).copied().unwrap_or_default().max(self.forgotten);
        if let Some((asked, found)) = self.answers.get(query)
            && *asked >= since
        {
            debug_assert_eq!(ask(), Some(*found));
            return Some(*found);
        }
        let found = ask()?;
        if self.answers.len() <= query {
            self.answers.resize(query + 1, (0, Tagged::UNKNOWN));
        }
        self.answers[query] = (self.writes, found);
        Some(found)
    }

    /// Notes that every change of the state since [`FieldCache::turn_to`] has been passed to [`FieldCache::set`].
    #[inline]
    pub fn keep_up(&mut self, state: &State) {
        self.moves = state.moves();
    }

    /// The value of a field; nothing if the entity is gone.
    #[inline]
    pub fn find(&mut self, field: Guard, state: &State, interner: &Interner, numbering: &Numbering) -> Option<Tagged> {
        match self.now.get(field.place()).copied() {
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
        if let Some(now) = self.now.get_mut(field.place()) {
            *now = found;
            if is_first && self.follows_opening {
                self.first[field.place()] = found;
            }
        }
        Some(found)
    }

    /// Whether this is a field of a fixed entity that is known to hold a value.
    #[inline]
    pub fn holds(&self, field: Guard, value: Tagged) -> bool {
        self.now.get(field.place()) == Some(&value)
    }

    /// A field of a fixed entity has another value now. `which`: the id of the field.
    #[inline]
    pub fn set(&mut self, field: Guard, which: FieldId, to: Tagged) {
        self.writes += 1;
        let which = which.0 as usize;
        if self.written.len() <= which {
            self.written.resize(which + 1, 0);
        }
        self.written[which] = self.writes;
        if let Some(now) = self.now.get_mut(field.place()) {
            *now = to;
        }
    }
}

fn tagged(field: Guard, state: &State, interner: &Interner, numbering: &Numbering) -> Option<Tagged> {
    let (entity, field) = numbering.field(field);
    let value = state.field(entity, field)?;
    if numbering.concerns(value) {
        return Some(Tagged::NUMBERED);
    }
    Some(interner.known(value).unwrap_or(Tagged::FOREIGN))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_query_is_asked_again_when_its_field_was_written_or_somebody_came_or_went() {
        let mut cache = FieldCache::new(None, 4);
        let [one, two, three, four] = [1, 2, 3, 4].map(Tagged::place);
        let field = |field| (Guard::fixed(u32::from(field)).expect("it fits"), FieldId(field));
        let set = |cache: &mut FieldCache, which| cache.set(field(which).0, field(which).1, one);
        let answers = |cache: &mut FieldCache, found| assert_eq!(cache.answer(7, FieldId(2), || found), found);
        answers(&mut cache, Some(one));
        set(&mut cache, 2);
        answers(&mut cache, Some(two));
        set(&mut cache, 3);
        answers(&mut cache, Some(two));
        cache.note_population(5);
        answers(&mut cache, Some(three));
        cache.note_population(5);
        answers(&mut cache, Some(three));
        cache.turn_to(&State::new());
        answers(&mut cache, Some(four));
    }
}
