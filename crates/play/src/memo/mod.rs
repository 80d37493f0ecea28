//! A trace cache for agenda entries, as in a tracing compiler (A. Gal et al., "Trace-based just-in-time type specialization",
//! PLDI 2009): guards on fields and rolls, effects at the leaves, side exits into the script.
//!
//! A script has no memory and no clock. So the existing entities, their attachments, the fields that an entry reads and
//! the dice that it rolls determine what the entry does. The first run of an entry is recorded. When the same values
//! are found again, its effects are applied without the script. Where a guard fails, nothing has happened yet, and the
//! script runs.
//!
//! Entities that are made in play are numbered in the order in which a trace meets them (see [`EntityNumbering`]). So a
//! trace does not depend on their ids.
//!
//! The recorder observes operations (`Op`) and knows each of them, or aborts. One replay in a thousand is run by the script as
//! well and compared.

mod branches;
mod field_cache;
mod guard;
mod headless_loop;
mod leaf;
mod numbering;
mod observe;
mod outcome;
mod query;
mod recording;
mod replay;
mod report;
mod root_cache;
mod tagged;
mod traces;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use self::field_cache::FieldCache;
use self::guard::Guard;
use self::numbering::EntityNumbering;
use self::query::QueryRules;
use self::recording::{FieldSet, Finished, Missed, Recording, Root};
use self::root_cache::RootCache;
use self::tagged::{OwnValues, is_small};
use self::traces::Committed;
use crate::context::PlayedCard;
use riskbreaker_state::{Attachment, Due, EntityId, Schema, State, Value};

pub use query::Query;
pub use recording::ExpectedOutcome;
pub use report::{NewBranch, NotRecorded};
pub use traces::Traces;

/// One thread's part of the trace cache: the recorder, and its cache of the state.
///
/// Its parts are structs of their own. It has more than twenty fields, since the recorder needs them all at once for
/// each operation.
#[derive(Debug, Default)]
pub struct Memo {
    traces: Arc<Traces>,
    cache: FieldCache,
    roots: RootCache,
    recording: Option<Recording>,
    /// The entities that the running trace has met.
    numbering: EntityNumbering,
    rules: QueryRules,
    /// Fields that the recording has read or written: reading them again adds no guard.
    known: FieldSet,
    /// Fields that have changed in some game; a copy of the set in the table.
    invalidated: FieldSet,
    /// True if all games begin with the same state, so that fields can be assumed unchanged.
    begins_alike: bool,
    /// This thread's own copies of values that the table refers to by number.
    values: OwnValues,
    due: Vec<Arc<Due>>,
    plays: Vec<Box<[PlayedCard]>>,
    /// How often each item of `plays` was replayed in the running game.
    played: Vec<u64>,
    /// How often each item of `plays` was replayed in earlier games that count.
    counted: Vec<u64>,
    /// Fields that a replay was the first to change in any game; not marked in the table yet.
    unnoted: Vec<Guard>,
    /// Recordings that wait until the table is not being read.
    finished: Vec<Finished>,
    replayed: u64,
    recorded: u64,
    /// True if the table takes no more recordings.
    is_full: bool,
    /// The reasons why entries were not recorded: entry, reason, location in a script, with counts.
    aborts: BTreeMap<(Arc<str>, &'static str, String), u64>,
    /// The new values that entries met, with counts.
    missed: HashMap<(Arc<str>, Missed), u64>,
    /// The new value that the running entry or function met.
    last_missed: Option<(Arc<str>, Missed)>,
    /// Finds the file and line of the running script.
    locate: Option<fn() -> String>,
    difference: Option<MemoDifference>,
}

/// A trace and its script with different outcomes: a bug of the host, or a script that keeps something between calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoDifference {
    pub entry: Arc<str>,
    pub known: String,
    pub found: String,
}

/// The most recordings that wait.
const MOST_WAITING: usize = 16;
/// The usual maximum of fields that an entry reads or writes.
const USUAL: usize = 48;
/// The reason why an entry is not recorded: numbers and guards have limited bits.
const TOO_MANY: &str = "there are too many entities or fields";
/// The reason why an entry is not recorded: it reached an entity in an unrecorded way.
const UNMET: &str = "it reaches an entity in a way that is not recorded";
impl Memo {
    /// Creates a recorder. `opening`: the state at which all games begin, if they begin alike.
    pub fn new(traces: &Arc<Traces>, opening: Option<&mut State>, schema: &Schema, locate: fn() -> String) -> Memo {
        let numbering = EntityNumbering::new(opening.as_deref());
        // Copies of the state then have these hashes from their beginning.
        let opening = opening.map(|opening| {
            opening.population_hash(numbering.fixed());
            opening.attachments_hash();
            &*opening
        });
        let last_entry = opening.map_or(0, |opening| opening.counters().0);
        Memo {
            traces: traces.clone(),
            cache: FieldCache::new(opening, numbering.fixed_fields()),
            rules: QueryRules::new(schema, &numbering),
            numbering,
            roots: RootCache::new(last_entry),
            begins_alike: opening.is_some(),
            locate: Some(locate),
            ..Memo::default()
        }
    }

    /// The number of entries that were replayed, and of those that were run.
    pub fn counts(&self) -> (u64, u64) {
        (self.replayed, self.recorded)
    }

    /// Takes the difference between a trace and its script, if one was found.
    pub fn take_difference(&mut self) -> Option<MemoDifference> {
        self.difference.take()
    }

