//! The end of a saved game's tape as data, so that the game goes on without its tape being played.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::{Cause, Done};
use super::advance::NOTHING_LEFT;
use super::save::{LARGEST_NUMBER, hash_of, replay};
use super::{Edit, Event, Game, Happening, Refusal, Ruleset, Session, Setup};
use riskbreaker_state::{Audience, State, in_stored_form};

/// A saved game behind the last action that was done: its state, and what each action told.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedEnd {
    state: State,
    told: Vec<Vec<CheckpointEvent>>,
    idle: u32,
}

/// An event without the number of its action.
#[derive(Serialize, Deserialize)]
struct CheckpointEvent(u32, Audience, Happening);

/// The part of a history that came from a checkpoint and was not replayed: the changes of its actions are not known yet.
#[derive(Debug)]
pub(super) struct Unplayed {
    rules: Arc<Ruleset>,
    setup: Setup,
    actions: usize,
    /// The hash of the state that they lead to.
    state: String,
}

impl SavedEnd {
    /// The end of a game's tape; nothing where more than the tape and one set of rules belongs to it.
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

    /// Whether it can be the end of these actions under these rules. That their tape leads there is found when it is played.
    pub fn fits(&self, done: &[Done], rules: &Ruleset) -> bool {
        self.told.len() == done.len()
            && !done.iter().any(changes_rules)
            && self.idle < LARGEST_NUMBER
            && self.state.fits(rules.schema())
    }

    /// Puts a game that has not begun behind these actions.
    pub fn put(self, game: &mut Game, done: Vec<Done>, rules: &Arc<Ruleset>) {
        let SavedEnd { state, told, idle } = self;
        let setup = (*game.setup).clone();
        let (actions, hash) = (done.len(), hash_of(&in_stored_form(|| serde_json::to_vec(&state)).unwrap_or_default()));
        game.unplayed = Some(Box::new(Unplayed { rules: rules.clone(), setup, actions, state: hash }));
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

    /// Whether a game that has played the tape has come to this end.
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

/// Whether other rules or house rules came into force with an action: then its state alone does not say how the game stands.
fn changes_rules(done: &Done) -> bool {
    done.swap.is_some() || done.cause.brings_rules() || matches!(done.cause, Cause::Edit { edit: Edit::Switch { .. } })
}

impl Session {
    /// Plays the actions that were only read, so that what they changed is known.
    ///
    /// # Errors
    ///
    /// Their tape does not lead to the state that was read.
    pub(super) fn play_unplayed(&mut self) -> Result<(), Refusal> {
        let Some(unplayed) = self.game().unplayed.as_deref() else { return Ok(()) };
        let wrong = |message: String| {
            Refusal::new(format!("the tape of the saved game does not lead to its checkpoint: {message}"))
        };
        let part: Arc<[Done]> = self.game().history[..unplayed.actions].into();
        let played = Session::before_its_start(&unplayed.rules, unplayed.setup.clone());
        let mut played = played.map_err(|error| wrong(error.to_string()))?;
        played.game_mut().context.strict = true;
        let done = played.lend(move |game, vm| replay(game, vm, &part)).map_err(Refusal::from)?;
        done.map_err(wrong)?;
        if hash_of(&played.state_bytes()) != unplayed.state || played.game().history.len() != unplayed.actions {
            return Err(wrong("it leads to another state".into()));
        }
        let game = self.game_mut();
        game.unplayed = None;
        for (read, played) in game.history.iter_mut().zip(played.game_mut().history.iter_mut()) {
            // What belongs to no action was noted with the last one since.
            let since = std::mem::replace(&mut read.changes, std::mem::take(&mut played.changes));
            read.changes.extend(&since.get());
            read.private = std::mem::take(&mut played.private);
            read.course = played.course.take();
            read.idle = played.idle;
        }
        Ok(())
    }
}
