use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ActionContext;
use super::phase::Phase;
use super::run_log::Untold;
use super::run_rolls::SeenRoll;
use super::secrecy::Secrecy;
use crate::{Event, Happening, KeepPlace, KeptPlace, Sight, Tape};
use riskbreaker_dice::Dice;
use riskbreaker_state::{Audience, Change, Key};

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
        let is_plain = context.run.in_last_call
            && context.phase == Phase::Play
            && context.playback.race.is_none()
            && context.knowledge.is_whole()
            && context.knowledge.deals_for.is_none()
            && context.run.questions.is_empty()
            && changes.iter().all(Change::can_be_made_again);
        if !is_plain {
            return None;
        }
        let said = context.log.events.iter().filter(|event| matches!(event.happening, Happening::Said { .. }));
        Some(ResumePoint {
            place: keep()?,
            changes: changes.to_vec(),
            events: said.cloned().collect(),
            tape: context.playback.tape.clone(),
            cursor: context.playback.cursor,
            private: context.log.private.clone(),
            untold: context.log.untold.clone(),
            secrecy: context.log.secrecy.clone(),
            rolls: context.rolls.made.clone(),
            last_roll: context.rolls.last,
            before_script: context.run.before_script,
            entry_key: context.run.entry_key,
            dice: dice.clone(),
            sight: sight.clone(),
            dealing: context.rolls.dealing,
        })
    }

    /// Restores the resume point in the context of an action that was rolled back to its start.
    pub fn bring_back(&self, context: &mut ActionContext) {
        context.state.make_again(&self.changes);
        context.log.events.clone_from(&self.events);
        context.playback.tape.clone_from(&self.tape);
        context.playback.cursor = self.cursor;
        context.log.private.clone_from(&self.private);
        context.log.untold.clone_from(&self.untold);
        context.log.secrecy.clone_from(&self.secrecy);
        context.rolls.made.clone_from(&self.rolls);
        context.rolls.last = self.last_roll;
        (context.run.before_script, context.knowledge.dealt) = (self.before_script, 0);
        context.run.in_last_call = true;
        context.run.entry_key = self.entry_key;
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
