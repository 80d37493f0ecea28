//! One trial of a study again, with its log, to its end or to one of its decisions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::SimulationError;
use super::super::advise::exact_worths;
use super::facts::GameFacts;
use super::recorder::{Study, StudyTable};
use riskbreaker_dice::{DiceRng, Fraction};
use riskbreaker_play::{Answer, Event, Session, SessionError};

/// A trial of a study that was played again.
pub struct WatchedTrial {
    /// The game as the trial left it.
    pub session: Session,
    /// The events of the game.
    pub events: Vec<Event>,
    /// The facts of the game. If it was stopped at a decision, those until then.
    pub facts: GameFacts,
    /// True if the game was stopped at the wanted decision, whose question is open.
    pub is_at_decision: bool,
    /// True if the game was interrupted; the facts are those until then.
    pub is_interrupted: bool,
    /// The answers of that question, each with its exact average value for the seat that is asked, at the horizon of the
    /// ruleset; `None` for a value that cannot be computed exactly. Empty without `value`.
    pub answers: Vec<(Answer, Option<Fraction>)>,
}

impl Study {
    /// Plays a trial again, with its log. `decision`: the number of the decision at which it stops, from 1. `stop` ends the work
    /// when it is set.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`].
    pub fn watch(
        &self,
        trial: u64,
        decision: Option<u64>,
        stop: &Arc<AtomicBool>,
    ) -> Result<WatchedTrial, SimulationError> {
        // A tape would only count against the memory limit of a game.
        self.play_again(trial, decision, false, stop)
    }

    /// Plays a trial again, in a session that keeps its course, for a spec.
    ///
    /// # Errors
    ///
    /// Those of [`Study::record`].
    pub fn session(&self, trial: u64) -> Result<Session, SimulationError> {
        Ok(self.play_again(trial, None, true, &Arc::default())?.session)
    }

    fn play_again(
        &self,
        trial: u64,
        decision: Option<u64>,
        keeps_tape: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<WatchedTrial, SimulationError> {
        let mut session = Session::start(&self.variant.rules, self.variant.setup.clone().seed(self.seed))?;
        session.game_mut().context.dice.rng = DiceRng::stream(self.seed, trial);
        let context = &mut session.game_mut().context;
        (context.answers.overseen, context.keeps_tape) = (true, keeps_tape);
        let (study, seats, ready) = (self.clone(), self.contenders()?, self.ready()?);
        let flag = stop.clone();
        let played = session.lend(move |game, vm| {
            let (mut events, mut answers, mut passed) = (Vec::new(), None, 0);
            let table =
                StudyTable { study: &study, ready: &ready, seats: &seats, actions: study.actions, listens: true };
            let mut look = |vm: &mut dyn riskbreaker_play::Machine, game: &riskbreaker_play::Game, question: &_| {
                passed += 1;
                if Some(passed) == decision {
                    let weighs = study.variant.rules.measures();
                    let found = weighs.then(|| exact_worths(game, vm, question, &flag).unwrap_or_default());
                    answers = Some(found.unwrap_or_default());
                }
                Some(passed) != decision
            };
            let told = &mut |more: Vec<Event>| events.extend(more);
            let facts = table.play_on(vm, game, trial, &flag, &mut look, told);
            (events, facts, answers)
        });
        let no_machine =
            |error: SessionError| SimulationError::Machine(self.variant.rules.id().to_string(), error.to_string());
        let (events, facts, answers) = played.map_err(no_machine)?;
        let is_at_decision = answers.is_some();
        // A flag that is set after the end of the game interrupts nothing.
        let is_interrupted = stop.load(Ordering::Relaxed) && !facts.is_whole();
        let answers = answers.unwrap_or_default();
        Ok(WatchedTrial { session, events, facts, is_at_decision, is_interrupted, answers })
    }
}
