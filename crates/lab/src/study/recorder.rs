//! Plays the trials of a study and records the facts of each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::foresight::seed_of_decision;
use super::super::paired::Difference;
use super::super::position::MOST;
use super::super::trial::{LONGEST, ReadyVariant, Rounds, not_ended};
use super::super::{Progress, SimulationError, Variant};
use super::facts::{GameEnd, GameFacts};
use super::known::GameStore;
use super::runner::Run;
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    Answer, Ask, Choice, Driver, Event, Fault, Game, Halt, MASTER, Machine, Question, Refusal, Setup,
};

/// A study: the trials of one scenario under one set of rules.
#[derive(Clone, Debug)]
pub struct Study {
    /// The rules, the scenario and the drivers.
    pub variant: Variant,
    /// The number of the first trial, from 1.
    pub first: u64,
    /// The number of games.
    pub trials: u64,
    /// The seed of the dice.
    pub seed: u64,
    /// The number of actions after which a game counts as endless.
    pub actions: u64,
    /// Banned cards, by seat: closed to the seat whenever another option is open.
    pub bans: BTreeSet<(Arc<str>, Arc<str>)>,
    /// Seats without a driver that choose any open answer with equal chance.
    pub random: BTreeSet<Arc<str>>,
    /// Known games, which are not played again.
    pub store: GameStore,
    /// Records only those trials whose games are in the store.
    pub known_only: bool,
}

/// The recorded games of a study: the first ones, without a gap.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The seats whose values are in [`GameFacts::course`], in that order.
    pub seats: Vec<Arc<str>>,
    /// The ids of all cards of the rules.
    pub cards: Vec<Arc<str>>,
    /// True if the ruleset has a `value`.
    pub has_value: bool,
    /// The facts of the games, by trial.
    pub games: Vec<GameFacts>,
}

impl Recorded {
    /// The share of games won by a seat minus that in other games of the same trials: -1 to 1, a draw is half a game
    /// won. Pairs with a game that has no end do not count.
    pub fn difference(&self, other: &Recorded, seat: &str) -> Difference {
        let place = |recorded: &Recorded| recorded.seats.iter().position(|known| **known == *seat);
        let scores = self
            .games
            .iter()
            .zip(&other.games)
            .filter_map(|(one, other_game)| Some(one.score(place(self)?)? - other_game.score(place(other)?)?));
        Difference::of_scores(scores)
    }

    /// True if all seats win or lose together: there are several, and in every state of every game all have the same value.
    pub fn is_cooperative(&self) -> bool {
        let mut states = self.games.iter().flat_map(|game| &game.course).peekable();
        self.seats.len() > 1 && states.peek().is_some() && states.all(|worth| worth.iter().all(|one| *one == worth[0]))
    }

    /// The index of a seat among those that can win; 0 for any other seat.
    pub(super) fn place_of(&self, seat: &str) -> usize {
        self.seats.iter().position(|known| **known == *seat).unwrap_or_default()
    }

    /// The number of questions in which a banned card was allowed because no other option was open.
    pub fn forced(&self) -> u64 {
        self.games.iter().map(|game| game.forced).sum()
    }
}

/// The first random stream of policies, far from those of games. A policy draws none of the dice of its game, so games
/// with other policies have the same dice.
const POLICY_STREAM: u64 = 1 << 63;

/// The number of policy streams reserved for each game.
const DECISIONS: u64 = 1 << 24;

/// The most answers of a question that are listed.
const MOST_ANSWERS: usize = 1_000;

/// The driver name of a seat that chooses any open answer with equal chance, unless a policy of the ruleset has this
/// name.
pub const RANDOM: &str = "random";

/// A game to record.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// The index of its study in a list.
    pub study: usize,
    pub trial: u64,
    /// The number of actions after which it counts as endless, if the study does not set a smaller one.
    actions: u64,
}

