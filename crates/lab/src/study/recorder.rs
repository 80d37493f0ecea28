//! Plays the trials of a study and records the facts of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::super::advice::best_answer;
use super::super::trial::{ReadyVariant, Rounds};
use super::super::{Progress, Simulation, SimulationError, Variant};
use super::facts::{GameEnd, GameFacts};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{Answer, Ask, Driver, Game, Halt, MACHINE_STACK, MASTER, Machine, Question, Refusal};

/// The trials of one scenario under one set of rules, recorded for a study.
#[derive(Clone, Debug)]
pub struct Study {
    /// The rules, the scenario and who plays.
    pub variant: Variant,
    /// The number of the first trial, from 1.
    pub first: u64,
    /// How many games.
    pub trials: u64,
    /// The seed of the dice.
    pub seed: u64,
    /// A game that has not ended after so many actions counts as endless.
    pub actions: u64,
    /// Cards, by seat, that are closed to the policy of that seat while it chooses.
    pub bans: BTreeSet<(Arc<str>, Arc<str>)>,
}

/// The games of a study that were recorded: the first ones, without a gap.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The seats whose worth is in the courses, in that order.
    pub seats: Vec<Arc<str>>,
    /// By number of trial.
    pub games: Vec<GameFacts>,
    /// How often a banned card was used since no other option was open.
    pub forced: u64,
}

/// How often `told` is called while no game has ended.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(200);

/// The streams of the dice of policies begin here: far from those of games. A policy draws none of the dice of its game, so
/// that games with other policies have the same dice.
const POLICY_STREAM: u64 = 1 << 63;

/// Streams of the policies for each game.
const DECISIONS: u64 = 1 << 24;

/// Most answers of a question that are counted.
const MOST_ANSWERS: usize = 1_000;

/// A game and how often a banned card was used in it.
type OneGame = Result<(u64, GameFacts, u64), SimulationError>;

impl Study {
    /// Plays and records the trials on so many threads. The result does not depend on their number.
    ///
    /// `told` is called for each game in order and ends the work by returning false: what is known by then is returned.
    ///
    /// # Errors
    ///
    /// A game cannot begin, or no machine can be had. A game that fails is no error: its facts say so.
    pub fn record(&self, threads: usize, told: &mut dyn FnMut(Progress) -> bool) -> Result<Recorded, SimulationError> {
        let simulation = Simulation {
            scenario: String::new(),
            variants: vec![self.variant.clone()],
            trials: self.trials,
            seed: self.seed,
            until: None,
            actions: self.actions,
            memo: super::super::MemoUse::Never,
        };
        let ready = simulation.ready()?.remove(0);
        let seats: Vec<Arc<str>> = ready.prepared.seats.keys().filter(|seat| &***seat != MASTER).cloned().collect();
        let mut recorded = Recorded { seats: seats.clone(), ..Recorded::default() };
        let (next, stop) = (AtomicU64::new(self.first), Arc::new(AtomicBool::new(false)));
        let threads = threads.clamp(1, 256);
        thread::scope(|scope| {
            let (send, receive) = mpsc::sync_channel(threads * 4);
            for _ in 0..threads {
                let (send, ready, next, stop, seats) = (send.clone(), &ready, &next, &stop, &seats);
                let work = move || self.play_all(ready, seats, next, stop, &send);
                let started =
                    thread::Builder::new().name("study".into()).stack_size(MACHINE_STACK).spawn_scoped(scope, work);
                if let Err(error) = started {
                    stop.store(true, Ordering::Relaxed);
                    return Err(self.no_machine(error));
                }
            }
            drop(send);
            self.gather(&mut recorded, &receive, &stop, told)
        })?;
        Ok(recorded)
    }

    fn no_machine(&self, error: impl ToString) -> SimulationError {
        SimulationError::Machine(self.variant.rules.id().to_string(), error.to_string())
    }

