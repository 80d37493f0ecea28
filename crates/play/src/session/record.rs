//! The stored form of a game: its position, checkpoints of its state, and how it is restored from its tape.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Session;
use crate::game::{Pending, SavedOpen};
use crate::{Cause, DicePosition, DiceSource, Done, Driver, Edit, Ruleset, Setup, Slot, StartError};
use riskbreaker_ruleset::Checksum;
use riskbreaker_state::{EntityId, State, Value, readable_name};

/// The position of a game after its last finished action: open and queued actions, pending rules, and the position of
/// the dice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<SavedOpen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<SavedOpen>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queued: Vec<(Arc<str>, Arc<str>, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<PendingRules>,
    /// Earlier requests for rules, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked_before: Vec<PendingRules>,
    position: DicePosition,
    /// The number of the next action.
    number: u32,
    /// The number of the next decision.
    seq: u32,
}

/// A request for rules at the next boundary. `hash` is `None` if it cancels earlier requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PendingRules {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    asked_at: u32,
}

/// The drivers of seats and the source of faces, which are not on the tape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seating {
    seats: BTreeMap<Arc<str>, Driver>,
    dice: DiceSource,
}

/// The complete state of a game between two actions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The hash of the rules in force.
    pub rules: String,
    state: State,
    switches: BTreeMap<String, Value>,
    seating: Seating,
    position: DicePosition,
    number: u32,
    seq: u32,
    actions: u64,
    idle: u32,
    unasked: u64,
    /// True if policies have been asked for free acts since the last entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    asked_policies: bool,
}

/// What is wrong with a tape that leads to another state than the stored one.
pub const OTHER_STATE: &str = "its answers and dice lead to another state than the stored one";

/// Finds rules by their hash.
pub type FindRules<'f> = dyn FnMut(&str) -> Result<Arc<Ruleset>, String> + 'f;

impl Session {
    #[doc(hidden)]
    pub fn place(&self) -> Place {
        let game = self.game();
        let kept = |pending: &Pending| PendingRules {
            hash: pending.rules.as_ref().map(|rules| rules.hash()),
            asked_at: pending.asked_at,
        };
        let mut asked_before: Vec<PendingRules> = game.pending.iter().map(kept).collect();
        let pending = asked_before.pop();
        Place {
            open: game.open.as_ref().map(SavedOpen::of),
            held: game.held.iter().map(SavedOpen::of).collect(),
            queued: game.queued.iter().cloned().collect(),
            pending,
            asked_before,
            position: game.context.dice.position(),
            number: game.next_number,
            seq: game.next_seq(),
        }
    }

    #[doc(hidden)]
    pub fn seating(&self) -> Seating {
        let context = &self.game().context;
        Seating { seats: context.answers.seats.clone(), dice: context.dice.source.clone() }
    }

    /// The actions in memory, and the number of leading ones that are unchanged since they were last saved.
    #[doc(hidden)]
    pub fn tape(&self) -> (&[Done], usize) {
        let history = &self.game().history;
        (history, history.kept())
    }

    /// Marks the actions in memory as saved, under a number unique to this game.
    #[doc(hidden)]
    pub fn note_kept(&mut self, number: u64) {
        self.game_mut().history.keep(number);
    }

    /// The number under which the game was last saved. `None` if it was never saved; a copy was not.
    #[doc(hidden)]
    pub fn kept_as(&self) -> Option<u64> {
        self.game().history.kept_as()
    }

    /// A number that identifies the game within this process; copies have other numbers.
    #[doc(hidden)]
    pub fn identity(&self) -> u64 {
        self.game().history.identity()
    }

    /// Takes a checkpoint after the last finished action.
    #[doc(hidden)]
    pub fn checkpoint(&self) -> Checkpoint {
        let game = self.game();
        Checkpoint {
            rules: self.ruleset().hash(),
            state: game.context.state.before_journal(),
            switches: (*game.context.switches).clone(),
            seating: self.seating(),
            position: game.open.as_ref().map_or(game.context.dice.position(), |open| open.before),
            number: game.next_number,
            seq: game.next_seq(),
            actions: game.actions,
            idle: game.idle,
            unasked: game.unasked,
            asked_policies: game.policies_were_asked_before(),
        }
    }

    /// The checksum of the state after the last finished action.
    #[doc(hidden)]
    pub fn state_checksum(&self) -> Checksum {
        checksum_of(&self.game().context.state.before_journal())
    }