/// A game that is played again with a change counts as endless if it takes this many times as many actions as before, and
/// [`MORE_ACTIONS`].
const TIMES_LONGER: u64 = 20;
const MORE_ACTIONS: u64 = 1_000;

impl Task {
    /// A recorded game again, under a study that changes something. A change that makes games endless, such as a ban of the card
    /// that ends them, would otherwise cost the full number of actions in each of them.
    pub fn again(study: usize, game: &GameFacts) -> Task {
        let actions = game.actions.saturating_mul(TIMES_LONGER).saturating_add(MORE_ACTIONS);
        Task { study, trial: game.trial, actions }
    }
}

impl Study {
    /// The largest number of trials: the facts of each game are kept.
    pub const MOST_TRIALS: u64 = 1_000_000;

    /// Plays and records the trials on this number of threads. The result does not depend on it.
    ///
    /// `told` is called for each game in order and ends the work by returning false; the games known by then are
    /// returned.
    ///
    /// # Errors
    ///
    /// More than [`Study::MOST_TRIALS`] trials; a game cannot start, or a machine cannot be started. A game that fails is no
    /// error: its facts say so.
    pub fn record(&self, threads: usize, told: &mut dyn FnMut(Progress) -> bool) -> Result<Recorded, SimulationError> {
        if self.trials > Study::MOST_TRIALS {
            return Err(SimulationError::TooManyTrials(self.trials));
        }
        let cards = self.variant.rules.cards().iter().map(|card| card.id.clone()).collect();
        let has_value = self.variant.rules.measures();
        let mut recorded = Recorded { seats: self.contenders()?, cards, has_value, games: Vec::new() };
        let first = |trial| Task { study: 0, trial, actions: self.actions };
        let mut tasks: Vec<Task> = (0..self.trials).map(|at| first(self.first.saturating_add(at))).collect();
        if self.known_only {
            let known = self.store.known().trials_of(self);
            tasks.retain(|task| known.binary_search(&task.trial).is_ok());
        }
        record_all(std::slice::from_ref(self), &tasks, threads, GameFacts::clone, &mut |facts| {
            recorded.games.extend(facts);
            told(Progress { done: recorded.games.len() as u64, of: self.trials })
        })?;
        Ok(recorded)
    }

    /// Returns the seats except the game master's, in the order of the courses of its games.
    pub(super) fn contenders(&self) -> Result<Vec<Arc<str>>, SimulationError> {
        let ready = self.ready()?;
        Ok(ready.prepared.seats.keys().filter(|seat| &***seat != MASTER).cloned().collect())
    }

    /// A text that is the same for studies whose trials are the same games: who plays, what is banned, and what is played.
    pub fn way_of_play(&self) -> String {
        let Setup { scenario, seats, switches, .. } = &self.variant.setup;
        let (ahead, bans, random) = (&self.variant.ahead, &self.bans, &self.random);
        format!("{scenario:?} {seats:?} {switches:?} {ahead:?} {bans:?} {random:?}")
    }

    pub(super) fn ready(&self) -> Result<ReadyVariant, SimulationError> {
        self.variant.ready(self.seed)
    }
}

/// Plays games of several studies of the same rules, and returns what `read` takes from each, in the order of the tasks. Fewer
/// if `told` returns false.
pub(super) fn played_again<T>(
    studies: &[Study],
    tasks: &[Task],
    threads: usize,
    told: &mut dyn FnMut(Progress) -> bool,
    read: &dyn Fn(Task, &GameFacts) -> T,
) -> Result<Vec<T>, SimulationError> {
    let mut found: Vec<T> = Vec::new();
    record_all(studies, tasks, threads, GameFacts::end_alone, &mut |facts| {
        if let (Some(facts), Some(task)) = (facts, tasks.get(found.len())) {
            found.push(read(*task, &facts));
        }
        told(Progress { done: found.len() as u64, of: tasks.len() as u64 })
    })?;
    Ok(found)
}

