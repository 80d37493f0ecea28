//! A trace cache for agenda entries, as in a tracing compiler (A. Gal et al., "Trace-based just-in-time type specialization",
//! PLDI 2009): guards on fields and rolls, effects at the leaves, side exits into the script.
//!
//! A script has no memory and no clock. So the entities that exist, their attachments, the fields that an entry reads and the
//! dice that it rolls determine what the entry does. The first run of an entry is recorded. When the same is found again, its
//! effects are applied without the script. Where a guard fails, nothing has happened yet, and the script runs.
//!
//! Entities that are made in play are numbered in the order in which a trace meets them (see [`Numbering`]). So a trace of one
//! of them is valid for all that are like it.
//!
//! The recorder observes operations ([`Op`]) and knows each of them, or aborts. One replay in a thousand is run by the script as
//! well and compared.

mod field_cache;
mod guard;
mod numbering;
mod outcome;
mod query;
mod recording;
mod root_cache;
mod tagged;
mod traces;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::field_cache::FieldCache;
use self::guard::Guard;
use self::numbering::{Numbering, is_numbered};
use self::outcome::Step;
use self::query::End;
pub(crate) use self::query::Query;
use self::recording::{Dependency, Effect, Fields, Finished, Recording, RollKey, Root, Scheduled};
pub(crate) use self::recording::{Expected, Played};
use self::root_cache::RootCache;
use self::tagged::{OwnValues, Tagged, is_small};
pub(crate) use self::traces::Traces;
use self::traces::{Committed, Miss, Table};
use super::operation::Op;
use crate::dice::DiceRng;
use crate::state::{
    Attachment, Audience, Entity, EntityId, Entry, FieldId, KindId, LARGEST_NUMBER, Schema, State, Type, Value,
};

