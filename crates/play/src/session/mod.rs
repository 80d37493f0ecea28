//! Sessions: a game with its ruleset, as callers see it, and as each seat sees it.

mod advancing;
mod checkpoint;
mod checksum;
mod counts;
mod creation;
mod deciding;
mod migration;
mod numbering;
pub mod plain;
mod reading;
mod record;
pub mod recorded;
mod reload;
mod reply;
mod save;
mod saved_sources;
mod seat;
mod seat_profile;
mod settings;
mod step;
mod taken_back;
mod turn_notice;
mod undo;
mod undone;

pub use creation::BuiltSheet;
pub use record::{Checkpoint, Place, Seating};
pub use save::is_saved_game;
#[cfg(feature = "serve")]
pub use save::saved_table;
pub use seat::{Known, Seat, SeatEvent, Snapshot, SnapshotEntity};
pub use step::Step;
pub use turn_notice::{TurnNotice, TurnNotices};
pub use undo::Mark;
pub use undone::Undone;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{DiceSource, Fault, Game, Machine, Prepared, Ruleset, SessionError, Setup, StartError};
use riskbreaker_dice::DiceRng;

/// A game of one ruleset. Plain data: between calls it holds no thread and no script machine.
///
/// Call [`Session::advance`] and answer its questions, until it returns that the game is over.
pub struct Session {
    game: Option<Box<Game>>,
    rules: Arc<Ruleset>,
    /// The work of its scripts so far, in units of the script budget.
    work: u64,
}

/// The dice stream of forks: different from those of games and of look-aheads. The streams for suggestions to seats
/// also begin here.
const OTHER_DICE: u64 = 1 << 63;

impl Session {
    /// Begins a game. The starting state is built by the first [`Session::advance`].
    ///
    /// # Errors
    ///
    /// The ruleset has no such scenario, switch, seat or policy; the message names the most similar one.
    pub fn start(rules: &Arc<Ruleset>, setup: Setup) -> Result<Session, StartError> {
        let game = Prepared::new(rules, setup)?.game();
        Ok(Session { game: Some(Box::new(game)), rules: rules.clone(), work: 0 })
    }

    /// The rules in force.
    pub fn ruleset(&self) -> &Arc<Ruleset> {
        &self.rules
    }

    pub(crate) fn set_rules(&mut self, rules: Arc<Ruleset>) {
        self.rules = rules;
    }

    /// The state as canonical bytes: equal states have equal bytes.
    pub fn state_bytes(&self) -> Vec<u8> {
        riskbreaker_state::in_stored_form(|| serde_json::to_vec(&self.game().context.state)).unwrap_or_default()
    }

    /// Copies the game for a look-ahead: without log and history, and with other dice than those to come. The copy has
    /// no effect on the game.
    ///
    /// The copy is before the open action: call [`Session::advance`] to open the same questions.
    pub fn fork(&self) -> Session {
        let mut game = self.game().fork();
        game.context.keeps_tape = true;
        game.context.dice.rng = DiceRng::stream(self.seed(), OTHER_DICE);
        game.context.dice.source = DiceSource::Seeded;
        Session { game: Some(Box::new(game)), rules: self.rules.clone(), work: 0 }
    }

    #[doc(hidden)]
    pub fn game(&self) -> &Game {
        self.game.as_ref().expect("the game returns from every loan")
    }

    #[doc(hidden)]
    pub fn game_mut(&mut self) -> &mut Game {
        self.game.as_mut().expect("the game returns from every loan")
    }

    /// Lends the game to a thread with a script machine of its ruleset, and waits for the result.
    #[doc(hidden)]
    pub fn lend<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
    ) -> Result<R, SessionError> {
        let counted = move |game: &mut Game, machine: &mut dyn Machine| {
            let before = machine.work_of_thread();
            let result = work(game, machine);
            (result, machine.work_of_thread().wrapping_sub(before))
        };
        let (result, work) = lend(&self.rules, &mut self.game, counted)?;
        self.work = self.work.saturating_add(work);
        Ok(result)
    }

    /// The work of its scripts since it was started or opened, in units of the script budget.
    #[doc(hidden)]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Runs work on another game of these rules, and returns that game.
    #[doc(hidden)]
    pub fn run_on<R: Send + 'static>(
        &self,
        game: Box<Game>,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
    ) -> Result<(Box<Game>, R), SessionError> {
        let mut place = Some(game);
        let result = lend(&self.rules, &mut place, work)?;
        place.map(|game| (game, result)).ok_or(SessionError::Failed)
    }

    /// Runs read-only work on the game.
    pub(crate) fn look<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> Result<R, Fault> + Send + 'static,
    ) -> Result<R, Fault> {
        self.lend(work).unwrap_or_else(|error| Err(Fault::new(error.to_string())))
    }
}

/// Lends a game to a machine. The game is put back even if the job fails.
fn lend<R: Send + 'static>(
    rules: &Ruleset,
    game: &mut Option<Box<Game>>,
    work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
) -> Result<R, SessionError> {
    let place = Arc::new(Mutex::new(game.take()));
    let lent = place.clone();
    let result = rules.run(move |machine| {
        let mut place = lent.lock().unwrap_or_else(PoisonError::into_inner);
        let game = place.as_mut()?;
        let result = catch_unwind(AssertUnwindSafe(|| work(game, machine)));
        if result.is_err() {
            machine.discard();
            game.recover();
        }
        result.ok()
    });
    *game = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    match result {
        Ok(Some(result)) => Ok(result),
        Ok(None) => Err(SessionError::Failed),
        Err(_) => Err(SessionError::Worker(rules.id().to_string())),
    }
}
