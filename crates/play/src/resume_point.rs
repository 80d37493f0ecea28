use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::{Phase, SeenRoll, Sight, Untold};
use super::secrecy::Secrecy;
use super::{ActionContext, Event, Happening, Tape};
use riskbreaker_dice::Dice;
use riskbreaker_state::{Audience, Change, Key};

/// A snapshot of a running script, and its size in bytes.
pub type KeptPlace = (Box<dyn Any + Send + Sync>, usize);

/// Takes a snapshot of the script that has called the host. `None` if it could not continue from there.
pub type KeepPlace = fn() -> Option<KeptPlace>;

/// A roll of an action whose paths are explored. The action can continue from here with another result.
#[derive(Debug)]
pub struct ResumePoint {
    place: KeptPlace,
    changes: Vec<Change>,
    events: Vec<Event>,
    tape: Tape,
    cursor: usize,
    private: BTreeMap<u32, Audience>,
    untold: Vec<Untold>,
    secrecy: Secrecy,
    rolls: Vec<SeenRoll>,
    last_roll: usize,
    before_script: usize,
    entry_key: Option<Key>,
    pub dice: Arc<Dice>,
    pub sight: Sight,
    /// True if the roll is a draw from a deck.
    pub dealing: bool,
}

impl ResumePoint {
    /// Makes a resume point for the roll that the running script waits for. `None` if the action could not continue
    /// from it.
    pub fn of(context: &ActionContext, keep: KeepPlace, dice: &Arc<Dice>, sight: &Sight) -> Option<ResumePoint> {
        let changes = context.state.since(0);
        let is_plain = context.in_last_call
            && context.phase == Phase::Play
            && context.race.is_none()
            && context.masked.is_none()
            && context.deals_for.is_none()
            && context.glimpse.is_none()
            && context.questions.is_empty()
            && changes.iter().all(Change::can_be_made_again);
        if !is_plain {
            return None;
        }
        let said = context.events.iter().filter(|event| matches!(event.happening, Happening::Said { .. }));
        Some(ResumePoint {
            place: keep()?,
            changes: changes.to_vec(),
            events: said.cloned().collect(),
            tape: context.tape.clone(),
            cursor: context.cursor,
            private: context.private.clone(),
            untold: context.untold.clone(),
            secrecy: context.secrecy.clone(),
            rolls: context.rolls.clone(),
            last_roll: context.last_roll,
            before_script: context.before_script,
            entry_key: context.entry_key,
            dice: dice.clone(),
            sight: sight.clone(),
            dealing: context.dealing,
        })
    }

    /// Restores the resume point in the context of an action that was rolled back to its start.
    pub fn bring_back(&self, context: &mut ActionContext) {
        context.state.make_again(&self.changes);
        context.events.clone_from(&self.events);
        context.tape.clone_from(&self.tape);
        context.cursor = self.cursor;
        context.private.clone_from(&self.private);
        context.untold.clone_from(&self.untold);
        context.secrecy.clone_from(&self.secrecy);
        context.rolls.clone_from(&self.rolls);
        context.last_roll = self.last_roll;
        (context.before_script, context.dealt) = (self.before_script, 0);
        context.in_last_call = true;
        context.entry_key = self.entry_key;
    }

    /// The snapshot of the script.
    pub fn place(&self) -> &(dyn Any + Send + Sync) {
        &*self.place.0
    }

    /// The estimated size in bytes.
    pub fn bytes(&self) -> usize {
        const EACH: usize = 200;
        let parts = self.changes.len() + self.events.len() + self.tape.slots.len() + self.rolls.len();
        self.place.1 + size_of::<ResumePoint>() + EACH * parts
    }
}
