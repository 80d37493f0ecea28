//! A trace cache for agenda entries, as in a tracing compiler (A. Gal et al., "Trace-based just-in-time type specialization",
//! PLDI 2009): guards on fields and rolls, effects at the leaves, side exits into the script.
//!
//! A script has no memory and no clock: what an entry does follows from who is there, what is attached to them, the fields that
//! it reads and the dice that it rolls. The first run of an entry is recorded. When the same is found again, its effects are
//! applied without the script. Where a guard fails, nothing has happened yet, and the script runs.
//!
//! The recorder observes operations ([`Op`]) and knows each of them, or aborts. One replay in a thousand is run by the script as
//! well and compared.

mod field_cache;
mod guard;
mod outcome;
mod recording;
mod tagged;
mod traces;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::field_cache::FieldCache;
use self::guard::{FieldSet, Guard};
use self::outcome::Step;
use self::recording::{Dependency, Effect, Finished, Recording, RollKey, Root, Scheduled};
pub(crate) use self::recording::{Expected, Played};
use self::tagged::{OwnValues, Tagged, is_small};
pub(crate) use self::traces::Traces;
use self::traces::{Committed, Table};
use super::operation::Op;
use crate::dice::DiceRng;
use crate::state::{Entity, EntityId, Entry, FieldId, State, Value};

/// One thread's part of the trace cache: the recorder, and what it knows of the state that it works on.
#[derive(Debug)]
pub(crate) struct Memo {
    traces: Arc<Traces>,
    cache: FieldCache,
    recording: Option<Recording>,
    /// Fields that the recording has read or written: they depend on nothing else.
    known: FieldSet,
    /// Fields that are known to have changed in some game; a copy of what the table has.
    invalidated: FieldSet,
    /// Whether all games begin with the same state, so that fields can be assumed to be as they were.
    begins_alike: bool,
    /// What the table names by number, as this thread's own.
    values: OwnValues,
    entries: Vec<Arc<str>>,
    cards: Vec<(Arc<str>, Arc<str>)>,
    /// How often each card was played in replays, rolled for, and met what it needed.
    played: Vec<[u64; 3]>,
    /// Fields that a replay has changed for the first time in any game.
    unnoted: Vec<Guard>,
    /// Recordings that wait until nobody reads the table.
    finished: Vec<Finished>,
    replayed: u64,
    recorded: u64,
    /// Why entries were not recorded: entry, reason, place in a script.
    aborts: BTreeMap<(Arc<str>, &'static str, String), u64>,
    /// Finds the place in a script that runs.
    locate: fn() -> String,
    difference: Option<Difference>,
}

/// A trace and a script that came to different things: a bug of the host, or a script that keeps something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub entry: Arc<str>,
    pub known: String,
    pub found: String,
}

/// Why an agenda entry could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NotRecorded {
    /// The entry, or the function of play.luau.
    pub entry: String,
    /// What it did that cannot be recorded.
    pub reason: String,
    /// File and line, where a script was running.
    pub place: String,
    /// How often that was.
    pub count: u64,
}

/// How an entry goes on.
pub(crate) enum Lookup {
    /// Its trace was replayed; says whether something was rolled or asked.
    Replayed { pulsed: bool },
    /// Its script has to run. The dice have to be put back.
    Missing,
    /// The same, and the script must come to this.
    Check(Expected),
}

/// Longer recordings are not worth their place.
const LONGEST: usize = 4_000;
/// Recordings that wait at most.
const MOST_WAITING: usize = 16;
/// One replay in so many is run by the script as well.
const CHECK_EVERY: u64 = 1_000;
/// Reasons that are kept apart at most.
const MOST_REASONS: usize = 200;

impl Memo {
    /// `opening`: the state at which all games begin, if they begin alike.
    pub fn new(traces: &Arc<Traces>, opening: Option<&State>, locate: fn() -> String) -> Memo {
        Memo {
            traces: traces.clone(),
            cache: FieldCache::new(opening),
            recording: None,
            known: FieldSet::default(),
            invalidated: FieldSet::default(),
            begins_alike: opening.is_some(),
            values: OwnValues::default(),
            entries: Vec::new(),
            cards: Vec::new(),
            played: Vec::new(),
            unnoted: Vec::new(),
            finished: Vec::new(),
            replayed: 0,
            recorded: 0,
            aborts: BTreeMap::new(),
            locate,
            difference: None,
        }
    }

    /// How many entries were replayed, and how many had to be run.
    pub fn counts(&self) -> (u64, u64) {
        (self.replayed, self.recorded)
    }

