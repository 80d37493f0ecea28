use super::guard::Guard;
use super::numbering::EntityNumbering;
use super::query::Query;
use super::tagged::{Interner, PackedValue};
use riskbreaker_state::{State, Value};

/// A write-back cache of the fields of fixed entities, and of the results of queries about them, as packed values. A
/// replay then compares numbers that are adjacent in memory, and a field that is written repeatedly goes to the state
/// once.
///
/// A slot holds a field, at its index in [`EntityNumbering`], or a query; queries follow after all fields. Every write
/// of a script or a replay is passed to the cache. If the state has changed in another way, the cache is read again.
#[derive(Debug, Default)]
pub(crate) struct FieldCache {
    /// Values by slot; [`PackedValue::UNKNOWN`] if not read yet.
    now: Vec<PackedValue>,
    /// The number of slots that are fields.
    fields: usize,
    /// Flags by field: [`DIRTY`], [`WATCHED`].
    marks: Vec<u8>,
    /// Fields that have become dirty; some of them may be clean again.
    dirty: Vec<Guard>,
    /// By field: the queries whose result depends on it.
    watchers: Vec<Vec<QueryWatcher>>,
    /// The identity of the state.
    identity: u64,
    /// The state's count of changes when the cache was last up to date.
    moves: u64,
    /// The change count of the initial state, if all games begin alike.
    opening: Option<u64>,
    /// The field values of the initial state, by slot.
    first: Vec<PackedValue>,
    /// True if unknown fields still have their values from the beginning of the game.
    follows_opening: bool,
    /// A hash of the fixed entities that exist.
    population: u64,
}

/// A query for fields with a given value.
#[derive(Clone, Copy, Debug)]
struct QueryWatcher {
    slot: u32,
    /// The bit for the field in the result of the query.
    bit: u32,
    wanted: PackedValue,
}

/// The field was not written to the state yet.
const DIRTY: u8 = 1;
/// Queries depend on the field.
const WATCHED: u8 = 2;

impl FieldCache {
    /// Creates a cache. `opening`: the state at which all games begin, if they begin alike; `fields`: the number of
    /// fields of its entities.
    pub fn new(opening: Option<&State>, fields: usize) -> FieldCache {
        let unknown = vec![PackedValue::UNKNOWN; fields];
        FieldCache {
            fields,
            opening: opening.map(State::moves),
            now: unknown.clone(),
            first: unknown,
            marks: vec![0; fields],
            watchers: vec![Vec::new(); fields],
            ..FieldCache::default()
        }
    }

    /// Attaches the cache to this state. Returns true if it was attached to another state, or if this state has changed
    /// since.
    #[inline]
    pub fn turn_to(&mut self, state: &State) -> bool {
        if self.identity == state.identity() && self.moves == state.moves() {
            return false;
        }
        debug_assert!(self.dirty.is_empty(), "the state before has not been told everything");
        self.follows_opening = self.opening.is_some_and(|moves| moves == state.moves());
        match self.follows_opening {
            true => self.now.clone_from(&self.first),
            false => self.now.fill(PackedValue::UNKNOWN),
        }
        self.identity = state.identity();
        self.moves = state.moves();
        true
    }

    /// Sets the hash of the fixed entities that exist. If it has changed, the results of queries are dropped.
    #[inline]
    pub fn note_population(&mut self, population: u64) {
        if self.population != population {
            self.population = population;
            self.now[self.fields..].fill(PackedValue::UNKNOWN);
            self.first[self.fields..].fill(PackedValue::UNKNOWN);
        }
    }

