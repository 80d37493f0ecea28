//! Replay: what the first entry of the agenda does, where a trace of it is known.

use std::sync::Arc;

use super::Memo;
use super::numbering::{Numbering, is_numbered};
use super::outcome::Step;
use super::recording::Expected;
use super::tagged::Tagged;
use super::traces::{Miss, Table};
use crate::dice::DiceRng;
use crate::state::{Attachment, Audience, Due, Entity, EntityId, Entry, State, Value};

/// How an entry goes on.
pub(crate) enum Lookup {
    /// Its trace was replayed; says whether something was rolled or asked.
    Replayed { pulsed: bool },
    /// Its script has to run. The dice have to be put back.
    Missing,
    /// The same, and the script must come to this.
    Check(Expected),
}

/// One replay in so many is run by the script as well.
const CHECK_EVERY: u64 = 1_000;

impl Memo {
    /// Looks up what the first entry of the agenda does, and does it if that is known.
    #[inline]
    pub fn replay(&mut self, table: &Table, state: &mut State, rng: &mut DiceRng) -> Lookup {
        let hashes = self.hashes(state);
        self.cache.turn_to(state);
        self.cache.note_population(hashes.0);
        let number = match self.follow(table, hashes, state, rng) {
            Ok(number) => number,
            Err(miss) => {
                if let Some(what) = state.agenda().first().map(|entry| entry.what.clone()) {
                    self.note_miss(&what, miss, table, state);
                }
                return Lookup::Missing;
            }
        };
        let outcome = table.outcome(number);
        if !state.has_room(outcome.spawns, outcome.entries) {
            return Lookup::Missing;
        }
        self.replayed += 1;
        if self.replayed.is_multiple_of(CHECK_EVERY) {
            return Lookup::Check(table.expected(number));
        }
        state.keep_journal(false);
        state.pass_first();
        let names = table.names();
        for step in &outcome.steps {
            match step {
                Step::Put(field, tag) => {
                    // What is there already is not written again.
                    if !self.cache.holds(*field, *tag) {
                        let (entity, which) = self.numbering.field(*field);
                        self.cache.set(*field, which, *tag);
                        state.set(entity, which, self.values.value(*tag, &names.values));
                    }
                }
                Step::Set(field, tag) => {
                    let (entity, which) = self.numbering.field(*field);
                    if field.is_fixed_field() {
                        self.cache.set(*field, which, Tagged::NUMBERED);
                    }
                    let to = all_real(&self.numbering, self.values.value(*tag, &names.values));
                    state.set(real(&self.numbering, entity), which, to);
                }
                Step::Add(field, by) => {
                    let (entity, which) = self.numbering.field(*field);
                    let entity = real(&self.numbering, entity);
                    let before = state.field(entity, which).and_then(Value::as_int).unwrap_or_default();
                    let sum = Value::Int(before + self.values.value(*by, &names.values).as_int().unwrap_or_default());
                    if field.is_fixed_field() {
                        self.cache.set(*field, which, Tagged::plain(&sum).unwrap_or(Tagged::STALE));
                    }
                    state.set(entity, which, sum);
                }
                Step::Spawn(made) => {
                    let (kind, fields) = &names.made[*made as usize];
                    let value = |tag: &Tagged| all_real(&self.numbering, self.values.value(*tag, &names.values));
                    let fields = fields.iter().map(value).collect();
                    let id = state.spawn(Entity { kind: *kind, fields });
                    self.numbering.make(id);
                    state.note_gone(id);
                }
                Step::Remove(id) => self.remove(real(&self.numbering, *id), state),
                Step::Attach(made) => {
                    let made = &names.attached[*made as usize];
                    let (hook, data) = (made.hook.clone(), all_real(&self.numbering, made.data.clone()));
                    let owner = real(&self.numbering, made.owner);
                    state.attach(Attachment { hook, owner, data, numbered: None });
                    state.note_attachments();
                }
                Step::Detach(id) => {
                    state.detach(*id);
                    state.note_attachments();
                }
                Step::SetData(id, data) => {
                    state.set_data(*id, all_real(&self.numbering, self.values.value(*data, &names.values)));
                    state.note_attachments();
                }
                Step::Schedule { due, numbered } => {
                    let mut due = own(&mut self.due, *due, names.due.iter().map(|due| due.apart())).clone();
                    if *numbered {
                        let owner = due.owner.map(|owner| real(&self.numbering, owner));
                        let args = all_real(&self.numbering, due.args.clone());
                        due = Arc::new(Due { owner, args, ..Due::clone(&due) });
                    }
                    state.schedule(&Audience::Everybody, Entry::new(due));
                }
                Step::Finish(text) => {
                    state.finish(self.values.value(*text, &names.values).as_text().unwrap_or_default().to_string());
                }
            }
        }
        if let Some((card, met)) = outcome.played {
            let apart = |(seat, card): &(Arc<str>, Arc<str>)| (Arc::from(&**seat), Arc::from(&**card));
            own(&mut self.cards, card, names.cards.iter().map(apart));
            self.played.resize(self.cards.len(), [0; 3]);
            let count = &mut self.played[card as usize];
            *count = [count[0] + 1, count[1] + u64::from(met.is_some()), count[2] + u64::from(met == Some(true))];
        }
        state.keep_journal(true);
        self.cache.keep_up(state);
        Lookup::Replayed { pulsed: outcome.pulsed }
    }