/// Records games of several studies of the same rules, and passes them to `took` in the order of the tasks; see
/// [`Run::in_order`]. `kept`: what the store keeps of a game.
pub(super) fn record_all(
    studies: &[Study],
    tasks: &[Task],
    threads: usize,
    kept: fn(&GameFacts) -> GameFacts,
    took: &mut dyn FnMut(Option<GameFacts>) -> bool,
) -> Result<(), SimulationError> {
    let Some(first) = studies.first() else { return Ok(()) };
    let ready = studies.iter().map(Study::ready).collect::<Result<Vec<_>, _>>()?;
    let seats = first.contenders()?;
    let run = Run { rules: &first.variant.rules, threads, count: tasks.len() };
    let work = |vm: &mut dyn Machine, at: usize, stop: &Arc<AtomicBool>| {
        let Task { study, trial, actions } = tasks[at];
        let actions = actions.min(studies[study].actions);
        let listens = !ready[study].ahead.is_empty();
        let table = StudyTable { study: &studies[study], ready: &ready[study], seats: &seats, actions, listens };
        table.play(vm, trial, stop, &mut |_, _, _| true)
    };
    let store = &first.store;
    if !store.is_kept() {
        return run.in_order(&work, took);
    }
    let ways: Vec<String> = studies.iter().map(Study::way_of_play).collect();
    let known: Vec<Option<GameFacts>> = tasks.iter().map(|task| store.game(&ways[task.study], task.trial)).collect();
    let mut is_new = known.iter().map(Option::is_none).zip(tasks).collect::<Vec<_>>().into_iter();
    run.rest_in_order(known, &work, &mut |facts| {
        if let Some(facts) = &facts
            && let Some((true, task)) = is_new.next()
        {
            store.keep_game(&ways[task.study], kept(facts));
        }
        took(facts)
    })
}

/// The table at which one game at a time is recorded.
pub(super) struct StudyTable<'s> {
    pub study: &'s Study,
    pub ready: &'s ReadyVariant,
    pub seats: &'s [Arc<str>],
    /// The number of actions after which a game counts as endless.
    pub actions: u64,
    /// True to keep which rolls and answers a seat may not see, for answers from what a seat knows.
    pub listens: bool,
}

/// The number of actions and questions after which the processor time of a game is checked.
const SLICE: u64 = 64;

/// Called with the game at each question, before it is answered. Ends the game by returning false.
pub(super) type Onlooker<'o> = dyn FnMut(&mut dyn Machine, &Game, &Question) -> bool + 'o;

/// Measures the processor time of a game, without the time of looking ahead.
struct GameClock {
    began: Duration,
    looked_ahead: Duration,
}

impl GameClock {
    fn is_spent(&self, vm: &dyn Machine) -> bool {
        vm.clock().saturating_sub(self.began).saturating_sub(self.looked_ahead) > LONGEST
    }

    /// Runs `work` without charging its time to the game.
    fn besides<R>(&mut self, vm: &mut dyn Machine, work: impl FnOnce(&mut dyn Machine) -> R) -> R {
        let before = vm.clock();
        let found = work(vm);
        self.looked_ahead += vm.clock().saturating_sub(before);
        found
    }
}