    /// Assigns slots to those of these queries that have none.
    #[cold]
    pub fn add_queries(&mut self, queries: impl Iterator<Item = Query>, numbering: &EntityNumbering) {
        for query in queries.skip(self.now.len() - self.fields) {
            let slot = self.now.len() as u32;
            if let Query::Holding(kind, field, wanted) = query {
                for (bit, id) in (0..).zip(numbering.fixed_of(kind)) {
                    let Some(field) = numbering.guard(id, field).map(Guard::slot) else { continue };
                    self.marks[field] |= WATCHED;
                    self.watchers[field].push(QueryWatcher { slot, bit, wanted });
                }
            }
            self.now.push(PackedValue::UNKNOWN);
            self.first.push(PackedValue::UNKNOWN);
        }
    }

    /// The known values of all slots. Results of queries are updated when fields are written.
    #[inline]
    pub fn now(&self) -> &[PackedValue] {
        &self.now
    }

    /// Stores the current result of a query. `on`: the fields that the query reads.
    pub fn note_answer(&mut self, slot: usize, found: PackedValue, mut on: impl Iterator<Item = Guard>) {
        self.now[slot] = found;
        if self.follows_opening && on.all(|field| self.now[field.slot()] == self.first[field.slot()]) {
            self.first[slot] = found;
        }
    }

    /// Declares that every change of the state since [`FieldCache::turn_to`] was passed to [`FieldCache::set`].
    #[inline]
    pub fn keep_up(&mut self, state: &State) {
        self.moves = state.moves();
    }