    /// Why entries were not recorded, the most frequent first.
    pub fn not_recorded(&self) -> Vec<NotRecorded> {
        let row = |((entry, reason, place), count): (&(Arc<str>, &'static str, String), &u64)| NotRecorded {
            entry: entry.to_string(),
            reason: (*reason).to_string(),
            place: place.clone(),
            count: *count,
        };
        let mut rows: Vec<NotRecorded> = self.aborts.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// A difference between a trace and its script, if one was found.
    pub fn take_difference(&mut self) -> Option<Difference> {
        self.difference.take()
    }

    pub fn traces(&self) -> Arc<Traces> {
        self.traces.clone()
    }

    // Replay

    /// Looks up what the first entry of the agenda does, and does it if that is known.
    #[inline]
    pub fn replay(&mut self, table: &Table, state: &mut State, rng: &mut DiceRng) -> Lookup {
        let hashes = (state.population_hash(), state.attachments_hash());
        self.cache.turn_to(state);
        let Some(Entry { what, owner, args, .. }) = state.agenda().first() else { return Lookup::Missing };
        let found = table.follow((what, *owner, args), hashes, state, &mut self.cache, Some(rng));
        let Some(number) = found else { return Lookup::Missing };
        let outcome = table.outcome(number);
        if !state.has_room(outcome.spawns, outcome.entries) {
            return Lookup::Missing;
        }
        self.replayed += 1;
        if self.replayed.is_multiple_of(CHECK_EVERY) {
            return Lookup::Check(table.expected(number));
        }
        let mut invalid = false;
        state.keep_journal(false);
        state.take_first();
        let names = table.names();
        for step in &outcome.steps {
            match step {
                Step::Set(field, tag) => {
                    self.cache.set(*field, *tag);
                    state.set(field.entity(), field.field_id(), self.values.value(*tag, &names.values));
                }
                Step::Spawn(kind, fields) => {
                    let fields = fields.iter().map(|tag| self.values.value(*tag, &names.values)).collect();
                    let id = state.spawn(Entity { kind: *kind, fields });
                    state.note_gone(id);
                }
                Step::Remove(id) => {
                    state.note_gone(*id);
                    let touched = state.remove(*id);
                    // The table is being read: it is told before the next look-up.
                    let keys = touched.iter().filter_map(|(entity, field)| Guard::field(*entity, *field));
                    self.unnoted.extend(keys.filter(|key| !self.invalidated.contains(*key)));
                    invalid = true;
                }
                Step::Attach(made) => {
                    state.attach((**made).clone());
                    state.note_attachments();
                }
                Step::Detach(id) => {
                    state.detach(*id);
                    state.note_attachments();
                }
                Step::SetData(id, data) => {
                    state.set_data(*id, self.values.value(*data, &names.values));
                    state.note_attachments();
                }
                Step::Schedule(due) => {
                    let what = own(&mut self.entries, due.what, names.entries.iter().map(|name| Arc::from(&**name)));
                    let args = self.values.value(due.args, &names.values);
                    state.schedule(what.clone(), due.key, due.owner, args, due.every);
                }
                Step::Finish(outcome) => state.finish(outcome.to_string()),
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
        if invalid {
            self.cache.invalidate();
        } else {
            self.cache.keep_up(state);
        }
        Lookup::Replayed { pulsed: outcome.pulsed }
    }

    /// Takes out how often cards were played in replays: seat and card, how often used, rolled for and met.
    pub fn take_played(&mut self) -> Vec<(Arc<str>, Arc<str>, [u64; 3])> {
        let played = self.played.iter_mut().map(std::mem::take);
        let named = self.cards.iter().zip(played).filter(|(_, count)| count[0] > 0);
        named.map(|((seat, card), count)| (seat.clone(), card.clone(), count)).collect()
    }

    /// The value of a function that only reads, if it is known; otherwise a recording starts.
    pub fn value(&mut self, what: &Arc<str>, state: &mut State) -> Option<Value> {
        self.commit_finished();
        let hashes = (state.population_hash(), state.attachments_hash());
        self.cache.turn_to(state);
        let traces = self.traces.clone();
        let table = traces.read();
        let found = table.follow((what, None, &Value::None), hashes, state, &mut self.cache, None);
        if let Some(number) = found {
            return Some(self.values.value(table.outcome(number).value, &table.names().values));
        }
        drop(table);
        let (population, attachments) = hashes;
        self.record(Root { what: what.clone(), owner: None, args: Value::None, population, attachments }, None);
        None
    }

    // Recording

    /// Starts a recording of the first entry of the agenda. `expected`: what it must come to.
    pub fn start(&mut self, state: &mut State, expected: Option<Expected>) {
        let (population, attachments) = (state.population_hash(), state.attachments_hash());
        self.cache.turn_to(state);
        let Some(Entry { what, owner, args, .. }) = state.agenda().first() else { return };
        let root = Root { what: what.clone(), owner: *owner, args: args.clone(), population, attachments };
        self.record(root, expected);
    }

    fn record(&mut self, root: Root, expected: Option<Expected>) {
        self.recorded += 1;
        self.known.clear();
        self.recording = None;
        if !is_small(&root.args) {
            return self.refuse(&root.what, "its arguments are too large to be recorded");
        }
        self.recording =
            Some(Recording { root, dependencies: Vec::new(), assumptions: Vec::new(), effects: Vec::new(), expected });
    }

    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// The entry or function under way cannot be recorded, for this reason.
    pub fn abort(&mut self, reason: &'static str) {
        if let Some(recording) = self.recording.take() {
            self.refuse(&recording.root.what, reason);
        }
    }

    fn refuse(&mut self, what: &Arc<str>, reason: &'static str) {
        let key = (what.clone(), reason, (self.locate)());
        if self.aborts.len() < MOST_REASONS || self.aborts.contains_key(&key) {
            *self.aborts.entry(key).or_insert(0) += 1;
        }
    }

    /// The entry that ran is over, and all of it stands.
    pub fn finish(&mut self, state: &State, pulsed: bool, played: Option<Played>) {
        self.cache.keep_up(state);
        if let Some(recording) = self.recording.take() {
            self.finished.push(Finished { recording, pulsed, played, value: Value::None });
        }
    }

    /// The function that only reads came to this.
    pub fn finish_value(&mut self, value: &Value) {
        if let Some(recording) = self.recording.take() {
            self.finished.push(Finished { recording, pulsed: false, played: None, value: value.clone() });
        }
    }

    /// Whether the table has to be told something before the next look-up.
    pub fn must_tell(&self) -> bool {
        !self.unnoted.is_empty()
    }

    /// Puts finished recordings into the table, unless others read it and they can wait.
    pub fn commit_finished(&mut self) {
        if self.begins_alike {
            for key in std::mem::take(&mut self.unnoted) {
                self.changed(key);
            }
        }
        if self.finished.is_empty() {
            return;
        }
        let traces = self.traces.clone();
        let table = match traces.try_write() {
            Some(table) => Some(table),
            None if self.finished.len() >= MOST_WAITING => Some(traces.write()),
            None => None,
        };
        let Some(mut table) = table else { return };
        for finished in std::mem::take(&mut self.finished) {
            let entry = finished.recording.root.what.clone();
            if table.is_full() && finished.recording.expected.is_none() {
                continue;
            }
            match table.commit(finished) {
                Committed::Kept | Committed::Stale => {}
                Committed::NoRoom => self.refuse(&entry, "the trace cache is full, or a value is too large for it"),
                Committed::Differs(known, found) => {
                    self.difference.get_or_insert(Difference { entry, known, found });
                }
            }
        }
    }

    // Observing

    /// Encodes a finished operation, or aborts the recording.
    pub fn observe(&mut self, op: &Op) {
        match op {
            Op::Read { entity, field, value } => self.read(*entity, *field, value),
            // The root of each trace holds both.
            Op::ReadPopulation | Op::ReadAttachments => {}
            Op::ReadAgenda => self.abort("it reads the agenda"),
            Op::ReadKey => self.abort("it looks at its own key"),
            Op::ReadEntryNumber => self.abort("it looks at the number of an agenda entry"),
            Op::Roll { dice, sight, seen } => self.rolled(|| RollKey::Dice((*dice).clone(), (*sight).clone()), seen),
            Op::Look { total } => self.rolled(|| RollKey::Look, &Value::Int(*total)),
            Op::ReturnToRoll => self.abort("it looks at an earlier roll"),
            Op::Deal { dice, drawn } => self.rolled(|| RollKey::Deal((*dice).clone()), &Value::Int(i64::from(*drawn))),
            Op::Pick { n, picked } => self.rolled(|| RollKey::Pick(*n), &Value::Int(i64::from(*picked))),
            // It follows from what the policy has read, or from the default.
            Op::Answer { .. } => {}
            Op::Refuse => self.abort("an answer was refused"),
            Op::Write { entity, field, value } => self.wrote(*entity, *field, value),
            Op::Spawn { id, entity } => self.spawned(*id, entity),
            Op::Remove { id, touched } => {
                self.touched(touched);
                self.cache.invalidate();
                self.effect(|| Effect::Remove(*id));
            }
            Op::Attach { made } if is_small(&made.data) => self.effect(|| Effect::Attach((*made).clone())),
            Op::SetData { id, data } if is_small(data) => self.effect(|| Effect::SetData(*id, (*data).clone())),
            Op::Attach { .. } | Op::SetData { .. } => self.abort("the data of an attachment is too large"),
            Op::Detach { id } => self.effect(|| Effect::Detach(*id)),
            Op::Schedule { entry } => self.scheduled(entry),
            Op::Cancel => self.abort("it cancels an agenda entry"),
            Op::Rekey => self.abort("it gives an agenda entry another key"),
            // Nobody listens to a game that is recorded.
            Op::Say => {}
            Op::Finish { outcome, plain: true } => self.effect(|| Effect::Finish((*outcome).into())),
            Op::Finish { plain: false, .. } => self.abort("the outcome names an entity"),
            Op::Cut => self.abort("it cuts the action short"),
            Op::Glimpse => self.abort("a seat is shown what it knows"),
            Op::Note => self.abort("it converts a game"),
        }
    }

    fn read(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        if self.recording.is_none() {
            return;
        }
        let Some(key) = Guard::field(entity, field) else { return self.abort("there are too many entities or fields") };
        if !self.known.insert(key) {
            return;
        }
        let assumed = self.begins_alike && !self.invalidated.contains(key);
        let Some(recording) = &mut self.recording else { return };
        if assumed {
            recording.assumptions.push(key);
        } else {
            recording.dependencies.push((Dependency::Field(key), value.clone()));
        }
        self.abort_if_long();
    }

    fn rolled(&mut self, key: impl FnOnce() -> RollKey, seen: &Value) {
        if let Some(recording) = &mut self.recording {
            recording.dependencies.push((Dependency::Roll(key()), seen.clone()));
            self.abort_if_long();
        }
    }

    fn effect(&mut self, effect: impl FnOnce() -> Effect) {
        if let Some(recording) = &mut self.recording {
            recording.effects.push(effect());
            self.abort_if_long();
        }
    }

    fn abort_if_long(&mut self) {
        let long = |recording: &Recording| {
            recording.dependencies.len() + recording.effects.len() + recording.assumptions.len() > LONGEST
        };
        if self.recording.as_ref().is_some_and(long) {
            self.abort("it does too much");
        }
    }

    /// A field has changed since the beginning of its game: traces that assume otherwise do not hold any more.
    fn changed(&mut self, key: Guard) {
        if !self.begins_alike || !self.invalidated.insert(key) {
            return;
        }
        self.traces.write().invalidate(key);
        if self.recording.as_ref().is_some_and(|recording| recording.assumptions.contains(&key)) {
            self.abort("it is the first to change a field that it has read");
        }
    }

    /// A removal has emptied references to the entity.
    fn touched(&mut self, fields: &[(EntityId, FieldId)]) {
        for (entity, field) in fields {
            if let Some(key) = Guard::field(*entity, *field) {
                self.changed(key);
            }
        }
    }

    fn wrote(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        let Some(key) = Guard::field(entity, field) else {
            self.cache.invalidate();
            return self.abort("there are too many entities or fields");
        };
        self.changed(key);
        let tag = Tagged::plain(value).unwrap_or(Tagged::STALE);
        self.cache.set(key, tag);
        if self.recording.is_none() {
            return;
        }
        if !is_small(value) {
            return self.abort("it writes a value that is too large");
        }
        self.known.insert(key);
        self.effect(|| Effect::Set(key, value.clone()));
    }

    fn spawned(&mut self, id: EntityId, entity: &Entity) {
        let keys: Option<Vec<Guard>> =
            (0..entity.fields.len()).map(|at| Guard::field(id, FieldId(at as u16))).collect();
        let Some(keys) = keys else { return self.abort("there are too many entities or fields") };
        keys.iter().for_each(|key| self.changed(*key));
        self.cache.invalidate();
        if self.recording.is_none() {
            return;
        }
        if !entity.fields.iter().all(is_small) {
            return self.abort("it makes an entity with a value that is too large");
        }
        for key in keys {
            self.known.insert(key);
        }
        self.effect(|| Effect::Spawn(entity.clone()));
    }

    fn scheduled(&mut self, entry: &Entry) {
        if self.recording.is_none() {
            return;
        }
        if !is_small(&entry.args) {
            return self.abort("the arguments of an entry are too large");
        }
        self.effect(|| {
            let Entry { what, key, owner, args, every, .. } = entry.clone();
            Effect::Schedule(Scheduled { what, key, owner, args, every: every.map(|every| *every) })
        });
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