/// One thread's part of the trace cache: the recorder, and what it knows of the state that it works on.
#[derive(Debug)]
pub(crate) struct Memo {
    traces: Arc<Traces>,
    cache: FieldCache,
    roots: RootCache,
    recording: Option<Recording>,
    /// The entities that the trace under way has met.
    numbering: Numbering,
    /// The fields between which relations stand.
    ends: Vec<End>,
    /// Fields that the recording has read or written: they depend on nothing else.
    known: Fields,
    /// Fields that are known to have changed in some game; a copy of what the table has.
    invalidated: Fields,
    /// Whether all games begin with the same state, so that fields can be assumed to be as they were.
    begins_alike: bool,
    /// What the table names by number, as this thread's own.
    values: OwnValues,
    due: Vec<Scheduled>,
    cards: Vec<(Arc<str>, Arc<str>)>,
    /// How often each card was played in replays, rolled for, and met what it needed: in the game under way, and
    /// in those that counted before it.
    played: Vec<[u64; 3]>,
    counted: Vec<[u64; 3]>,
    /// Fields that a replay has changed for the first time in any game.
    unnoted: Vec<Guard>,
    /// Recordings that wait until nobody reads the table.
    finished: Vec<Finished>,
    replayed: u64,
    recorded: u64,
    /// Why entries were not recorded: entry, reason, place in a script.
    aborts: BTreeMap<(Arc<str>, &'static str, String), u64>,
    /// What entries met that no trace had met before.
    missed: HashMap<(Arc<str>, Missed), u64>,
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

/// What entries met that no trace had met before, so that they were run by script.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NewBranch {
    /// The entry, or the function of play.luau.
    pub entry: String,
    /// What had a new value.
    pub met: String,
    /// How often that was.
    pub count: u64,
}

/// What was new where a look-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Missed {
    Root,
    Field(Option<KindId>, FieldId),
    Query(Query),
    Roll,
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
/// Why an entry is not recorded: numbers and guards have only so many bits.
const TOO_MANY: &str = "there are too many entities or fields";
/// An entity that nothing has led to which the recording knows of.
const UNMET: &str = "it reaches an entity in a way that is not recorded";
/// Reasons that are kept apart at most.
const MOST_REASONS: usize = 200;

impl Memo {
    /// `opening`: the state at which all games begin, if they begin alike.
    pub fn new(traces: &Arc<Traces>, opening: Option<&mut State>, schema: &Schema, locate: fn() -> String) -> Memo {
        let numbering = Numbering::new(opening.as_deref());
        // Copies of it know these hashes from their beginning.
        let opening = opening.map(|opening| {
            opening.population_hash(numbering.fixed());
            opening.attachments_hash();
            &*opening
        });
        Memo {
            traces: traces.clone(),
            cache: FieldCache::new(opening, numbering.fixed_fields()),
            roots: RootCache::default(),
            recording: None,
            numbering,
            ends: (0..)
                .zip(schema.relation_ends())
                .map(|(number, (kind, field))| End { number, kind, field })
                .collect(),
            known: Fields::default(),
            invalidated: Fields::default(),
            begins_alike: opening.is_some(),
            values: OwnValues::default(),
            due: Vec::new(),
            cards: Vec::new(),
            played: Vec::new(),
            counted: Vec::new(),
            unnoted: Vec::new(),
            finished: Vec::new(),
            replayed: 0,
            recorded: 0,
            aborts: BTreeMap::new(),
            missed: HashMap::new(),
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

    /// What entries met that was new, the most frequent first.
    pub fn new_branches(&self, schema: &Schema) -> Vec<NewBranch> {
        let mut rows: BTreeMap<(&str, String), u64> = BTreeMap::new();
        for ((entry, missed), count) in &self.missed {
            let met = match missed {
                Missed::Root => "another owner, other arguments, or others are there or attached".to_owned(),
                Missed::Roll => "another roll".into(),
                Missed::Query(query) => query.words(schema),
                Missed::Field(kind, field) => {
                    let kind = kind.and_then(|kind| schema.kinds.get(kind.0 as usize));
                    let field = kind.and_then(|kind| Some((kind, kind.fields.get(field.0 as usize)?)));
                    field.map_or_else(|| "a field".into(), |(kind, field)| format!("{}.{}", kind.name, field.name))
                }
            };
            *rows.entry((entry, met)).or_insert(0) += count;
        }
        let row = |((entry, met), count): ((&str, String), u64)| NewBranch { entry: entry.to_owned(), met, count };
        let mut rows: Vec<NewBranch> = rows.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// Notes where a look-up ended.
    #[cold]
    fn note_miss(&mut self, what: &Arc<str>, miss: Miss, table: &Table, state: &State) {
        let missed = match miss {
            Miss::Root => Missed::Root,
            Miss::At(guard) => match guard.kind() {
                Guard::FIELD => {
                    let (entity, field) = self.numbering.field(guard);
                    let entity = self.numbering.entity(entity).and_then(|id| state.entity(id));
                    Missed::Field(entity.map(|entity| entity.kind), field)
                }
                Guard::QUERY => {
                    table.query(guard).map_or(Missed::Root, |query| Missed::Query(query.about(EntityId(0))))
                }
                _ => Missed::Roll,
            },
        };
        *self.missed.entry((what.clone(), missed)).or_insert(0) += 1;
    }

    /// A difference between a trace and its script, if one was found.
    pub fn take_difference(&mut self) -> Option<Difference> {
        self.difference.take()
    }

    /// Puts a bug back that was mended: relations are noted without the end at which an entity stands.
    #[cfg(test)]
    pub fn forget_ends(&mut self) {
        self.ends.iter_mut().for_each(|end| end.number = 0);
    }

    pub fn traces(&self) -> Arc<Traces> {
        self.traces.clone()
    }

    // Replay

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
                Step::Remove(id) => {
                    let id = real(&self.numbering, *id);
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
                    let Scheduled { what, key, owner, args, every } =
                        own(&mut self.due, *due, names.due.iter().map(Scheduled::apart));
                    let (mut owner, mut args) = (*owner, args.clone());
                    if *numbered {
                        owner = owner.map(|owner| real(&self.numbering, owner));
                        args = all_real(&self.numbering, args);
                    }
                    state.schedule(&Audience::Everybody, Entry::new(what.clone(), *key, owner, args, *every));
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

    /// Hashes of who is there and of what is attached to them.
    #[inline]
    fn hashes(&self, state: &mut State) -> (u64, u64) {
        let population = state.population_hash(self.numbering.fixed());
        let population = if self.numbering.is_all(state) { population } else { !population };
        (population, state.attachments_hash())
    }

    /// The number of the outcome that the first entry of the agenda comes to, if that is known.
    #[inline]
    fn follow(&mut self, table: &Table, hashes: (u64, u64), state: &State, rng: &mut DiceRng) -> Result<u32, Miss> {
        let Entry { what, owner, args, .. } = state.agenda().first().ok_or(Miss::Root)?;
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

    /// A game is over, and counts or does not.
    pub fn end_game(&mut self, counts: bool) {
        self.counted.resize(self.played.len(), [0; 3]);
        for (sum, one) in self.counted.iter_mut().zip(&mut self.played) {
            let one = std::mem::take(one);
            if counts {
                (0..3).for_each(|at| sum[at] += one[at]);
            }
        }
    }

    /// Takes out how often cards were played in replays of games that count: seat and card, how often used, rolled for and met.
    pub fn take_played(&mut self) -> Vec<(Arc<str>, Arc<str>, [u64; 3])> {
        let played = self.counted.iter_mut().map(std::mem::take);
        let named = self.cards.iter().zip(played).filter(|(_, count)| count[0] > 0);
        named.map(|((seat, card), count)| (seat.clone(), card.clone(), count)).collect()
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

    // Recording

    /// Starts a recording of the first entry of the agenda. `expected`: what it must come to.
    pub fn start(&mut self, state: &mut State, expected: Option<Expected>) {
        self.cache.turn_to(state);
        let Some(Entry { what, owner, args, .. }) = state.agenda().first() else { return };
        let (what, given) = (what.clone(), (*owner, args.clone()));
        self.record(what, given, state, expected);
    }

    fn record(
        &mut self,
        what: Arc<str>,
        (owner, args): (Option<EntityId>, Value),
        state: &mut State,
        expected: Option<Expected>,
    ) {
        let (population, attachments) = self.hashes(state);
        self.recorded += 1;
        self.known.clear();
        self.numbering.clear();
        self.recording = None;
        if !is_small(&args) {
            return self.refuse(&what, "its arguments are too large to be recorded");
        }
        let owner = owner.map(|owner| self.numbering.meet(owner, state));
        let args = self.numbering.meet_all(&args, state);
        let (None | Some(Some(_)), Some(args)) = (owner, args) else { return self.refuse(&what, TOO_MANY) };
        let root = Root { what, owner: owner.flatten(), args, population, attachments };
        let (dependencies, assumptions, effects, asked) = Default::default();
        let (mark, cast) = (state.unsettled(), self.numbering.is_all(state));
        self.recording = Some(Recording { root, dependencies, assumptions, effects, asked, cast, mark, expected });
        // The hooks of whatever is attached run without being asked for.
        let concerns = |attachment: &Attachment| {
            !self.numbering.is_fixed(attachment.owner) || self.numbering.concerns(&attachment.data)
        };
        if state.attachments().values().any(concerns) {
            self.asked(Query::Attached, state);
        }
    }

    /// Ids up to here are those of entities that all games begin with.
    pub fn fixed(&self) -> u32 {
        self.numbering.fixed()
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
            match self.numbering.known_all(value) {
                Some(value) => self.finished.push(Finished { recording, pulsed: false, played: None, value }),
                None => self.refuse(&recording.root.what, UNMET),
            }
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
            match table.commit(finished, &self.numbering) {
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
            Op::Read { entity, field, value, state } => self.read(*entity, *field, value, state),
            Op::ReadPopulation { query, state } => self.asked(*query, state),
            Op::ReadAtLeast { entity, field, least, value, state } => {
                self.compared((*entity, *field), *least, value, state)
            }
            Op::ReadId { entity, .. } if self.numbering.is_fixed(*entity) => {}
            Op::ReadId { entity, state } => self.asked(Query::Id(*entity), state),
            // Whether an entity is there was seen when it was met.
            Op::ReadExists { entity } => {
                self.number(*entity);
            }
            // The root of each trace holds it.
            Op::ReadAttachments => {}
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
            Op::Add { entity, field, by, sum, ty } => self.added((*entity, *field), *by, sum, ty),
            Op::Spawn { id, entity } => self.spawned(*id, entity),
            Op::Remove { id, touched } => {
                self.touched(touched);
                if let Some(id) = self.number(*id) {
                    self.effect(|| Effect::Remove(id));
                }
            }
            Op::Attach { made } if is_small(&made.data) => {
                if let (Some(owner), Some(data)) = (self.number(made.owner), self.numbers(&made.data)) {
                    self.effect(|| Effect::Attach(Attachment { hook: made.hook.clone(), owner, data, numbered: None }));
                }
            }
            Op::SetData { id, data } if is_small(data) => {
                if let Some(data) = self.numbers(data) {
                    self.effect(|| Effect::SetData(*id, data));
                }
            }
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
            Op::MayHide => self.abort("not everybody may see what it makes"),
            Op::Note => self.abort("it converts a game"),
        }
    }

    /// The number of an entity that the recording has met; where it has not, nothing is known of how it got there.
    fn number(&mut self, id: EntityId) -> Option<EntityId> {
        self.recording.as_ref()?;
        let known = self.numbering.known(id);
        if known.is_none() {
            self.abort(UNMET);
        }
        known
    }

    /// The same for a field of it.
    fn key(&mut self, entity: EntityId, field: FieldId) -> Option<Guard> {
        let number = self.number(entity)?;
        let key = self.numbering.guard(number, field);
        if key.is_none() {
            self.abort(TOO_MANY);
        }
        key
    }

    /// The same for all entities in a value.
    fn numbers(&mut self, value: &Value) -> Option<Value> {
        self.recording.as_ref()?;
        let known = self.numbering.known_all(value);
        if known.is_none() {
            self.abort(UNMET);
        }
        known
    }

    fn read(&mut self, entity: EntityId, field: FieldId, value: &Value, state: &State) {
        let Some(key) = self.key(entity, field) else { return };
        if !self.known.insert(key) {
            return;
        }
        let assumed = self.begins_alike && key.is_fixed_field() && !self.invalidated.contains(&key);
        let Some(recording) = &mut self.recording else { return };
        if assumed {
            recording.assumptions.push(key);
        } else {
            let before = match value {
                Value::Int(n) => Value::Int(n - recording.added(key)),
                value => value.clone(),
            };
            let Some(before) = self.numbering.meet_all(&before, state) else { return self.abort(TOO_MANY) };
            recording.dependencies.push((Dependency::Field(key), before));
        }
        self.abort_if_long();
    }

    /// Notes what a query finds in the state before the recording: what that has changed since follows from it.
    fn asked(&mut self, query: Query, state: &State) {
        let Some(recording) = &mut self.recording else { return };
        let numbered = match query.entity() {
            // Nothing referred to it when the recording began.
            Some(id) if self.numbering.has_made(id) => match query {
                Query::Id(_) => return self.abort("it looks at the number of an entity that it has made"),
                _ => return,
            },
            Some(id) => match self.numbering.known(id) {
                Some(number) => query.about(number),
                None => return self.abort(UNMET),
            },
            None => query,
        };
        // The root says that nobody else was there when the recording began.
        let follows = recording.cast && matches!(query, Query::Kind(_) | Query::Referring(..));
        if follows || recording.asked.contains(&numbered) {
            return;
        }
        recording.asked.push(numbered);
        if let Query::Holding(kind, field, _) = query
            && self.begins_alike
        {
            // Where none of them has changed in any game, what they hold is assumed.
            let fixed = self.numbering.fixed();
            let all = state.entities_up_to(fixed).filter(|(_, entity)| entity.kind == kind);
            let all: Option<Vec<Guard>> = all.map(|(id, _)| self.numbering.guard(id, field)).collect();
            if let Some(all) = all.filter(|all| all.iter().all(|key| !self.invalidated.contains(key))) {
                recording.assumptions.extend(all);
                return self.abort_if_long();
            }
        }
        let before;
        let state = if !recording.may_have_changed(query, &self.numbering) {
            state
        } else if recording.mark == 0 {
            before = state.before_journal();
            &before
        } else {
            return self.abort("it asks who is there after it has changed that");
        };
        let Some(found) = query.found(state, &self.ends, &mut self.numbering).filter(is_small) else {
            return self.abort(TOO_MANY);
        };
        if let Some(recording) = &mut self.recording {
            recording.dependencies.push((Dependency::Query(numbered), found));
        }
        self.abort_if_long();
    }

    /// Notes whether a number is at least so large, unless more is known of it.
    fn compared(&mut self, (entity, field): (EntityId, FieldId), least: i64, value: &Value, state: &State) {
        let Some(key) = self.key(entity, field) else { return };
        if self.known.contains(&key) {
            return;
        }
        if self.begins_alike && key.is_fixed_field() && !self.invalidated.contains(&key) {
            return self.read(entity, field, value, state);
        }
        self.guard_least(key, least, value.as_int().is_some_and(|n| n >= least));
    }

    /// Notes whether a number, with what the recording has added to it, is at least so large.
    fn guard_least(&mut self, key: Guard, least: i64, met: bool) {
        let Some(recording) = &mut self.recording else { return };
        let (entity, field) = self.numbering.field(key);
        let query = Query::AtLeast(entity, field, least.saturating_sub(recording.added(key)));
        if !recording.asked.contains(&query) {
            recording.asked.push(query);
            recording.dependencies.push((Dependency::Query(query), Value::Bool(met)));
            self.abort_if_long();
        }
    }

    /// A number was added to a field. If nothing else is known of the field's value, a trace adds to whatever it finds, as long
    /// as the sum is one that the field takes.
    fn added(&mut self, (entity, field): (EntityId, FieldId), by: i64, sum: &Value, ty: &Type) {
        let Type::Int { min, max } = ty else { return self.wrote(entity, field, sum) };
        let key = self.recording.as_ref().and_then(|_| self.numbering.guard(self.numbering.known(entity)?, field));
        let Some(key) = key.filter(|key| !self.known.contains(key)) else { return self.wrote(entity, field, sum) };
        self.holds_now(entity, field, sum);
        // What is guarded is the sum, and this is noted before the number is added.
        match by {
            0 => return,
            1.. => {
                let most = max.map_or(LARGEST_NUMBER + 1, |max| max.saturating_add(1));
                self.guard_least(key, most.saturating_sub(by), false);
            }
            _ => self.guard_least(key, min.unwrap_or(-LARGEST_NUMBER).saturating_sub(by), true),
        }
        self.effect(|| Effect::Add(key, by));
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
        let fixed = self.numbering.fixed();
        for (entity, field) in fields.iter().filter(|(entity, _)| entity.0 <= fixed) {
            if let Some(key) = self.numbering.guard(*entity, *field) {
                self.changed(key);
                self.cache.set(key, *field, Tagged::STALE);
            }
        }
    }

    /// Notes what a field of an entity holds now, where that is the same entity in all games.
    fn holds_now(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        if self.numbering.is_fixed(entity)
            && let Some(key) = self.numbering.guard(entity, field)
        {
            self.changed(key);
            let tag = Tagged::plain(value).filter(|_| !self.numbering.concerns(value));
            self.cache.set(key, field, tag.unwrap_or(Tagged::STALE));
        }
    }

    fn wrote(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        self.holds_now(entity, field, value);
        let Some(key) = self.key(entity, field) else { return };
        if !is_small(value) {
            return self.abort("it writes a value that is too large");
        }
        let Some(value) = self.numbers(value) else { return };
        self.known.insert(key);
        self.effect(|| Effect::Set(key, value));
    }

    fn spawned(&mut self, id: EntityId, entity: &Entity) {
        if self.recording.is_none() {
            return;
        }
        if !entity.fields.iter().all(is_small) {
            return self.abort("it makes an entity with a value that is too large");
        }
        let fields: Option<Vec<Value>> = entity.fields.iter().map(|value| self.numbering.known_all(value)).collect();
        let Some(fields) = fields else { return self.abort(UNMET) };
        let Some(number) = self.numbering.make(id) else { return self.abort(TOO_MANY) };
        for at in 0..fields.len() {
            let Some(key) = self.numbering.guard(number, FieldId(at as u16)) else { return self.abort(TOO_MANY) };
            self.known.insert(key);
        }
        self.effect(|| Effect::Spawn(Entity { kind: entity.kind, fields }));
    }

    fn scheduled(&mut self, entry: &Entry) {
        if self.recording.is_none() {
            return;
        }
        if !is_small(&entry.args) {
            return self.abort("the arguments of an entry are too large");
        }
        let owner = match entry.owner.map(|owner| self.number(owner)) {
            Some(None) => return,
            owner => owner.flatten(),
        };
        let Some(args) = self.numbers(&entry.args) else { return };
        self.effect(|| {
            let Entry { what, key, every, .. } = entry.clone();
            Effect::Schedule(Scheduled { what, key, owner, args, every: every.map(|every| *every) })
        });
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