    /// The value of a field. `None` if the entity does not exist any more.
    #[inline]
    pub fn find(
        &mut self,
        field: Guard,
        state: &State,
        interner: &Interner,
        numbering: &EntityNumbering,
    ) -> Option<PackedValue> {
        match self.now.get(field.slot()).copied() {
            None | Some(PackedValue::UNKNOWN) => self.read(field, state, interner, numbering, true),
            Some(PackedValue::STALE) => self.read(field, state, interner, numbering, false),
            Some(found) => {
                debug_assert!(
                    self.marks[field.slot()] & DIRTY != 0 || Some(found) == tagged(field, state, interner, numbering)
                );
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
        numbering: &EntityNumbering,
        is_first: bool,
    ) -> Option<PackedValue> {
        let found = tagged(field, state, interner, numbering)?;
        if found == PackedValue::FOREIGN {
            // A later trace may contain it.
            return Some(found);
        }
        if let Some(now) = self.now.get_mut(field.slot()) {
            *now = found;
            if is_first && self.follows_opening {
                self.first[field.slot()] = found;
            }
        }
        Some(found)
    }

    /// Stores a new value of a field, which [`FieldCache::flush`] writes to the state. Does nothing if the value is
    /// unchanged.
    #[inline]
    pub fn put(&mut self, field: Guard, to: PackedValue) {
        let now = &mut self.now[field.slot()];
        if *now == to {
            return;
        }
        *now = to;
        if self.marks[field.slot()] != DIRTY {
            self.mark(field);
        }
    }

    fn mark(&mut self, field: Guard) {
        let mark = &mut self.marks[field.slot()];
        if *mark & DIRTY == 0 {
            *mark |= DIRTY;
            self.dirty.push(field);
        }
        self.tell_watchers(field.slot());
    }

    /// Updates the results of queries that depend on a field.
    fn tell_watchers(&mut self, field: usize) {
        let value = self.now[field];
        for QueryWatcher { slot, bit, wanted } in &self.watchers[field] {
            let known = &mut self.now[*slot as usize];
            *known = match value {
                // The new value of the field is unknown.
                PackedValue::STALE | PackedValue::UNKNOWN => PackedValue::UNKNOWN,
                _ => known.with_bit(*bit, value == *wanted).unwrap_or(PackedValue::UNKNOWN),
            };
        }
    }

    /// Stores a new value of a field that the state already holds.
    #[inline]
    pub fn set(&mut self, field: Guard, to: PackedValue) {
        let field = field.slot();
        if let Some(now) = self.now.get_mut(field) {
            *now = to;
            self.marks[field] &= !DIRTY;
            self.tell_watchers(field);
        }
    }

    /// True if the state holds all values.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty()
    }

    /// True if any of the fields that satisfy a condition was not written to the state yet.
    pub fn is_any_dirty(&self, is_meant: impl Fn(Guard) -> bool) -> bool {
        self.dirty.iter().any(|field| self.marks[field.slot()] & DIRTY != 0 && is_meant(*field))
    }

    /// The value of a field that was not written to the state yet. `None` if the state holds it.
    pub fn unwritten(&self, field: Guard) -> Option<PackedValue> {
        (self.marks.get(field.slot())? & DIRTY != 0).then(|| self.now[field.slot()])
    }

    /// Discards unwritten values at the end of a game, since nobody will read its state again.
    pub fn forget_dirty(&mut self) {
        for field in self.dirty.drain(..) {
            self.marks[field.slot()] &= !DIRTY;
        }
    }

    /// Writes all dirty fields to the state. Their sizes are counted already.
    pub fn flush(
        &mut self,
        state: &mut State,
        numbering: &EntityNumbering,
        mut value: impl FnMut(PackedValue) -> Value,
    ) {
        let (written, is_journaled) = (state.written, state.is_journaled());
        state.keep_journal(false);
        for field in self.dirty.drain(..) {
            let mark = &mut self.marks[field.slot()];
            if *mark & DIRTY != 0 {
                *mark &= !DIRTY;
                let (entity, which) = numbering.field(field);
                state.set(entity, which, value(self.now[field.slot()]));
            }
        }
        state.written = written;
        state.keep_journal(is_journaled);
        self.moves = state.moves();
    }
}

fn tagged(field: Guard, state: &State, interner: &Interner, numbering: &EntityNumbering) -> Option<PackedValue> {
    let (entity, field) = numbering.field(field);
    let value = state.field(entity, field)?;
    if numbering.concerns(value) {
        return Some(PackedValue::NUMBERED);
    }
    Some(interner.known(value).unwrap_or(PackedValue::FOREIGN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_state::{Entity, FieldId, KindId};

    #[test]
    fn what_a_query_found_follows_its_fields_and_is_asked_again_when_somebody_came_or_went() {
        let mut state = State::new();
        for _ in 0..2 {
            state.spawn(Entity { kind: KindId(0), fields: vec![Value::None, Value::None] });
        }
        let (numbering, wanted) = (EntityNumbering::new(Some(&state)), PackedValue::from(true));
        let mut cache = FieldCache::new(None, numbering.fixed_fields());
        let field = |at| Guard::fixed(at).expect("it fits");
        cache.add_queries(std::iter::once(Query::Holding(KindId(0), FieldId(1), wanted)), &numbering);
        let slot = field(4);
        let answers = |cache: &FieldCache, mask: i64| {
            assert_eq!(cache.now().get(slot.slot()).copied(), PackedValue::plain(&Value::Int(mask)));
        };
        let note = |cache: &mut FieldCache, mask: i64| {
            assert!(cache.now().get(slot.slot()).is_none_or(|known| !known.is_value()));
            let on = [1, 3].map(field);
            cache.note_answer(slot.slot(), PackedValue::plain(&Value::Int(mask)).expect("it fits"), on.into_iter());
        };
        note(&mut cache, 0b10);
        cache.set(field(1), wanted);
        answers(&cache, 0b11);
        cache.put(field(3), PackedValue::NOTHING);
        answers(&cache, 0b01);
        cache.put(field(0), wanted);
        cache.set(field(2), wanted);
        answers(&cache, 0b01);
        cache.set(field(1), PackedValue::NUMBERED);
        answers(&cache, 0b00);
        cache.set(field(1), PackedValue::STALE);
        note(&mut cache, 0b01);
        cache.note_population(5);
        note(&mut cache, 0b11);
        cache.note_population(5);
        answers(&cache, 0b11);
        cache.forget_dirty();
        cache.turn_to(&State::new());
        note(&mut cache, 0b10);
    }
}
