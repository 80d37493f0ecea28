//! A game as text: how it began and its whole tape. Reading it plays the tape again and compares.

use serde::{Deserialize, Serialize};

use super::action::{Cause, Done};
use super::game::{Game, Standing};
use super::{DicePosition, Fault, Remedy, Session, Setup, StartError, Tape};
use crate::ruleset::{Library, Ruleset};
use crate::script::Vm;

/// The format that is written; another one is refused.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Saved {
    format: u32,
    ruleset: String,
    version: String,
    layers: Vec<String>,
    /// Content of the rules that the game was played by.
    hash: String,
    setup: Setup,
    done: Vec<Done>,
    open: Option<SavedOpen>,
    position: DicePosition,
}

/// The action that was under way.
#[derive(Serialize, Deserialize)]
struct SavedOpen {
    number: u32,
    cause: Cause,
    tape: Tape,
    before: DicePosition,
    seq: Option<u32>,
}

impl Session {
    /// The game as JSON text: how it began, and its tape.
    pub fn save(&self) -> String {
        let game = self.game();
        let rules = self.ruleset();
        let saved = Saved {
            format: FORMAT,
            ruleset: rules.id().to_string(),
            version: rules.version().to_string(),
            layers: rules.extra_layers().to_vec(),
            hash: rules.hash(),
            setup: Setup { seats: game.desk.seats.clone(), dice: game.desk.dice.clone(), ..game.setup.clone() },
            done: game.history.clone(),
            open: game.open.as_ref().map(|open| SavedOpen {
                number: open.number,
                cause: open.cause.clone(),
                tape: open.tape.clone(),
                before: open.before,
                seq: open.seq,
            }),
            position: game.desk.position(),
        };
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Reads a saved game by playing its tape again.
    ///
    /// # Errors
    ///
    /// A text that is no saved game, rules that cannot be loaded, or rules under which the tape does not fit any more.
    pub fn load(library: &Library, text: &str) -> Result<Session, StartError> {
        let saved: Saved = serde_json::from_str(text).map_err(|error| StartError::Unreadable(error.to_string()))?;
        if saved.format != FORMAT {
            let message = format!("it has format {}, this program reads format {FORMAT}", saved.format);
            return Err(StartError::Unreadable(message));
        }
        let rules = Ruleset::load_with(library, &saved.ruleset, &saved.layers)?;
        let other = (rules.hash() != saved.hash)
            .then(|| format!("; the files of {} have changed since it was saved", saved.ruleset));
        let mut session = Session::start(&rules, saved.setup.clone())?;
        let replayed = session.lend(move |game, vm| replay(game, vm, &saved));
        let diverged = |message: String| StartError::Diverged(format!("{message}{}", other.unwrap_or_default()));
        match replayed {
            Ok(Ok(())) => {
                session.take_events();
                Ok(session)
            }
            Ok(Err(message)) => Err(diverged(message)),
            Err(error) => Err(diverged(error.to_string())),
        }
    }
}

fn replay(game: &mut Game, vm: &mut Vm, saved: &Saved) -> Result<(), String> {
    game.desk.strict = true;
    game.open = None;
    for done in &saved.done {
        let wrong = |what: &str| format!("action {}: {what}", done.number);
        game.reopen(done)?;
        if done.skipped.is_some() {
            game.remedy(Remedy::SkipAction).map_err(|refusal| wrong(&refusal.message))?;
            game.stamp_last(done);
            continue;
        }
        if matches!(done.cause, Cause::Edit { .. }) {
            continue;
        }
        let actions = game.actions;
        match game.advance(vm, 1) {
            Standing::Ask => return Err(wrong("it asks something that the tape does not answer")),
            Standing::Fault(fault) => return Err(wrong(&fault.to_string())),
            Standing::Paused | Standing::Over(_) if game.actions == actions => {
                return Err(wrong("it is not on the agenda"));
            }
            Standing::Paused | Standing::Over(_) => {}
        }
    }
    game.desk.set_position(saved.position);
    if let Some(open) = &saved.open {
        let done = Done {
            number: open.number,
            cause: open.cause.clone(),
            tape: open.tape.clone(),
            before: open.before,
            seq: open.seq,
            skipped: None,
            changes: Vec::new(),
            events: Vec::new(),
        };
        game.reopen(&done)?;
        // A fault of the open action is for the one who reads the game to remedy, not a reason to refuse it.
        let _: Standing = game.advance(vm, 0);
        game.desk.set_position(saved.position);
    }
    game.desk.strict = false;
    Ok(())
}

impl Game {
    /// Opens an action with the tape that it was recorded with, so that [`Game::advance`] runs it.
    fn reopen(&mut self, done: &Done) -> Result<(), String> {
        if let Cause::Edit { edit } = &done.cause {
            self.edit(edit.clone()).map_err(|refusal| format!("action {}: {}", done.number, refusal.message))?;
            self.stamp_last(done);
            return Ok(());
        }
        self.open_recorded(done, done.skipped.as_ref().map(|why| Fault::new(why.clone())));
        Ok(())
    }
}
