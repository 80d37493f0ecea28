use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::reload::{Patch, Swap};
use super::save::SavedOpen;
use super::{DicePosition, Edit, Event, Events, Fault, Happening, MissingRoll, Packed, Question, Tape};
use crate::state::{Audience, Change, EntityId, EntryId};

/// Why an action runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The start of the game.
    #[default]
    Start,
    /// An agenda entry.
    Entry {
        /// The entry.
        id: EntryId,
        /// Its name.
        what: Arc<str>,
        /// Whose it is, if it has an owner.
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
    /// The game master's hand.
    Edit {
        /// What was changed.
        edit: Edit,
    },
    /// Other rules of the same ruleset came into force: their identity, and the files in which they differ.
    Reload {
        /// The hash of the rules from then on.
        rules: String,
        /// The files in which they differ.
        files: Patch,
    },
    /// The rules of another ruleset came into force: which, with which layers, their identity, and the files in which they
    /// differ.
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

/// An action that stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Done {
    pub number: u32,
    pub cause: Cause,
    pub tape: Packed<Tape>,
    pub before: DicePosition,
    /// The number of the decision, for what a person did outside any question: an edit, a free act, a skip.
    pub seq: Option<u32>,
    /// It was left out after a fault, and that is why.
    pub skipped: Option<String>,
    /// The number of the decision that had begun what was left out: of a free act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<u32>,
    /// Of what was left out, and of what may come before an open action and drew dice: where they stood behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<DicePosition>,
    /// Behind it nothing was left on the agenda, and the game was over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// What was told, and to whom, where a replay may not find it again: of faces that were set by hand, and of other rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<(Audience, Happening)>,
    /// Of an edit or a free act: the tape of the action that was open, as it met it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_tape: Option<Box<OpenTape>>,
    /// Of other rules: the action that was open, as they met it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Box<SavedOpen>>,
    /// Of other rules: the seats that lost their policies, with these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<(Arc<str>, Arc<str>)>,
    /// How many entries had run in a row behind it, see [`Game::idle`](super::Game::idle).
    #[serde(skip)]
    pub idle: u32,
    /// The number of the last decision in it or in what was done before it.
    #[serde(skip)]
    pub decided: Option<u32>,
    #[serde(skip)]
    pub changes: Packed<Vec<Change>>,
    /// What it told.
    #[serde(skip)]
    pub events: Events,
    /// The places of its tape that not everybody may know of, and who may.
    #[serde(skip)]
    pub private: BTreeMap<u32, Audience>,
    /// What stood before, where it cannot be found from the changes: other rules or other house rules came into force.
    #[serde(skip)]
    pub swap: Option<Box<Swap>>,
}

impl Done {
    /// An action that has read, changed and told nothing.
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Done {
        Done { number, cause, before, ..Done::default() }
    }
}

/// The tape of an open action that something came before: it may go another way then, and lose what does not fit any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct OpenTape {
    tape: Packed<Tape>,
    /// Its places that not everybody may know of, and who may; nothing where it was read from a file.
    #[serde(skip)]
    private: Option<BTreeMap<u32, Audience>>,
}

/// An action under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    pub number: u32,
    pub cause: Cause,
    pub tape: Tape,
    pub before: DicePosition,
    pub seq: Option<u32>,
    /// The same before it was left out.
    pub began: Option<u32>,
    /// Of a free act that is played again from a file: see [`Done::open_tape`].
    pub open_tape: Option<Box<OpenTape>>,
    /// What the last run told.
    pub events: Vec<Event>,
    /// The places of the tape that not everybody may know of, as of the last run, and who may.
    pub private: BTreeMap<u32, Audience>,
    pub questions: Vec<Question>,
    /// What the roll of real dice is for that waits for its faces, as the tape labels it.
    pub rolled_for: Option<Arc<str>>,
    pub fault: Option<Box<Fault>>,
    /// The roll that it lacked written dice for.
    pub missing_roll: Option<Box<MissingRoll>>,
    /// Whether a run has left its changes in the state's journal.
    pub ran: bool,
    /// Whether the computed keys of entries stand there already, for the run that follows at once.
    pub has_keys: bool,
    /// Whether an answer came since it ran last.
    pub answered: bool,
    /// Whether the rules look at that answer: the action runs again, though other questions are still open.
    pub to_check: bool,
    /// Whether its tape was made by other rules.
    pub renewed: bool,
    /// Whether its last run rolled, asked or was cut short.
    pub pulsed: bool,
    /// Whether somebody lets it run, though the game seems endless.
    pub goes_on: bool,
}

impl Open {
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Open {
        Open { number, cause, before, ..Open::default() }
    }

    /// Gives back what its lists have kept for growing.
    pub fn shrink_to_fit(&mut self) {
        self.questions.shrink_to_fit();
        self.events.shrink_to_fit();
        self.tape.slots.shrink_to_fit();
    }

    /// The number of the last decision a person made in it.
    pub fn last_seq(&self) -> Option<u32> {
        self.tape.last_decision().map(|(_, seq)| seq)
    }
}

impl OpenTape {
    pub fn of(open: Option<&Open>) -> Option<Box<OpenTape>> {
        let open = open?;
        Some(Box::new(OpenTape { tape: Packed::new(&open.tape), private: Some(open.private.clone()) }))
    }

    pub fn tape(&self) -> Tape {
        self.tape.get()
    }

    /// Gives an action its tape back.
    pub fn put_back(&self, open: &mut Open) {
        open.tape = self.tape.get();
        open.private = self.private.clone().unwrap_or_else(|| {
            // Until the action runs again nobody else is told.
            let places = (0..).zip(&open.tape.slots);
            places.filter_map(|(at, slot)| Some((at, Audience::named(slot.as_ref()?.seat()?)))).collect()
        });
    }
}

/// What an action told, as events.
pub(super) fn events_of(action: u32, told: &[(Audience, Happening)]) -> Events {
    let event = |(n, (audience, happening)): (u32, &(Audience, Happening))| Event {
        action,
        n,
        audience: audience.clone(),
        happening: happening.clone(),
    };
    (0..).zip(told).map(event).collect()
}

/// The action in words, for messages.
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