    /// Takes the games in order as the threads send them.
    fn gather(
        &self,
        recorded: &mut Recorded,
        receive: &mpsc::Receiver<OneGame>,
        stop: &AtomicBool,
        told: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), SimulationError> {
        let mut waiting: BTreeMap<u64, (GameFacts, u64)> = BTreeMap::new();
        loop {
            match receive.recv_timeout(LOOKED_AT_EVERY) {
                Ok(Ok((trial, facts, forced))) => drop(waiting.insert(trial, (facts, forced))),
                Ok(Err(error)) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            while let Some((facts, forced)) = waiting.remove(&(recorded.games.len() as u64 + self.first)) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                recorded.games.push(facts);
                recorded.forced += forced;
            }
            let progress = Progress { done: recorded.games.len() as u64, of: self.trials };
            if !stop.load(Ordering::Relaxed) && !told(progress) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The work of one thread: trial after trial.
    fn play_all(
        &self,
        ready: &ReadyVariant,
        seats: &[Arc<str>],
        next: &AtomicU64,
        stop: &Arc<AtomicBool>,
        send: &mpsc::SyncSender<OneGame>,
    ) {
        let mut vm: Option<Box<dyn Machine>> = None;
        loop {
            let trial = next.fetch_add(1, Ordering::Relaxed);
            if trial - self.first >= self.trials || stop.load(Ordering::Relaxed) {
                return;
            }
            // A machine that was thrown away is built again for the next game.
            if vm.as_ref().is_none_or(|vm| vm.is_dead()) {
                drop(vm.take());
                match ready.prepared.rules.machine() {
                    Ok(machine) => vm = Some(machine),
                    Err(error) => {
                        let _ = send.send(Err(self.no_machine(error)));
                        return;
                    }
                }
            }
            let Some(vm) = vm.as_deref_mut() else { return };
            let mut table = StudyTable { study: self, ready, seats, forced: 0 };
            let facts = table.play(vm, trial, stop);
            if stop.load(Ordering::Relaxed) || send.send(Ok((trial, facts, table.forced))).is_err() {
                return;
            }
        }
    }
}

/// A table at which one game is recorded.
struct StudyTable<'s> {
    study: &'s Study,
    ready: &'s ReadyVariant,
    seats: &'s [Arc<str>],
    forced: u64,
}

impl StudyTable<'_> {
    fn play(&mut self, vm: &mut dyn Machine, trial: u64, stop: &Arc<AtomicBool>) -> GameFacts {
        let mut facts = GameFacts::of_trial(trial);
        let mut game = self.ready.prepared.game();
        game.context.chance = DiceRng::stream(self.study.seed, trial);
        (game.context.listening, game.context.keeps_tape, game.context.overseen) = (false, false, true);
        let mut rounds = Rounds::new(self.ready);
        let measures = self.study.variant.rules.measures();
        facts.end = loop {
            if game.actions >= self.study.actions || stop.load(Ordering::Relaxed) {
                break GameEnd::Endless;
            }
            if let Err(fault) = rounds.pass(vm, &mut game) {
                break GameEnd::Failed(fault.to_string());
            }
            let before = game.actions;
            let halt = game.advance_to(vm, 1, rounds.boundary());
            drop(game.take_events());
            if measures && (game.actions > before || matches!(halt, Halt::Over(_))) {
                self.measure(vm, &mut game, &mut facts);
            }
            match halt {
                Halt::Paused | Halt::Boundary => {}
                Halt::Fault(fault) => break GameEnd::Failed(fault.to_string()),
                Halt::Over(text) => match rounds.end(vm, &mut game) {
                    Ok(result) => break GameEnd::Result(result.unwrap_or(text)),
                    Err(fault) => break GameEnd::Failed(fault.to_string()),
                },
                Halt::Ask => {
                    if let Err(end) = self.answer(vm, &mut game, &mut facts, stop) {
                        break end;
                    }
                }
            }
        };
        facts.rounds = rounds.passed_rounds();
        facts.actions = game.actions;
        facts
    }

    /// Notes what the state is worth to each seat; nothing if it is worth something to some seats only.
    fn measure(&self, vm: &mut dyn Machine, game: &mut Game, facts: &mut GameFacts) {
        let worth = self.seats.iter().map(|seat| vm.worth(&mut game.context, seat).ok().flatten());
        if let Some(worth) = worth.collect::<Option<Vec<i64>>>() {
            facts.course.push(worth);
        }
    }