    /// Restores a game from a checkpoint, without open actions. Earlier actions are not in memory.
    #[doc(hidden)]
    pub fn resume(rules: &Arc<Ruleset>, setup: Setup, from: Checkpoint) -> Result<Session, StartError> {
        let mut session = Session::before_its_start(rules, setup)?;
        let game = session.game_mut();
        let context = &mut game.context;
        context.state = from.state;
        context.state.renew_identity();
        context.switches = Arc::new(from.switches);
        context.answers.seats = from.seating.seats;
        context.dice.source = from.seating.dice;
        context.dice.set_position(from.position);
        game.next_number = from.number;
        game.horizon = from.seq.saturating_sub(1);
        game.resumed = true;
        game.actions = from.actions;
        game.idle = from.idle;
        game.unasked = from.unasked;
        game.asked_policies = from.asked_policies;
        Ok(session)
    }

    /// Replays recorded actions and compares the state that they lead to with the stored one. Campaign files and saved games
    /// are verified by this function.
    ///
    /// # Errors
    ///
    /// The first action whose replay differs from the record, or a message that the state differs.
    #[doc(hidden)]
    pub fn replay_to(
        &mut self,
        part: &Arc<[Done]>,
        find: &mut FindRules<'_>,
        is_stored: impl FnOnce(&Session) -> bool,
    ) -> Result<(), String> {
        self.verify(part, &mut |hash, _, _| find(hash), is_stored)
    }

    pub(super) fn verify(
        &mut self,
        part: &Arc<[Done]>,
        find: &mut RulesOf<'_>,
        is_stored: impl FnOnce(&Session) -> bool,
    ) -> Result<(), String> {
        self.replay_strictly(part, find)?;
        if is_stored(self) { Ok(()) } else { Err(OTHER_STATE.into()) }
    }

    /// Replays recorded actions, and fails where a script asks or rolls something else than the record holds.
    fn replay_strictly(&mut self, part: &Arc<[Done]>, find: &mut RulesOf<'_>) -> Result<(), String> {
        self.game_mut().context.playback.strict = true;
        let played = self.replay_through(part, find);
        self.game_mut().context.playback.strict = false;
        played
    }

    /// Replays recorded actions, each by the rules that were in force.
    ///
    /// # Errors
    ///
    /// The first action whose replay differs from the record.
    #[doc(hidden)]
    pub fn replay(&mut self, part: &Arc<[Done]>, find: &mut FindRules<'_>) -> Result<(), String> {
        self.replay_strictly(part, &mut |hash, _, _| find(hash))
    }

    /// Restores the position of a game after its last action. Publishes no events.
    ///
    /// # Errors
    ///
    /// The required rules cannot be found.
    #[doc(hidden)]
    pub fn stand_at(&mut self, place: &Place, seating: &Seating, find: &mut FindRules<'_>) -> Result<(), String> {
        let mut pending = Vec::new();
        for asked in place.asked_before.iter().chain(&place.pending) {
            let rules = asked.hash.as_deref().map(&mut *find).transpose()?;
            pending.push(Pending { rules, asked_at: asked.asked_at });
        }
        let game = self.game_mut();
        game.context.answers.seats.extend(seating.seats.clone());
        game.context.dice.source = seating.dice.clone();
        game.context.state.renew_identity();
        game.next_number = place.number;
        // The position may precede decisions of actions that were open at the checkpoint.
        game.horizon = game.horizon.min(place.seq.saturating_sub(1));
        let Place { open, held, queued, position, .. } = place.clone();
        self.lend(move |game, vm| game.bring_back(vm, (open.as_ref(), &held, &queued), position))
            .map_err(|error| error.to_string())?;
        self.game_mut().pending = pending;
        self.take_events();
        Ok(())
    }
}

impl Session {
    /// True if the game has been advanced since it was set up.
    #[doc(hidden)]
    pub fn has_started(&self) -> bool {
        self.game().open.as_ref().is_none_or(|open| open.ran || !matches!(open.cause, Cause::Start))
    }

    /// True if the game was opened at a checkpoint of a campaign. Then only its last part is in memory, and
    /// [`Session::save`] would write only that. `Campaign::whole` of the store returns the whole game.
    pub fn is_resumed(&self) -> bool {
        self.game().resumed
    }

