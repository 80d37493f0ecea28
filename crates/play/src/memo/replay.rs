//! Replay: applies the effects of the first agenda entry, if its trace is known.

use std::sync::Arc;

use super::Memo;
use super::guard::Guard;
use super::numbering::{EntityNumbering, is_numbered};
use super::outcome::{OutcomeNames, OutcomeStep};
use super::recording::ExpectedOutcome;
use super::recording::FUNCTION;
use super::tagged::PackedValue;
use super::traces::{Miss, TraceReader, TraceTable};
use crate::context::PlayedCard;
use riskbreaker_dice::DiceRng;
use riskbreaker_state::{
    Attachment, Audience, Due, Entity, EntityId, Entry, FEW_ENTITIES, FieldId, Key, KindId, State, Value,
};

/// The result of looking up the trace of an entry.
pub enum TraceLookup {
    /// The trace was replayed. `pulsed`: it rolled or asked.
    Replayed { pulsed: bool },
    /// The script has to run. The caller resets the dice.
    Missing,
    /// The script has to run and must have this outcome.
    Check(ExpectedOutcome),
}

/// On average one replay in this many is also run by the script. Checks come in series, so that only the first one has
/// to load the script machine into the processor's caches.
const CHECK_EVERY: u64 = 1_000;
const CHECKED_IN_A_ROW: u64 = 64;

impl Memo {
    /// Begins a series of replays in this state.
    pub fn begin_replay(&mut self, state: &mut State) {
        self.turn_to(state);
        state.keep_journal(false);
    }

    /// Ends a series of replays. The state may lack changes that are only in the cache: call [`Memo::settle`] before reading it.
    pub fn end_replay(&mut self, state: &mut State) {
        self.cache.keep_up(state);
        state.keep_journal(true);
    }

    /// Writes the changes of replays to the state.
    pub fn settle(&mut self, state: &mut State) {
        if !self.is_settled() {
            let traces = self.traces.clone();
            self.flush(&traces.read(), state);
        }
    }

    /// True if the state contains all changes of replays.
    pub fn is_settled(&self) -> bool {
        self.cache.is_clean()
    }

    /// The sum of a field over all entities of a kind, including changes that the state does not contain yet.
    pub fn sum_of(&self, kind: KindId, field: FieldId, state: &State) -> i128 {
        let number = |value: Option<&Value>| value.and_then(Value::as_int).map_or(0, i128::from);
        let fixed = self.numbering.fixed_of(kind).filter(|id| state.entity(*id).is_some());
        let fixed =
            fixed.map(|id| match self.numbering.guard(id, field).and_then(|guard| self.cache.unwritten(guard)) {
                Some(tag) => match tag.int() {
                    Some(value) => value.into(),
                    None => number(Some(&self.traces.read().names().values.value(tag))),
                },
                None => number(state.field(id, field)),
            });
        let made = state.entities_after(self.numbering.fixed()).filter(|(_, entity)| entity.kind == kind);
        fixed.sum::<i128>() + made.map(|(id, _)| number(state.field(id, field))).sum::<i128>()
    }

    /// Attaches the caches to this state, which may be another one or may have changed outside replays and recordings.
    #[inline]
    pub(crate) fn turn_to(&mut self, state: &State) {
        if self.cache.turn_to(state) {
            self.roots.forget_entries();
        }
    }

    fn flush(&mut self, table: &TraceTable, state: &mut State) {
        self.cache.flush(state, &self.numbering, |tag| self.values.value(tag, &table.names().values));
    }

    /// Looks up the effects of the first agenda entry, and applies them if they are known.
    #[inline]
    pub fn replay(&mut self, table: &TraceTable, state: &mut State, rng: &mut DiceRng) -> TraceLookup {
        let hashes = self.hashes(state);
        self.cache.note_population(hashes.0);
        let place = match self.follow(table, hashes, state, rng) {
            Ok(place) => place,
            Err(miss) => {
                if let Some(what) = state.agenda().first().map(|entry| entry.what.clone()) {
                    self.note_miss(&what, miss, table, state);
                }
                return TraceLookup::Missing;
            }
        };
        let leaf = table.leaf(place);
        let Some(first) = state.agenda().first() else { return TraceLookup::Missing };
        let passed = first.id;
        // Only the keys of new entries are relative to the key of this one.
        let now = (leaf.entries > 0).then_some(first.key);
        let comes_or_goes = |step: &OutcomeStep| matches!(step, OutcomeStep::Spawn(_) | OutcomeStep::Remove(_));
        if !state.has_room(leaf.spawns, leaf.entries)
            || now.is_some_and(|now| !now.is_near())
            || state.ids() + leaf.spawns > FEW_ENTITIES && leaf.steps().any(|step| comes_or_goes(&step))
        {
            return TraceLookup::Missing;
        }
        self.replayed += 1;
        if is_checked(self.replayed) {
            return TraceLookup::Check(table.expected(place));
        }
        if let Some(again) = state.pass_first() {
            self.roots.recur(passed, again);
        }
        state.written += leaf.written as usize;
        leaf.puts.iter().for_each(|put| self.cache.put(put.guard, put.found));
        leaf.steps().for_each(|step| self.apply(&step, now.as_ref(), table, state));
        if let Some(played) = leaf.played {
            self.count_cards(played, table.names());
        }
        TraceLookup::Replayed { pulsed: leaf.pulsed }
    }

