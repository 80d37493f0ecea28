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

impl Cause {
    /// Whether other rules came into force with the action.
    #[doc(hidden)]
    pub fn brings_rules(&self) -> bool {
        self.rules_brought().is_some()
    }

    /// The files in which the rules differ that came into force with the action; `None` if none did.
    #[doc(hidden)]
    pub fn files(&self) -> Option<&Patch> {
        match self {
            Cause::Reload { files, .. } | Cause::Rules { files, .. } => Some(files),
            _ => None,
        }
    }

    /// The hash of the rules that came into force with the action; `None` if none did.
    #[doc(hidden)]
    pub fn rules_brought(&self) -> Option<&str> {
        match self {
            Cause::Reload { rules: hash, .. } | Cause::Rules { hash, .. } => Some(hash),
            _ => None,
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
    /// The number of the decision, for what a person did outside any question: an edit, a free act, a skip.
    pub seq: Option<u32>,
    /// The message of the fault, if the action was skipped after one.
    pub skipped: Option<String>,
    /// For a skipped free act: the number of the decision that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<u32>,
    /// The position of the dice after the action. Set only if it was skipped, or is a free act or edit that moved the dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<DicePosition>,
    /// The agenda was empty after the action, which ended the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Events that a replay may not produce again, with their audiences: of faces set by hand, of changes of rules, and of free
    /// acts that were not open any more when their turn came, which did nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<(Audience, Happening)>,
    /// For an edit or a free act: the tape of the action that was open before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_tape: Option<Box<OpenTape>>,
    /// For a change of rules: the action that was open before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Box<SavedOpen>>,
    /// For a change of rules: the seats whose policies the new rules lack, with these policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<(Arc<str>, Arc<str>)>,
    /// The value of [`Game::idle`](super::Game::idle) after this action.
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
    /// How far its run had come at each place of its tape, where it may have shown a seat what others may not see.
    #[serde(skip)]
    pub course: Option<Box<Course>>,
    /// What was in force before a change of rules or house rules, since `changes` cannot restore it.
    #[serde(skip)]
    pub swap: Option<Box<Swap>>,
    /// For a change of rules: the reasons that the conversion gave for values.
    #[serde(skip)]
    pub reasons: Reasons,
}

/// Why a conversion set a field, by entity and field.
pub type Reasons = BTreeMap<(EntityId, Arc<str>), Arc<str>>;

impl Done {
    /// An action that has read, changed and told nothing.
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Done {
        Done { number, cause, before, ..Done::default() }
    }
}

/// The tape of the open action before an edit or a free act. When the action then runs again, it may drop slots of its tape.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenTape {
    tape: Packed<Tape>,
    /// Its places that not everybody may know of, and who may; nothing where it was read from a file.
    #[serde(skip)]
    private: Option<BTreeMap<u32, Audience>>,
    /// What it had told to some and not to all.
    #[serde(skip)]
    told: Vec<Event>,
}

/// An action under way.
#[derive(Clone, Debug, Default)]
pub struct Open {
    pub number: u32,
    pub cause: Cause,
    pub tape: Tape,
    pub before: DicePosition,
    pub seq: Option<u32>,
    /// `seq` before the action was skipped.
    pub began: Option<u32>,
    /// Of a free act that is played again from a file: see [`Done::open_tape`].
    pub open_tape: Option<Box<OpenTape>>,
    /// What the last run told.
    pub events: Vec<Event>,
    /// The places of the tape that not everybody may know of, as of the last run, and who may.
    pub private: BTreeMap<u32, Audience>,
    /// The answers on the tape that were not told by the end of the last run, such as sealed ones, and the seats that gave them.
    pub untold: BTreeMap<u32, Arc<str>>,
    /// The rolls among these places, as of the last run: how many events had been told before each.
    pub told_before: BTreeMap<u32, usize>,
    /// How far the last run had come at each place of its tape.
    pub course: Course,
    pub questions: Vec<Question>,
    /// The label of the roll whose real dice have not been typed in yet.
    pub rolled_for: Option<Arc<str>>,
    pub fault: Option<Box<Fault>>,
    /// Whether the host has stopped the game here because it goes on without end: a run from a file would not find that fault.
    pub stopped: bool,
    /// The roll for which the written dice did not suffice.
    pub missing_roll: Option<Box<MissingRoll>>,
    /// Whether a run has left its changes in the state's journal.
    pub ran: bool,
    /// Whether the computed keys of entries are up to date, so that the run that follows at once need not compute them.
    pub has_keys: bool,
    /// Whether an answer came since it ran last.
    pub answered: bool,
    /// Whether the question of that answer has a `check`: the action then runs again although other questions are open.
    pub to_check: bool,
    /// Whether its tape was made by other rules.
    pub renewed: bool,
    /// Whether its last run rolled, asked or was cut short.
    pub pulsed: bool,
    /// Whether a person lets it run although the game seems endless ([`Remedy::Retry`](super::Remedy::Retry)).
    pub goes_on: bool,
}

impl Open {
    pub fn new(number: u32, cause: Cause, before: DicePosition) -> Open {
        Open { number, cause, before, ..Open::default() }
    }

    /// Whether a viewer may know what stands in a place of the tape. Who looks ahead for a seat does not know the answers of other
    /// seats that are not told yet, not even the game master.
    pub fn is_seen(&self, place: u32, viewer: &Viewer) -> bool {
        let is_untold = |seat: &str| self.untold.get(&place).is_some_and(|giver| **giver != *seat);
        if viewer.looks_ahead_for().is_some_and(is_untold) {
            return false;
        }
        self.private.get(&place).is_none_or(|audience| viewer.sees(audience))
    }

    /// Notes which places of its tape not everybody may know of, after a run that read the tape up to the cursor.
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

    /// The number of the last decision a person made in it.
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

    /// Whether the action had told this by then.
    pub fn had_told(&self, event: &Event) -> bool {
        self.told.contains(event)
    }

    /// Gives an action its tape back.
    pub fn put_back(&self, open: &mut Open) {
        open.tape = self.tape.get();
        open.private = self.private.clone().unwrap_or_else(|| {
            let places = not_run_yet(&open.tape, 0);
            places.map(|(place, seat)| (place, Audience::named(&seat))).collect()
        });
    }
}

/// The answers on a tape from a place on, each for its seat alone: nobody else is told until a run comes to it.
fn not_run_yet(tape: &Tape, from: usize) -> impl Iterator<Item = (u32, Arc<str>)> {
    let places = (0..).zip(&tape.slots).skip(from);
    places.filter_map(|(at, slot)| Some((at, Arc::from(slot.as_ref()?.seat()?))))
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
