//! Checkpoints: the end state of a saved game, so that loading need not replay its tape.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Session;
use super::checksum::checksum_of;
use crate::game::{LARGEST_NUMBER, NOTHING_LEFT, Unplayed, replay};
use crate::{Cause, Done, Edit, Event, Game, Happening, Refusal, Ruleset};
use riskbreaker_state::{Audience, State, in_stored_form};

/// A saved game after its last finished action: the state, and the events of each action.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedEnd {
    state: State,
    told: Vec<Vec<CheckpointEvent>>,
    idle: u32,
}

/// An event without the number of its action.
#[derive(Serialize, Deserialize)]
struct CheckpointEvent(u32, Audience, Happening);

impl SavedEnd {
    /// Takes a checkpoint of the game. `None` if nothing was played yet, if the rules or house rules changed during the
    /// game, or if a change is pending: the state alone does not suffice then.
    pub fn of(game: &Game) -> Option<SavedEnd> {
        let state = game.context.state.before_journal();
        let plain = game.first_rules.is_none() && game.pending.is_empty() && state.dormant().is_empty();
        if !plain || game.history.is_empty() || game.history.iter().any(changes_rules) {
            return None;
        }
        let told = |event: Event| CheckpointEvent(event.n, event.audience, event.happening);
        let told = game.history.iter().map(|done| done.events.iter().map(told).collect()).collect();
        Some(SavedEnd { state, told, idle: game.idle })
    }

    /// True if the checkpoint may be the end of these actions under these rules. Only a replay shows whether the tape
    /// leads there.
    pub fn fits(&self, done: &[Done], rules: &Ruleset) -> bool {
        self.told.len() == done.len()
            && !done.iter().any(changes_rules)
            && self.idle < LARGEST_NUMBER
            && self.state.fits(rules.schema())
    }

    /// Sets a game that has not begun to the state of the checkpoint, with these actions as its history.
    pub fn put(self, game: &mut Game, done: Vec<Done>, rules: &Arc<Ruleset>) {
        let SavedEnd { state, told, idle } = self;
        let setup = (*game.setup).clone();
        let actions = done.len();
        let checksum = checksum_of(&in_stored_form(|| serde_json::to_vec(&state)).unwrap_or_default());
        game.unplayed = Some(Box::new(Unplayed { rules: rules.clone(), setup, actions, state: checksum }));
        game.context.state = state;
        game.context.state.renew_identity();
        // Loading a game counts as a decision of a person: the limit on actions without one starts again.
        (game.idle, game.unasked) = (idle, 0);
        game.actions = done.iter().filter(|done| !matches!(done.cause, Cause::Edit { .. })).count() as u64;
        (game.open, game.next_number) = (None, 1);
        for (mut done, told) in done.into_iter().zip(told) {
            game.count_in(done.number);
            let action = done.number;
            let event =
                |CheckpointEvent(n, audience, happening): CheckpointEvent| Event { action, n, audience, happening };
            done.events = told.into_iter().map(event).collect();
            game.history.push(done);
        }
    }

    /// True if a game that replayed the tape has reached the state of the checkpoint.
    pub fn is_reached_by(&self, game: &Game) -> bool {
        self.state == game.context.state.before_journal()
    }

    /// Sets `Done::ended` of the last action if its agenda ran empty: files of older versions lack this mark.
    pub fn mark_end(&self, done: &mut [Done]) {
        let ended = self.state.outcome() == Some(NOTHING_LEFT) && self.state.agenda().first().is_none();
        if ended
            && !done.iter().any(|done| done.ended)
            && let Some(last) = done.last_mut()
        {
            last.ended = true;
        }
    }
}

/// True if an action changed rules or house rules: the state alone does not restore such a game.
fn changes_rules(done: &Done) -> bool {
    done.swap.is_some() || done.cause.brings_rules() || matches!(done.cause, Cause::Edit { edit: Edit::Switch { .. } })
}

impl Session {
    /// Replays the actions that were loaded from a checkpoint, to learn what they changed.
    ///
    /// # Errors
    ///
    /// The tape does not lead to the state of the checkpoint.
    pub(crate) fn play_unplayed(&mut self) -> Result<(), Refusal> {
        let Some(unplayed) = self.game().unplayed.as_deref() else { return Ok(()) };
        let wrong = |message: String| {
            Refusal::new(format!("the tape of the saved game does not lead to its checkpoint: {message}"))
        };
        let part: Arc<[Done]> = self.game().history[..unplayed.actions].into();
        let played = Session::before_its_start(&unplayed.rules, unplayed.setup.clone());
        let mut played = played.map_err(|error| wrong(error.to_string()))?;
        played.game_mut().context.playback.strict = true;
        let done = played.lend(move |game, vm| replay(game, vm, &part)).map_err(Refusal::from)?;
        done.map_err(wrong)?;
        if checksum_of(&played.state_bytes()) != unplayed.state || played.game().history.len() != unplayed.actions {
            return Err(wrong("it leads to another state".into()));
        }
        let game = self.game_mut();
        game.unplayed = None;
        for (read, played) in game.history.iter_mut().zip(played.game_mut().history.iter_mut()) {
            // Changes outside any action were recorded with the last action since then.
            let since = std::mem::replace(&mut read.changes, std::mem::take(&mut played.changes));
            read.changes.extend(&since.get());
            read.private = std::mem::take(&mut played.private);
            read.course = played.course.take();
            read.idle = played.idle;
        }
        Ok(())
    }
}