impl StudyTable<'_> {
    /// Plays a trial. `onlooker` is called with each question; its time is not charged.
    pub fn play(&self, vm: &mut dyn Machine, trial: u64, stop: &Arc<AtomicBool>, onlooker: &mut Onlooker) -> GameFacts {
        let mut game = self.ready.prepared.game();
        game.context.dice.rng = DiceRng::stream(self.study.seed, trial);
        game.context.log.listening = self.listens;
        (game.context.keeps_tape, game.context.answers.overseen) = (false, true);
        self.play_on(vm, &mut game, trial, stop, onlooker, &mut drop)
    }

    /// Plays a trial in a game that begins, and passes its events to `told`.
    pub fn play_on(
        &self,
        vm: &mut dyn Machine,
        game: &mut Game,
        trial: u64,
        stop: &Arc<AtomicBool>,
        onlooker: &mut Onlooker,
        told: &mut dyn FnMut(Vec<Event>),
    ) -> GameFacts {
        let mut facts = GameFacts::of_trial(trial);
        let mut rounds = Rounds::new(self.ready);
        let mut clock = GameClock { began: vm.clock(), looked_ahead: Duration::ZERO };
        let measures = self.study.variant.rules.measures();
        let mut steps = 0_u64;
        facts.end = loop {
            steps += 1;
            if game.actions >= self.actions || stop.load(Ordering::Relaxed) {
                break GameEnd::Endless(not_ended(game.actions));
            }
            if steps.is_multiple_of(SLICE) && clock.is_spent(vm) {
                break GameEnd::TooLong;
            }
            if let Err(fault) = rounds.pass(vm, game) {
                break GameEnd::by_fault(&fault);
            }
            let before = game.actions;
            let halt = game.advance_to(vm, 1, rounds.boundary());
            told(game.take_events());
            // A game that ends since nothing is left to do has no new state.
            let is_new = game.actions > before || matches!(halt, Halt::Over(_)) && facts.course.is_empty();
            if measures
                && is_new
                && let Err(fault) = self.measure(vm, game, &mut facts)
            {
                break GameEnd::by_fault(&fault);
            }
            match halt {
                Halt::Paused | Halt::Boundary => {}
                Halt::Fault(fault) => break GameEnd::by_fault(&fault),
                Halt::Over(text) => match rounds.end(vm, game) {
                    Ok(result) => break GameEnd::Result(result.unwrap_or(text)),
                    Err(fault) => break GameEnd::by_fault(&fault),
                },
                Halt::Ask => {
                    let question = game.open.as_ref().and_then(|open| open.questions.first());
                    if question.is_some_and(|question| !clock.besides(vm, |vm| onlooker(vm, game, question))) {
                        break GameEnd::Endless(not_ended(game.actions));
                    }
                    if let Err(end) = self.answer(vm, game, &mut facts, &mut clock, stop) {
                        break end;
                    }
                }
            }
        };
        facts.rounds = rounds.passed_rounds();
        facts.actions = game.actions;
        facts
    }

    /// Records the value of the state to each seat. Records nothing if only some seats have a value.
    ///
    /// # Errors
    ///
    /// That of the `value` of the ruleset.
    fn measure(&self, vm: &mut dyn Machine, game: &mut Game, facts: &mut GameFacts) -> Result<(), Fault> {
        let mut worth = Vec::with_capacity(self.seats.len());
        for seat in self.seats {
            worth.extend(vm.worth(&mut game.context, seat)?);
        }
        if worth.len() == self.seats.len() {
            facts.course.push(worth);
        }
        Ok(())
    }

    /// Answers the first open question as its seat's driver would. Records what was open and what was chosen.
    fn answer(
        &self,
        vm: &mut dyn Machine,
        game: &mut Game,
        facts: &mut GameFacts,
        clock: &mut GameClock,
        stop: &Arc<AtomicBool>,
    ) -> Result<(), GameEnd> {
        let question = game.open.as_ref().and_then(|open| open.questions.first()).cloned();
        let question = question.ok_or_else(|| GameEnd::Stuck("it waits, and asks nothing".into()))?;
        facts.decisions += 1;
        let is_first = &*question.seat != MASTER && facts.topics.keys().all(|seat| **seat == *MASTER);
        let asked = game.open.iter().flat_map(|open| &open.questions).map(|question| &question.seat);
        // Of seats that are asked at the same time, none is the first.
        if is_first && asked.filter(|seat| ***seat != *MASTER).all(|seat| *seat == question.seat) {
            facts.begins = Some(question.seat.clone());
        }
        let count = question.answer_count();
        if count == Some(0) {
            return Err(GameEnd::Stuck(format!("`{}` has no open answer", question.topic)));
        }
        self.note_question(&question, count, facts);
        let answers = question.answers(MOST_ANSWERS);
        let closed = self.closed(&question, facts);
        let is_open = |answer: &Answer| !matches!(answer, Answer::Choice(id) if closed.contains(id));
        let first_open = match closed.is_empty() {
            true => None,
            false => answers.iter().flatten().find(|answer| is_open(answer)).cloned(),
        };
        let chosen = match game.context.answers.seats.get(&question.seat).cloned() {
            Some(Driver::Policy(policy)) => self.choose(vm, game, &question, &policy, &closed, facts),
            _ if self.study.random.contains(&question.seat) => Ok(self.at_random(&question, answers, &closed, facts)),
            _ => match self.ready.ahead.get(&question.seat) {
                Some(foresight) => {
                    let seed = seed_of_decision(self.study.seed, facts.trial, facts.decisions);
                    let answer = |vm: &mut dyn Machine| {
                        foresight.answer(game, vm, &question, &closed, seed, Some(stop)).map(Some)
                    };
                    clock.besides(vm, answer)
                }
                None => Ok(None),
            },
        };
        let chosen = chosen.map_err(|refusal| GameEnd::Failed(refusal.to_string()));
        // A policy may choose a banned card if the ruleset lists the options itself; the default may be banned, too.
        let usual = || question.default.clone().filter(is_open).or(first_open);
        let chosen = chosen.and_then(|chosen| {
            chosen.filter(is_open).or_else(usual).ok_or_else(|| {
                let (seat, topic) = (&question.seat, &question.topic);
                GameEnd::Failed(format!("{seat} gives no answer to `{topic}`, which has no default"))
            })
        });
        self.note_cards(&question, chosen.as_ref().ok(), facts);
        let chosen = chosen?;
        game.answer_by_program(question.id, chosen).map_err(|refusal| GameEnd::Failed(refusal.to_string()))
    }

    /// Returns the dice for one decision: apart from those of the game, and different for each decision.
    fn dice_of_decision(&self, facts: &GameFacts) -> DiceRng {
        let stream = facts.trial.wrapping_mul(DECISIONS) % POLICY_STREAM + facts.decisions % DECISIONS;
        DiceRng::stream(self.study.seed, POLICY_STREAM + stream)
    }

    /// Returns the open banned cards of a question's seat. None if nothing else is open, which is counted in `facts`.
    fn closed(&self, question: &Question, facts: &mut GameFacts) -> Vec<Arc<str>> {
        if self.study.bans.is_empty() {
            return Vec::new();
        }
        let open = question.ask.options().iter().filter(|option| option.enabled).map(|option| &option.id);
        let is_banned = |id: &&Arc<str>| self.study.bans.contains(&(question.seat.clone(), (*id).clone()));
        let (banned, others): (Vec<&Arc<str>>, Vec<&Arc<str>>) = open.partition(is_banned);
        if others.is_empty() && !banned.is_empty() {
            facts.forced += 1;
            return Vec::new();
        }
        banned.into_iter().cloned().collect()
    }

    /// Returns the answer of a policy, asked in a copy of the game in which these cards are closed. `None` if it answers
    /// nothing, or a card that is closed only here.
    fn choose(
        &self,
        vm: &mut dyn Machine,
        game: &Game,
        question: &Question,
        policy: &Arc<str>,
        closed: &[Arc<str>],
        facts: &GameFacts,
    ) -> Result<Option<Answer>, Refusal> {
        let mut suggested = |closed: &[Arc<str>]| {
            let mut copy = game.fork();
            copy.context.dice.rng = self.dice_of_decision(facts);
            for card in closed {
                copy.context.state.leave_out(card.clone(), true);
            }
            copy.context.state.settle_unread();
            if let Some(open) = &mut copy.open {
                open.questions = vec![question.clone()];
            }
            copy.suggest(vm, question.id, policy.clone())
        };
        match suggested(closed) {
            // A policy may name a card without a look at what is open.
            Err(refusal) if !closed.is_empty() => match suggested(&[]) {
                Ok(Some(Answer::Choice(card))) if closed.contains(&card) => Ok(None),
                _ => Err(refusal),
            },
            found => found,
        }
    }

    /// Draws an answer, each open one with equal chance. `None` if any text is one, or if all are closed. `answers`: all
    /// of them if they can be listed.
    fn at_random(
        &self,
        question: &Question,
        answers: Option<Vec<Answer>>,
        closed: &[Arc<str>],
        facts: &GameFacts,
    ) -> Option<Answer> {
        let is_closed = |answer: &Answer| matches!(answer, Answer::Choice(id) if closed.contains(id));
        let mut dice = self.dice_of_decision(facts);
        let Some(mut answers) = answers else {
            // Few of many answers are closed, and some are open: an open one is soon drawn.
            let mut drawn = (0..100).filter_map(|_| question.drawn_answer(&mut |sides| dice.face(sides)));
            return drawn.find(|answer| !is_closed(answer)).or_else(|| question.usual_answer());
        };
        answers.retain(|answer| !is_closed(answer));
        let sides = u32::try_from(answers.len()).ok().filter(|sides| *sides > 0)?;
        Some(answers.swap_remove(dice.face(sides) as usize - 1))
    }

    /// Records the number of open answers of a question, if it is known.
    fn note_question(&self, question: &Question, count: Option<u64>, facts: &mut GameFacts) {
        let topics = facts.topics.entry(question.seat.clone()).or_default();
        let topic = topics.entry(question.topic.clone()).or_default();
        topic.asked += 1;
        let Some(count) = count else { return };
        topic.counted += 1;
        topic.open = topic.open.saturating_add(count);
        topic.single += u64::from(count == 1);
        match self.study.kind_of_question(question) {
            Some(KindOfChoice::Cards) => facts.card_choices += 1,
            Some(KindOfChoice::Other) => facts.other_choices += 1,
            None => {}
        }
    }

    /// Records the cards that a question names: options of a choice whose id is that of a card.
    fn note_cards(&self, question: &Question, chosen: Option<&Answer>, facts: &mut GameFacts) {
        let (Ask::Choose { options, .. } | Ask::ChooseMany { options, .. }) = &question.ask else { return };
        let is_chosen = |id: &Arc<str>| match chosen {
            Some(Answer::Choice(chosen)) => chosen == id,
            Some(Answer::Choices(chosen)) => chosen.contains(id),
            _ => false,
        };
        let rules = &self.study.variant.rules;
        for option in options.iter().filter(|option| rules.card(&option.id).is_some()) {
            let cards = facts.cards.entry(question.seat.clone()).or_default();
            let card = cards.entry(option.id.clone()).or_default();
            card.named += 1;
            card.offered += u64::from(option.enabled);
            card.chosen += u64::from(is_chosen(&option.id));
        }
    }
}

/// The kind of a question with several open answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KindOfChoice {
    /// At least two cards are open.
    Cards,
    /// Any other question.
    Other,
}

impl Study {
    /// The kind of a question that can be examined. `None` if it has only one open answer or too many, or if it is the
    /// game master's.
    pub(super) fn kind_of_question(&self, question: &Question) -> Option<KindOfChoice> {
        if &*question.seat == MASTER || question.answers(MOST)?.len() < 2 {
            return None;
        }
        let Ask::Choose { options, .. } = &question.ask else { return Some(KindOfChoice::Other) };
        let is_card = |option: &&Choice| option.enabled && self.variant.rules.card(&option.id).is_some();
        let cards = options.iter().filter(is_card).count();
        Some(if cards > 1 { KindOfChoice::Cards } else { KindOfChoice::Other })
    }
}