    /// Reintroduces a fixed bug, for a test: relations are recorded without the end that the entity has in them.
    #[doc(hidden)]
    pub fn forget_ends(&mut self) {
        self.rules.ends.iter_mut().for_each(|end| end.number = 0);
    }

    pub fn traces(&self) -> Arc<Traces> {
        self.traces.clone()
    }

    /// Ends a game. `counts`: whether its card counts are added to the totals.
    pub fn end_game(&mut self, counts: bool) {
        self.cache.forget_dirty();
        self.counted.resize(self.played.len(), 0);
        for (sum, one) in self.counted.iter_mut().zip(&mut self.played) {
            let one = std::mem::take(one);
            if counts {
                *sum += one;
            }
        }
    }

    /// Takes out how often cards were played in replays of games that count: seat, card, and the numbers of uses, of
    /// rolls, and of targets met.
    pub fn take_played(&mut self) -> Vec<(Arc<str>, Arc<str>, [u64; 3])> {
        let times = self.counted.iter_mut().map(std::mem::take);
        let plays = self.plays.iter().zip(times).filter(|(_, times)| *times > 0);
        let each = plays.flat_map(|(cards, times)| cards.iter().map(move |played| (played, times)));
        let counts = |(played, times): (&PlayedCard, u64)| {
            (played.seat.clone(), played.card.clone(), played.counts().map(|count| count * times))
        };
        each.map(counts).collect()
    }

    /// Starts recording the first entry of the agenda. `expected`: the outcome that it must have, if the run is a
    /// check.
    pub fn start(&mut self, state: &mut State, expected: Option<ExpectedOutcome>) {
        self.turn_to(state);
        let Some(first) = state.agenda().first() else { return };
        let (what, given) = (first.what.clone(), (first.owner, first.args.clone()));
        self.record(what, given, state, expected);
    }

    fn record(
        &mut self,
        what: Arc<str>,
        (owner, args): (Option<EntityId>, Value),
        state: &mut State,
        expected: Option<ExpectedOutcome>,
    ) {
        let (population, attachments) = self.hashes(state);
        self.recorded += 1;
        self.known.clear();
        self.numbering.clear();
        self.recording = None;
        if self.is_full && expected.is_none() {
            return;
        }
        if !is_small(&args) {
            return self.refuse(&what, "its arguments are too large to be recorded");
        }
        let owner = owner.map(|owner| self.numbering.meet(owner, state));
        let args = self.numbering.meet_all(&args, state);
        let (None | Some(Some(_)), Some(args)) = (owner, args) else { return self.refuse(&what, TOO_MANY) };
        let root = Root { what, owner: owner.flatten(), args, population, attachments };
        let (dependencies, effects) = (Vec::with_capacity(USUAL), Vec::with_capacity(USUAL));
        let (assumptions, asked, before) = Default::default();
        let (mark, cast) = (state.since(0).len(), self.numbering.is_all(state));
        self.recording =
            Some(Recording { root, dependencies, assumptions, effects, asked, cast, mark, before, expected });
        // The hooks of all attachments run unasked.
        let concerns = |attachment: &Attachment| {
            !self.numbering.is_fixed(attachment.owner) || self.numbering.concerns(&attachment.data)
        };
        if state.attachments().values().any(concerns) {
            self.asked(Query::Attached, state);
        }
    }

    /// The largest id of the entities that all games begin with.
    pub fn fixed(&self) -> u32 {
        self.numbering.fixed()
    }

    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Stops recording the running entry or function, for this reason.
    pub fn abort(&mut self, reason: &'static str) {
        if let Some(recording) = self.recording.take() {
            self.refuse(&recording.root.what, reason);
        }
    }

    /// Ends the recording of a finished entry. It is added to the table later.
    pub fn finish(&mut self, state: &State, pulsed: bool, played: Vec<PlayedCard>) {
        self.cache.keep_up(state);
        self.count_miss();
        if let Some(recording) = self.recording.take() {
            self.finished.push(Finished { recording, pulsed, played, value: Value::None });
        }
    }

    /// Ends the recording of a read-only function, with its value.
    pub fn finish_value(&mut self, value: &Value) {
        if let Some(recording) = self.recording.take() {
            match self.numbering.known_all(value) {
                Some(value) => self.finished.push(Finished { recording, pulsed: false, played: Vec::new(), value }),
                None => self.refuse(&recording.root.what, UNMET),
            }
        }
        self.count_miss();
    }

    /// True if changed fields have to be marked in the table before the next look-up.
    pub fn must_tell(&self) -> bool {
        !self.unnoted.is_empty()
    }

    /// Adds finished recordings to the table, unless other threads read it and the recordings can wait.
    pub fn commit_finished(&mut self) {
        if self.begins_alike && self.must_tell() {
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
        self.is_full = table.is_full();
        for finished in std::mem::take(&mut self.finished) {
            let entry = finished.recording.root.what.clone();
            if table.is_full() && finished.recording.expected.is_none() {
                continue;
            }
            match table.commit(finished, &self.numbering) {
                Committed::Kept | Committed::Stale => {}
                Committed::NoRoom => self.refuse(&entry, "the trace cache is full, or a value is too large for it"),
                Committed::Differs(known, found) => {
                    self.difference.get_or_insert(MemoDifference { entry, known, found });
                }
            }
        }
    }
}
