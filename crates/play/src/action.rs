use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::peek::Course;
use super::reload::{Patch, Swap};
use super::save::SavedOpen;
use super::{
    ActionContext, DicePosition, Edit, Event, Events, Fault, Happening, MissingRoll, Packed, Question, Tape, Viewer,
};
use riskbreaker_state::{Audience, Change, EntityId, EntryId};

/// Why an action runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The start of the game.
    #[default]
    Start,
    /// An agenda entry.
    Entry {
        /// The entry.
        id: EntryId,
        /// The name of the entry.
        what: Arc<str>,
        /// The entity that owns the entry, if it has an owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<EntityId>,
    },
    /// A free act of a seat.
    Free {
        /// The seat that acts.
        seat: Arc<str>,
        /// The name of the act.
        name: Arc<str>,
    },
    /// An edit by the game master.
    Edit {
        /// What was changed.
        edit: Edit,
    },
    /// A reload: other rules of the same ruleset came into force.
    Reload {
        /// The hash of the rules from then on.
        rules: String,
        /// The files in which they differ.
        files: Patch,
    },
    /// A change to another ruleset or to other layers.
    Rules {
        /// The id of the ruleset.
        ruleset: String,
        /// The layers over it, bottom first.
        layers: Vec<String>,
        /// The hash of the rules from then on.
        hash: String,
        /// The files in which they differ.
        files: Patch,
    },
}

impl Cause {
    /// True if the action brought other rules into force.
    #[doc(hidden)]
    pub fn brings_rules(&self) -> bool {
        self.rules_brought().is_some()
    }

    /// The files that differ between the old and the new rules. `None` if the action brought no rules.
    #[doc(hidden)]
    pub fn files(&self) -> Option<&Patch> {
        match self {
            Cause::Reload { files, .. } | Cause::Rules { files, .. } => Some(files),
            Cause::Start | Cause::Entry { .. } | Cause::Free { .. } | Cause::Edit { .. } => None,
        }
    }

    /// The hash of the new rules. `None` if the action brought no rules.
    #[doc(hidden)]
    pub fn rules_brought(&self) -> Option<&str> {
        match self {
            Cause::Reload { rules: hash, .. } | Cause::Rules { hash, .. } => Some(hash),
            Cause::Start | Cause::Entry { .. } | Cause::Free { .. } | Cause::Edit { .. } => None,
        }
    }
}

/// A finished action that has not been undone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    pub number: u32,
    pub cause: Cause,
    pub tape: Packed<Tape>,
    pub before: DicePosition,
    /// The number of the decision, if the action is an edit, a free act or a skip: a decision that answers no question.
    pub seq: Option<u32>,
    /// The message of the fault, if the action was skipped after one.
    pub skipped: Option<String>,
    /// For a skipped free act: the number of the decision that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<u32>,
    /// The position of the dice after the action. Set only if the action was skipped, or is a free act or an edit that
    /// moved the dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<DicePosition>,
    /// True if the agenda was empty after the action, which ended the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Events that a replay may not produce again, with their audiences: edited faces, changes of rules, and queued
    /// free acts that were not open any more when their turn came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<(Audience, Happening)>,
    /// For an edit or a free act: the tape of the action that was open before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_tape: Option<Box<OpenTape>>,
    /// For a change of rules: the action that was open before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Box<SavedOpen>>,
    /// For a change of rules: the seats whose policies the new rules lack, with the names of these policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<(Arc<str>, Arc<str>)>,
    /// The value of `Game::idle` after this action.
    #[serde(skip)]
    pub idle: u32,
    /// The highest decision number up to and including this action.
    #[serde(skip)]
    pub decided: Option<u32>,
    #[serde(skip)]
    pub changes: Packed<Vec<Change>>,
    /// The events of the action.
    #[serde(skip)]
    pub events: Events,
    /// The tape slots that are not public, with the audience of each.
    #[serde(skip)]
    pub private: BTreeMap<u32, Audience>,
    /// The progress of the run at each tape slot. `None` unless the run may have shown a seat something secret.
    #[serde(skip)]
    pub course: Option<Box<Course>>,
    /// The rules, house rules and state before a change of rules or house rules, since `changes` cannot restore them.
    #[serde(skip)]
    pub swap: Option<Box<Swap>>,
    /// For a change of rules: the reasons that the conversion gave, by field.
    #[serde(skip)]
    pub reasons: Reasons,
}

/// The reasons that a conversion gave for setting fields, by entity and field.
pub type Reasons = BTreeMap<(EntityId, Arc<str>), Arc<str>>;

impl Done {
    /// Returns an action without tape, changes and events.
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Done {
        Done { number, cause, before, ..Done::default() }
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

/// The running action, or one that waits for an answer or a remedy.
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
    /// True if a person lets the action run although the game seems endless ([`Remedy::Retry`](super::Remedy::Retry)).
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
        (self.private, self.untold) = context.take_private();
        for (place, seat) in not_run_yet(&self.tape, context.cursor) {
            self.private.insert(place, Audience::named(&seat));
            self.untold.insert(place, seat);
        }
        self.told_before = std::mem::take(&mut context.told_before);
        self.course = Course::of(context);
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

/// Numbers the messages of an action as its events.
pub(super) fn events_of(action: u32, told: &[(Audience, Happening)]) -> Events {
    let event = |(n, (audience, happening)): (u32, &(Audience, Happening))| Event {
        action,
        n,
        audience: audience.clone(),
        happening: happening.clone(),
    };
    (0..).zip(told).map(event).collect()
}

/// Names the action for messages, such as `an edit`.
pub(super) fn words_of(cause: &Cause) -> Arc<str> {
    match cause {
        Cause::Start => Arc::from("the start of the game"),
        Cause::Entry { what, .. } => what.clone(),
        Cause::Free { name, .. } => name.clone(),
        Cause::Edit { .. } => Arc::from("an edit"),
        Cause::Reload { .. } => Arc::from("a reload"),
        Cause::Rules { ruleset, .. } => Arc::from(format!("the change to {ruleset}")),
    }
}