    /// Applies a step of an outcome. `now`: the key of the entry, if it schedules others.
    #[inline]
    fn apply(&mut self, step: &OutcomeStep, now: Option<&Key>, table: &TraceTable, state: &mut State) {
        let names = table.names();
        match step {
            OutcomeStep::Set(field, tag) => {
                let (entity, which) = self.numbering.field(*field);
                let to = self.values.value(*tag, &names.values);
                if field.is_fixed() {
                    self.cache.set(*field, if is_numbered(&to) { PackedValue::NUMBERED } else { *tag });
                }
                state.set(real(&self.numbering, entity), which, all_real(&self.numbering, to));
            }
            OutcomeStep::Add(field, by) => self.add(*field, *by, table, state),
            OutcomeStep::Spawn(made) => {
                let (kind, fields) = &names.made[*made as usize];
                let value = |tag: &PackedValue| all_real(&self.numbering, self.values.value(*tag, &names.values));
                let fields = fields.iter().map(value).collect();
                let id = state.spawn(Entity { kind: *kind, fields });
                self.numbering.make(id);
                state.note_gone(id);
            }
            OutcomeStep::Remove(id) => {
                self.flush(table, state);
                self.remove(real(&self.numbering, *id), state);
            }
            OutcomeStep::Attach(made) => {
                let made = &names.attached[*made as usize];
                let (hook, data) = (made.hook.clone(), all_real(&self.numbering, made.data.clone()));
                let owner = real(&self.numbering, made.owner);
                state.attach(&Audience::Everybody, Attachment { hook, owner, data, numbered: None });
                state.note_attachments();
            }
            OutcomeStep::Detach(id) => {
                state.detach(*id);
                state.note_attachments();
            }
            OutcomeStep::SetData(id, data) => {
                state.set_data(*id, all_real(&self.numbering, self.values.value(*data, &names.values)));
                state.note_attachments();
            }
            OutcomeStep::Schedule { key, due, numbered } => {
                let key = names.keys[*key as usize].from(now.expect("it schedules an entry"));
                let copy = own(&mut self.due, *due, names.due.iter().map(|due| due.apart())).clone();
                if *numbered {
                    let owner = copy.owner.map(|owner| real(&self.numbering, owner));
                    let args = all_real(&self.numbering, copy.args.clone());
                    let due = Arc::new(Due { owner, args, ..Due::clone(&copy) });
                    state.schedule(&Audience::Everybody, Entry::new(key, due));
                } else {
                    let entry = state.schedule(&Audience::Everybody, Entry::new(key, copy));
                    self.roots.schedule(entry.id, *due);
                }
            }
            OutcomeStep::Finish(text) => {
                state.finish(self.values.value(*text, &names.values).as_text().unwrap_or_default().to_string());
            }
        }
    }

    /// Adds to a field whose value the trace does not know.
    fn add(&mut self, field: Guard, by: PackedValue, table: &TraceTable, state: &mut State) {
        let values = &table.names().values;
        let known = field.is_fixed().then(|| self.cache.find(field, state, values, &self.numbering)).flatten();
        if let Some(sum) = known.and_then(|before| before.plus(by)) {
            return self.cache.put(field, sum);
        }
        // The field or the sum does not fit into a packed value, so it cannot be only in the cache.
        let by = self.values.value(by, values).as_int().unwrap_or_default();
        self.flush(table, state);
        let (entity, which) = self.numbering.field(field);
        let entity = real(&self.numbering, entity);
        let before = state.field(entity, which).and_then(Value::as_int).unwrap_or_default();
        if field.is_fixed() {
            self.cache.set(field, PackedValue::STALE);
        }
        state.set(entity, which, Value::Int(before + by));
    }

    fn count_cards(&mut self, played: u32, names: &OutcomeNames) {
        let apart = |cards: &[PlayedCard]| -> Box<[PlayedCard]> {
            let own = |one: &PlayedCard| PlayedCard {
                seat: Arc::from(&*one.seat),
                card: Arc::from(&*one.card),
                met: one.met,
            };
            cards.iter().map(own).collect()
        };
        own(&mut self.plays, played, names.plays.iter().map(|cards| apart(cards)));
        if self.played.len() < self.plays.len() {
            self.played.resize(self.plays.len(), 0);
        }
        self.played[played as usize] += 1;
    }