    /// Answers the first open question as its seat would, and notes what was open and what was chosen.
    fn answer(
        &mut self,
        vm: &mut dyn Machine,
        game: &mut Game,
        facts: &mut GameFacts,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), GameEnd> {
        let question = game.open.as_ref().and_then(|open| open.questions.first()).cloned();
        let question = question.ok_or_else(|| GameEnd::Stuck("it waits, and asks nothing".into()))?;
        facts.decisions += 1;
        let answers = question.answers(MOST_ANSWERS);
        if answers.as_ref().is_some_and(Vec::is_empty) {
            return Err(GameEnd::Stuck(format!("`{}` has no open answer", question.topic)));
        }
        let topics = facts.topics.entry(question.seat.clone()).or_default();
        let topic = topics.entry(question.topic.clone()).or_default();
        topic.asked += 1;
        if let Some(answers) = answers {
            topic.counted += 1;
            topic.open += answers.len() as u64;
            topic.single += u64::from(answers.len() == 1);
        }
        let chosen = match game.context.seats.get(&question.seat).cloned() {
            Some(Driver::Policy(policy)) => self.choose(vm, game, &question, &policy, facts),
            _ if self.ready.ahead.contains(&question.seat) => best_answer(game, vm, &question, Some(stop)).map(Some),
            _ => Ok(None),
        };
        let chosen = chosen.map_err(|refusal| GameEnd::Failed(refusal.to_string()))?;
        let chosen = chosen.or_else(|| question.default.clone()).ok_or_else(|| {
            let (seat, topic) = (&question.seat, &question.topic);
            GameEnd::Failed(format!("{seat} gives no answer to `{topic}`, which has no default"))
        })?;
        self.note_cards(&question, &chosen, facts);
        game.answer_by_program(question.id, chosen).map_err(|refusal| GameEnd::Failed(refusal.to_string()))
    }

    /// The answer of a policy, asked at a copy of the game where the banned cards of its seat are closed.
    fn choose(
        &mut self,
        vm: &mut dyn Machine,
        game: &Game,
        question: &Question,
        policy: &Arc<str>,
        facts: &GameFacts,
    ) -> Result<Option<Answer>, Refusal> {
        let open: Vec<&Arc<str>> =
            question.ask.options().iter().filter(|option| option.enabled).map(|option| &option.id).collect();
        let is_banned = |id: &&&Arc<str>| self.study.bans.contains(&(question.seat.clone(), (**id).clone()));
        let mut banned: Vec<Arc<str>> = open.iter().filter(is_banned).map(|id| (*id).clone()).collect();
        if !banned.is_empty() && banned.len() == open.len() {
            self.forced += 1;
            banned.clear();
        }
        let mut copy = game.fork();
        copy.context.chance = DiceRng::stream(
            self.study.seed,
            POLICY_STREAM + facts.trial.wrapping_mul(DECISIONS) % POLICY_STREAM + facts.decisions % DECISIONS,
        );
        for card in banned {
            copy.context.state.leave_out(card, true);
        }
        copy.context.state.settle_unread();
        if let Some(open) = &mut copy.open {
            open.questions = vec![question.clone()];
        }
        copy.suggest(vm, question.id, policy.clone())
    }

    /// Counts the cards that a question offers. Only options of single choices are cards.
    fn note_cards(&self, question: &Question, chosen: &Answer, facts: &mut GameFacts) {
        let Ask::Choose { options, .. } = &question.ask else { return };
        let rules = &self.study.variant.rules;
        let open = options.iter().filter(|option| option.enabled && rules.card(&option.id).is_some());
        for option in open {
            let cards = facts.cards.entry(question.seat.clone()).or_default();
            let card = cards.entry(option.id.clone()).or_default();
            card.offered += 1;
            card.chosen += u64::from(matches!(chosen, Answer::Choice(id) if *id == option.id));
        }
    }
}