    /// Removes an entity, and forgets what the fields held that referred to it.
    fn remove(&mut self, id: EntityId, state: &mut State) {
        state.note_gone(id);
        for (entity, field) in state.remove(id) {
            let key = self.numbering.is_fixed(entity).then(|| self.numbering.guard(entity, field));
            let Some(key) = key.flatten() else { continue };
            self.cache.set(key, field, Tagged::STALE);
            if !self.invalidated.contains(&key) {
                // The table is being read: it is told before the next look-up.
                self.unnoted.push(key);
            }
        }
    }

    /// Hashes of who is there and of what is attached to them.
    #[inline]
    pub(super) fn hashes(&self, state: &mut State) -> (u64, u64) {
        let population = state.population_hash(self.numbering.fixed());
        let population = if self.numbering.is_all(state) { population } else { !population };
        (population, state.attachments_hash())
    }

    /// The number of the outcome that the first entry of the agenda comes to, if that is known.
    #[inline]
    fn follow(&mut self, table: &Table, hashes: (u64, u64), state: &State, rng: &mut DiceRng) -> Result<u32, Miss> {
        let Due { what, owner, args, .. } = &*state.agenda().first().ok_or(Miss::Root)?.due;
        self.numbering.clear();
        let owner = match owner {
            Some(owner) => Some(self.numbering.meet(*owner, state).ok_or(Miss::Root)?),
            None => None,
        };
        let first = match args {
            Value::Entity(_) | Value::List(_) | Value::Map(_)
                if !self.numbering.is_all(state) && self.numbering.concerns(args) =>
            {
                let args = self.numbering.meet_all(args, state).ok_or(Miss::Root)?;
                table.tree((what, owner, &args), hashes)
            }
            args => self.roots.find((what, owner, args), hashes, table),
        };
        let first = first.ok_or(Miss::Root)?;
        let parts = (&mut self.cache, &mut self.numbering, &self.ends[..]);
        table.follow(first, state, parts, Some(rng))
    }

    /// The value of a function that only reads, if it is known; otherwise a recording starts.
    pub fn value(&mut self, what: &Arc<str>, state: &mut State) -> Option<Value> {
        self.commit_finished();
        let hashes = self.hashes(state);
        self.cache.turn_to(state);
        self.cache.note_population(hashes.0);
        let traces = self.traces.clone();
        let table = traces.read();
        self.numbering.clear();
        let first = self.roots.find((what, None, &Value::None), hashes, &table).ok_or(Miss::Root);
        let parts = (&mut self.cache, &mut self.numbering, &self.ends[..]);
        let found = first.and_then(|first| table.follow(first, state, parts, None));
        match found {
            Ok(number) => {
                let value = self.values.value(table.outcome(number).value, &table.names().values);
                return Some(all_real(&self.numbering, value));
            }
            Err(miss) => self.note_miss(what, miss, &table, state),
        }
        drop(table);
        self.record(what.clone(), (None, Value::None), state, None);
        None
    }
}

/// The entity behind a number of a trace that was followed to its end.
fn real(numbering: &Numbering, number: EntityId) -> EntityId {
    numbering.entity(number).expect("the trace has met or made what it changes")
}

/// The same for all numbers in a value.
#[inline]
fn all_real(numbering: &Numbering, value: Value) -> Value {
    match is_numbered(&value) {
        true => numbering.entities(&value).expect("the trace has met or made what it changes"),
        false => value,
    }
}

/// This thread's own copy of something that the table has in this place.
fn own<T>(copies: &mut Vec<T>, at: u32, of: impl Iterator<Item = T>) -> &T {
    if copies.len() <= at as usize {
        let known = copies.len();
        copies.extend(of.skip(known));
    }
    &copies[at as usize]
}
