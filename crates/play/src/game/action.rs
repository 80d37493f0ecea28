use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::open::OpenTape;
use super::saved_open::SavedOpen;
use super::swap::Swap;
use crate::context::Course;
use crate::{Cause, DicePosition, Event, Events, Happening, Packed, Tape};
use riskbreaker_state::{Audience, Change, EntityId};

/// A finished action that has not been undone. Its fields are those of saved games, and what they let derive.
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

/// Numbers the messages of an action as its events.
pub(crate) fn events_of(action: u32, told: &[(Audience, Happening)]) -> Events {
    let event = |(n, (audience, happening)): (u32, &(Audience, Happening))| Event {
        action,
        n,
        audience: audience.clone(),
        happening: happening.clone(),
    };
    (0..).zip(told).map(event).collect()
}

pub(crate) fn last_seq_of(done: &Done) -> Option<u32> {
    done.seq.max(done.tape.last_decision())
}