    /// The rules and the setup with which the game began.
    #[doc(hidden)]
    pub fn beginning(&self) -> Result<(Arc<Ruleset>, Setup), StartError> {
        let game = self.game();
        let rules = match &game.first_rules {
            None => self.ruleset().clone(),
            Some(first) => first.stacked.rules_of(&first.files)?,
        };
        Ok((rules, (*game.setup).clone()))
    }

    /// All rules requested since the last boundary: an undo may restore each request.
    #[doc(hidden)]
    pub fn rules_asked_for(&self) -> impl Iterator<Item = &Arc<Ruleset>> {
        self.game().pending.iter().filter_map(|pending| pending.rules.as_ref())
    }

    /// The rules in force before the changes of rules from action `from` on, as far as they are in memory.
    #[doc(hidden)]
    pub fn rules_on_the_way(&self, from: usize) -> Vec<Arc<Ruleset>> {
        let history = &self.game().history;
        let swaps = history.iter().skip(from).filter_map(|done| done.swap.as_ref()?.in_force.as_ref());
        swaps.map(|in_force| in_force.rules.clone()).collect()
    }
}

impl Checkpoint {
    /// True if this is a checkpoint of the game after its last action.
    pub fn is_of(&self, session: &Session) -> bool {
        session.ruleset().has_hash(&self.rules) && self.state == session.game().context.state.before_journal()
    }
}

impl Place {
    /// The number of decisions at this position, without pending requests for other rules.
    pub fn made(&self) -> u32 {
        self.seq.saturating_sub(1)
    }

    /// If the last decision was a request for or a cancellation of other rules: the line that says so.
    pub fn asks_for_rules(&self) -> Option<&'static str> {
        let pending = self.pending.as_ref().filter(|pending| pending.asked_at >= self.seq)?;
        Some(match pending.hash {
            Some(_) => "other rules were asked for",
            None => "other rules were called off",
        })
    }

    /// The hashes of the requested rules.
    pub fn rules_asked_for(&self) -> impl Iterator<Item = &str> {
        self.asked_before.iter().chain(&self.pending).filter_map(|asked| asked.hash.as_deref())
    }

    /// The tapes of the open and interrupted actions, with the action numbers.
    #[doc(hidden)]
    pub fn tapes(&self) -> impl Iterator<Item = (u32, &[Option<Slot>])> {
        self.held.iter().chain(&self.open).map(|open| (open.number, &*open.tape.slots))
    }

    /// The slots on the tapes of the open and interrupted actions.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.tapes().flat_map(|(_, slots)| slots.iter().flatten())
    }
}

impl Cause {
    /// Describes a decision that answers no question, such as an edit. `None` for other actions.
    ///
    /// `name`: returns the title of an entity.
    #[doc(hidden)]
    pub fn by_hand(&self, name: &dyn Fn(EntityId) -> String) -> Option<String> {
        Some(match self {
            Cause::Free { seat, name } => format!("{seat}: {name}"),
            Cause::Edit { edit } => edit.words(name),
            Cause::Reload { .. } => "the rules were reloaded".into(),
            Cause::Rules { ruleset, .. } => format!("the rules are {ruleset} now"),
            Cause::Start | Cause::Entry { .. } => return None,
        })
    }
}

impl Edit {
    fn words(&self, name: &dyn Fn(EntityId) -> String) -> String {
        match self {
            Edit::Set { entity, field, value } => {
                let value = match value {
                    Value::Entity(other) => name(*other),
                    value => value.to_string(),
                };
                format!("edit: {} {} {value}", name(*entity), readable_name(field))
            }
            Edit::Remove { entity } => format!("edit: {} is taken away", name(*entity)),
            Edit::Cancel { entry } => format!("edit: entry {} is taken off the agenda", entry.0),
            Edit::Face { faces, .. } => format!("edit: dice {faces:?}"),
            Edit::LeaveOut { name } => format!("edit: `{name}` is disabled"),
            Edit::TakeIn { name } => format!("edit: `{name}` is enabled again"),
            Edit::Switch { name, value } => format!("house rule: {name} {value}"),
            Edit::Say { text } => format!("said: {text}"),
            Edit::OtherDice { .. } => "edit: other dice".into(),
        }
    }
}

fn checksum_of(state: &State) -> Checksum {
    Checksum::of(&riskbreaker_state::in_stored_form(|| serde_json::to_vec(state)).unwrap_or_default())
}

/// Finds rules by their hash; gets the rules in force and the cause that changed them.
pub(super) type RulesOf<'f> = dyn FnMut(&str, &Ruleset, &Cause) -> Result<Arc<Ruleset>, String> + 'f;
