//! The action that is not finished.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Course;
use crate::{ActionContext, Cause, DicePosition, Event, Fault, MissingRoll, Packed, Question, Tape, Viewer};
use riskbreaker_state::Audience;

/// The running action, or one that waits for an answer or a remedy.
///
/// Its fields are those that [`Done`](super::Done) keeps, those of the last run, and marks for the next run.
#[derive(Clone, Debug, Default)]
pub struct Open {
    pub number: u32,
    pub cause: Cause,
    pub tape: Tape,
    pub before: DicePosition,
    pub seq: Option<u32>,
    /// `seq` before the action was skipped.
    pub began: Option<u32>,
    /// For a free act that is replayed from a file: see [`Done::open_tape`].
    pub open_tape: Option<Box<OpenTape>>,
    /// The events of the last run.
    pub events: Vec<Event>,
    /// The tape slots that were not public after the last run, with the audience of each.
    pub private: BTreeMap<u32, Audience>,
    /// The tape slots of answers that the log did not show by the end of the last run (for example sealed answers),
    /// with the seat that answered.
    pub untold: BTreeMap<u32, Arc<str>>,
    /// For each roll in such a slot: the number of events before it in the last run.
    pub told_before: BTreeMap<u32, usize>,
    /// The progress of the last run at each tape slot.
    pub course: Course,
    pub questions: Vec<Question>,
    /// The label of the roll whose real dice have not been typed in yet. `None` if no roll waits for its dice.
    pub rolled_for: Option<Arc<str>>,
    pub fault: Option<Box<Fault>>,
    /// True if the host stopped the game here because it seems endless. A run from a file would not find this fault.
    pub stopped: bool,
    /// The roll for which the written dice did not suffice.
    pub missing_roll: Option<Box<MissingRoll>>,
    /// Whether a run has left its changes in the state's journal.
    pub ran: bool,
    /// True if the computed keys of entries are up to date, so that the next run need not compute them.
    pub has_keys: bool,
    /// True if the action got an answer since its last run.
    pub answered: bool,
    /// True if that answer's question has a `check`: the action then runs again even if other questions are open.
    pub to_check: bool,
    /// True if the tape was recorded under other rules.
    pub renewed: bool,
    /// True if the last run rolled, asked, or was cut short.
    pub pulsed: bool,
    /// True if a person lets the action run although the game seems endless ([`Remedy::Retry`](crate::Remedy::Retry)).
    pub goes_on: bool,
}

impl Open {
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Open {
        Open { number, cause, before, ..Open::default() }
    }

    /// True if a viewer may know what a tape slot holds. A look-ahead for a seat does not know the unrevealed answers
    /// of other seats, not even if the game master asks for it.
    pub fn is_seen(&self, place: u32, viewer: &Viewer) -> bool {
        let is_untold = |seat: &str| self.untold.get(&place).is_some_and(|giver| **giver != *seat);
        if viewer.looks_ahead_for().is_some_and(is_untold) {
            return false;
        }
        self.private.get(&place).is_none_or(|audience| viewer.sees(audience))
    }

    /// Records which tape slots are not public, after a run that read the tape up to the cursor.
    pub fn note_private(&mut self, context: &mut ActionContext) {
        (self.private, self.untold) = context.log.take_private();
        for (place, seat) in not_run_yet(&self.tape, context.playback.cursor) {
            self.private.insert(place, Audience::named(&seat));
            self.untold.insert(place, seat);
        }
        self.told_before = std::mem::take(&mut context.log.told_before);
        self.course = std::mem::take(&mut context.log.course);
    }

    /// Frees the unused capacity of its lists.
    pub fn shrink_to_fit(&mut self) {
        self.questions.shrink_to_fit();
        self.events.shrink_to_fit();
        self.tape.slots.shrink_to_fit();
    }

    /// The number of the last decision on the tape. `None` if the tape holds no decision of a person.
    pub fn last_seq(&self) -> Option<u32> {
        self.tape.last_decision().map(|(_, seq)| seq)
    }
}

/// The tape of the open action before an edit or a free act. The action then runs again and may drop slots of its tape.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenTape {
    tape: Packed<Tape>,
    /// The slots that are not public, with the audience of each. `None` if the tape was read from a file.
    #[serde(skip)]
    private: Option<BTreeMap<u32, Audience>>,
    /// The events of the action that not everybody saw.
    #[serde(skip)]
    told: Vec<Event>,
}

impl OpenTape {
    pub fn of(open: Option<&Open>) -> Option<Box<OpenTape>> {
        let open = open?;
        let told = open.events.iter().filter(|event| !event.audience.is_everybody()).cloned().collect();
        Some(Box::new(OpenTape { tape: Packed::new(&open.tape), private: Some(open.private.clone()), told }))
    }

    pub fn tape(&self) -> Tape {
        self.tape.get()
    }

    /// True if the action had already published this event to part of the table.
    pub fn had_told(&self, event: &Event) -> bool {
        self.told.contains(event)
    }

    /// Restores the saved tape of an action.
    pub fn put_back(&self, open: &mut Open) {
        open.tape = self.tape.get();
        open.private = self.private.clone().unwrap_or_else(|| {
            let places = not_run_yet(&open.tape, 0);
            places.map(|(place, seat)| (place, Audience::named(&seat))).collect()
        });
    }
}

/// Returns the answers on a tape from index `from` on, with the seat that gave each. Until a run reads them, only that
/// seat knows them.
fn not_run_yet(tape: &Tape, from: usize) -> impl Iterator<Item = (u32, Arc<str>)> {
    let places = (0..).zip(&tape.slots).skip(from);
    places.filter_map(|(at, slot)| Some((at, Arc::from(slot.as_ref()?.seat()?))))
}