    /// Removes an entity, and marks the cached fields that referred to it as changed.
    fn remove(&mut self, id: EntityId, state: &mut State) {
        state.note_gone(id);
        for (entity, field) in state.remove(id) {
            let key = self.numbering.is_fixed(entity).then(|| self.numbering.guard(entity, field));
            let Some(key) = key.flatten() else { continue };
            self.cache.set(key, PackedValue::STALE);
            if !self.invalidated.contains(&key) {
                // The table is locked for reading; it is updated before the next look-up.
                self.unnoted.push(key);
            }
        }
    }

    /// Hashes of the existing entities and of their attachments.
    #[inline]
    pub(crate) fn hashes(&self, state: &mut State) -> (u64, u64) {
        let population = state.population_hash(self.numbering.fixed());
        let population = if self.numbering.is_all(state) { population } else { !population };
        (population, state.attachments_hash())
    }

    /// The node at which the leaf for the first agenda entry begins. An error if the table has none.
    #[inline]
    fn follow(
        &mut self,
        table: &TraceTable,
        hashes: (u64, u64),
        state: &mut State,
        rng: &mut DiceRng,
    ) -> Result<u32, Miss> {
        let entry = state.agenda().first().ok_or(Miss::Root)?;
        self.numbering.clear();
        let root = self.roots.root(entry.id);
        let known = match root {
            Some(root) => self.roots.tree(root, hashes, table),
            None => self.roots.entry(entry.id, hashes, table),
        };
        let first = match known {
            Some(first) => first,
            None => {
                let (id, recurs) = (entry.id, entry.every.is_some());
                let first = self.root(&entry.due, hashes, table, state).ok_or(Miss::Root)?;
                if let Some(root) = root {
                    self.roots.note(root, hashes, first, table);
                } else if !self.numbering.has_met() {
                    self.roots.note_entry(id, recurs, hashes, first, table);
                }
                first
            }
        };
        let Memo { cache, numbering, rules, values, .. } = self;
        table.follow(first, state, &mut TraceReader { cache, numbering, rules, values }, Some(rng))
    }

    /// The first node of the tree of an entry. `None` if the table has no tree for it.
    #[inline(never)]
    fn root(&mut self, due: &Due, hashes: (u64, u64), table: &TraceTable, state: &State) -> Option<u32> {
        let owner = match due.owner {
            Some(owner) => Some(self.numbering.meet(owner, state)?),
            None => None,
        };
        let args = self.numbering.meet_all(&due.args, state)?;
        table.tree((&due.what, owner, &args), hashes)
    }

    /// The value of a read-only function, if it is known; otherwise starts a recording. `is_result`: the function names
    /// the result of a game (a statistic may have the same name).
    pub fn value(&mut self, what: &Arc<str>, is_result: bool, state: &mut State) -> Option<Value> {
        self.commit_finished();
        let hashes = self.hashes(state);
        self.turn_to(state);
        self.cache.note_population(hashes.0);
        self.numbering.clear();
        let miss = match self.known_value(what, is_result, hashes, state) {
            Ok(value) => return Some(value),
            Err(miss) => miss,
        };
        let traces = self.traces.clone();
        let table = traces.read();
        self.note_miss(what, miss, &table, state);
        // The function reads the state.
        self.flush(&table, state);
        drop(table);
        self.record(what.clone(), (FUNCTION, Value::Bool(is_result)), state, None);
        None
    }

    /// The value of a read-only function, if a trace of it is known.
    fn known_value(
        &mut self,
        what: &Arc<str>,
        is_result: bool,
        hashes: (u64, u64),
        state: &mut State,
    ) -> Result<Value, Miss> {
        let Memo { traces, cache, numbering, rules, values, roots, .. } = self;
        let table = traces.read();
        let first = roots.function(what, is_result, hashes, &table).ok_or(Miss::Root)?;
        let place = table.follow(first, state, &mut TraceReader { cache, numbering, rules, values }, None)?;
        let value = values.value(table.leaf(place).value, &table.names().values);
        Ok(all_real(numbering, value))
    }
}

/// True if this replay is also run by the script. The first checks are due after [`CHECK_EVERY`] replays.
fn is_checked(replay: u64) -> bool {
    replay >= CHECK_EVERY && (replay - CHECK_EVERY) % (CHECK_EVERY * CHECKED_IN_A_ROW) < CHECKED_IN_A_ROW
}

/// The entity of a number, in a trace that was followed to its end.
fn real(numbering: &EntityNumbering, number: EntityId) -> EntityId {
    numbering.entity(number).expect("the trace has met or made what it changes")
}

/// Like [`real`], for all numbers in a value.
#[inline]
fn all_real(numbering: &EntityNumbering, value: Value) -> Value {
    match is_numbered(&value) {
        true => numbering.entities(&value).expect("the trace has met or made what it changes"),
        false => value,
    }
}

/// This thread's own copy of the item at an index of the table.
fn own<T>(copies: &mut Vec<T>, at: u32, of: impl Iterator<Item = T>) -> &T {
    if copies.len() <= at as usize {
        let known = copies.len();
        copies.extend(of.skip(known));
    }
    &copies[at as usize]
}
