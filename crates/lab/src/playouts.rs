//! Plays games to their end by policies, from each answer to a question.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::advice::{Advice, AdviceLimits, Advised, PlayedOut};
use super::paired::{Difference, standard_errors};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    Answer, By, DiceSource, Driver, Game, Halt, MACHINE_STACK, Machine, Question, Refusal, Ruleset, Slot, Viewer,
};
use riskbreaker_work::is_set;

impl PlayedOut {
    fn add(&mut self, ended: &Ended) {
        let games = self.games as f64;
        let worth = ended.worth as f64;
        self.average = (self.average * games + worth) / (games + 1.0);
        self.squares += worth * worth;
        if self.games == 0 {
            (self.wins, self.draws) = (ended.result.map(|_| 0), ended.result.map(|_| 0));
        }
        let count = |sum: Option<u64>, result| sum.zip(ended.result).map(|(sum, had)| sum + u64::from(had == result));
        (self.wins, self.draws) = (count(self.wins, Won::Yes), count(self.draws, Won::Drawn));
        self.games += 1;
    }
}

/// The result of one game for the asked seat.
#[derive(Clone, Copy, Debug)]
struct Ended {
    worth: i64,
    /// `None` if no other seat has a value.
    result: Option<Won>,
    /// True if it was stopped at the limit of actions.
    stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Won {
    Yes,
    Drawn,
    No,
}

/// The least number of games of each answer for a ranking.
const LEAST_GAMES: u64 = 32;
/// The least number of games of the best answer, if the limit allows it: its own share is shown.
const LEAST_OF_BEST: u64 = 256;
/// If this number of games of each answer was begun and none reached its end, no more are played.
const VAIN_GAMES: u64 = 8;
/// The number of games in which the policy answers the question as well.
const BASELINE_GAMES: u64 = 256;
/// The number of actions between two reads of the stop flag.
const SLICE: u64 = 8;
/// The first random stream of played-out games, far from those of simulations.
const STREAM: u64 = 1 << 62;

/// The games of all answers to one question. Game number `n` has the same dice for each answer.
pub(super) struct Playouts {
    rules: Arc<Ruleset>,
    start: Arc<PlayoutStart>,
    /// The results by answer and game number. `None`: the game could not be played.
    found: Vec<Vec<Option<Ended>>>,
    /// The results of the games in which the policy answers the question as well.
    baseline: Vec<Option<Ended>>,
}

/// The common start of all games.
pub(super) struct PlayoutStart {
    pub game: Box<Game>,
    pub question: Question,
    pub answers: Vec<Answer>,
    /// Answers already given to later questions, with their places on the tape of the open action.
    behind: Vec<(usize, Slot)>,
    /// The first policy of the rules.
    pub policy: Option<Arc<str>>,
    pub seed: u64,
}

impl Playouts {
    /// Creates the playouts without games. `game` is at the question.
    pub fn new(
        game: Box<Game>,
        question: Question,
        answers: Vec<Answer>,
        behind: Vec<(usize, Slot)>,
        seed: u64,
    ) -> Playouts {
        let rules = game.context.rules.clone();
        let found = vec![Vec::new(); answers.len()];
        let start = Arc::new(PlayoutStart::new(game, question, answers, behind, seed));
        Playouts { rules, start, found, baseline: Vec::new() }
    }

    /// Plays games from all answers and drops answers that are found to be worse than the best one, so that the others
    /// get their games.
    ///
    /// It ends when the games are used up, when one answer is left, or once `stop` is set. Answers are compared only
    /// after whole rounds of games, so the result depends only on the numbers of games.
    pub fn race(&mut self, limits: &AdviceLimits, stop: &Arc<AtomicBool>) {
        let mut open: Vec<usize> = (0..self.found.len()).collect();
        let (mut played, mut left) = (0, limits.games);
        let first = limits.first.max(LEAST_GAMES);
        let mut until = VAIN_GAMES;
        while !open.is_empty() && left > 0 {
            let each = left.div_ceil(open.len() as u64).min(until - played);
            let games = played..played + each;
            let whole = self.play(&open, games.clone(), limits.threads, stop);
            if played < BASELINE_GAMES && whole && self.start.policy.is_some() {
                self.play_baseline(games, limits.threads, stop);
            }
            played += each;
            left = left.saturating_sub(each * open.len() as u64);
            open.retain(|at| self.found[*at].iter().any(Option::is_some));
            if !whole || open.len() < 2 && played >= LEAST_OF_BEST {
                return;
            }
            if played >= first && open.len() > 1 {
                let best = self.best_of(&open);
                let z = standard_errors(self.found.len());
                let worse = |at: &usize| {
                    let difference = self.difference(best, *at, z);
                    difference.average > 0.0 && difference.is_found()
                };
                let dropped: BTreeSet<usize> = open.iter().copied().filter(worse).collect();
                open.retain(|at| !dropped.contains(at));
            }
            // The number doubles from one comparison to the next.
            until = if played < first { first } else { 2 * played };
        }
    }

    /// The answer with the best average; the first offered of equal ones.
    fn best_of(&self, among: &[usize]) -> usize {
        let score = |at: usize| self.played(at).map_or(f64::NEG_INFINITY, |played| played.score());
        let better = |best: usize, at: &usize| if score(*at) > score(best) { *at } else { best };
        among.iter().skip(1).fold(among[0], better)
    }

    /// The result of the games of an answer; `None` if none reached its end.
    fn played(&self, at: usize) -> Option<PlayedOut> {
        played_out(&self.found[at])
    }

    /// By how much the first of two answers is better, from the games that both have.
    fn difference(&self, first: usize, second: usize, z: f64) -> Difference {
        let pairs =
            || self.found[first].iter().zip(&self.found[second]).filter_map(|(one, two)| Some(((*one)?, (*two)?)));
        if pairs().any(|(one, two)| one.result.is_none() || two.result.is_none()) {
            return Difference::of_values(pairs().map(|(one, two)| (one.worth - two.worth) as f64), z);
        }
        let won = |ended: &Ended| ended.result == Some(Won::Yes);
        let (mut only_first, mut only_second, mut all) = (0, 0, 0);
        for (one, two) in pairs() {
            all += 1;
            match (won(&one), won(&two)) {
                (true, false) => only_first += 1,
                (false, true) => only_second += 1,
                _ => {}
            }
        }
        Difference::of_wins(only_first, only_second, all, z)
    }

    /// Ranks the answers: first the best with all that do not differ from it, then the best of the rest in the same
    /// way. Answers that share a place keep the order of the question.
    pub fn rank(&self, advised: &mut Advised) {
        let all: Vec<Option<Ended>> = self.found.iter().chain([&self.baseline]).flatten().copied().collect();
        advised.games = all.iter().flatten().count() as u64;
        advised.stopped = all.iter().flatten().filter(|ended| ended.stopped).count() as u64;
        advised.now = played_out(&self.baseline);
        for (at, one) in advised.answers.iter_mut().enumerate() {
            one.played = self.played(at);
        }
        let z = standard_errors(self.found.len());
        let mut rest: Vec<usize> =
            (0..self.found.len()).filter(|at| self.found[*at].iter().any(Option::is_some)).collect();
        let most = rest.iter().map(|at| self.found[*at].len()).max().unwrap_or_default();
        if most < LEAST_GAMES as usize {
            return;
        }
        advised.by_games = true;
        // The best is among those that were not dropped: they have the most games.
        let finalists: Vec<usize> = rest.iter().copied().filter(|at| self.found[*at].len() == most).collect();
        let best = self.best_of(&finalists);
        let (mut order, mut leader) = (Vec::new(), best);
        while !rest.is_empty() {
            let equal: Vec<usize> = rest
                .iter()
                .copied()
                .filter(|at| *at == leader || !self.difference(leader, *at, z).is_found())
                .collect();
            let place = order.len() + 1;
            if place == 1 && equal.len() > 1 {
                let pairs = equal.iter().flat_map(|one| equal.iter().map(move |two| (*one, *two)));
                let apart =
                    pairs.filter(|(one, two)| one < two).map(|(one, two)| self.difference(one, two, z).at_most());
                advised.margin = Some(apart.fold(0.0, f64::max));
            }
            for at in &equal {
                let one = &mut advised.answers[*at];
                one.place = Some(place);
                one.behind = (place > 1).then(|| self.difference(best, *at, z));
            }
            rest.retain(|at| !equal.contains(at));
            order.extend(equal);
            if !rest.is_empty() {
                leader = self.best_of(&rest);
            }
        }
        let unplayed = (0..self.found.len()).filter(|at| !order.contains(at));
        let order: Vec<usize> = order.iter().copied().chain(unplayed).collect();
        let mut answers: Vec<Option<Advice>> = std::mem::take(&mut advised.answers).into_iter().map(Some).collect();
        advised.answers = order.iter().filter_map(|at| answers[*at].take()).collect();
    }

    /// Refuses a result that depends on what the viewer may not see.
    pub fn unless_hidden(&mut self, viewer: &Viewer) -> Result<(), Refusal> {
        self.start.game.fork().context.unless_hidden(viewer, Ok(()))
    }

    /// Plays a range of games from each of some answers. False if not all were played; the last games are then missing
    /// for all of these answers.
    fn play(&mut self, open: &[usize], games: Range<u64>, threads: Option<usize>, stop: &Arc<AtomicBool>) -> bool {
        let arms: Vec<Option<usize>> = open.iter().copied().map(Some).collect();
        let (found, whole) = self.start.play_all(&self.rules, &arms, games, threads, stop);
        for results in found.chunks_exact(arms.len()) {
            for (at, ended) in open.iter().zip(results) {
                self.found[*at].push(*ended);
            }
        }
        whole
    }

    fn play_baseline(&mut self, games: Range<u64>, threads: Option<usize>, stop: &Arc<AtomicBool>) {
        let (found, _) = self.start.play_all(&self.rules, &[None], games, threads, stop);
        self.baseline.extend(found);
    }
}

fn played_out(found: &[Option<Ended>]) -> Option<PlayedOut> {
    let mut played = PlayedOut::default();
    found.iter().flatten().for_each(|ended| played.add(ended));
    (played.games > 0).then_some(played)
}

/// The results of games with their place in the order of all; `None` for a game that could not be played.
type Results = Vec<(usize, Option<Ended>)>;

impl PlayoutStart {
    /// `game` stands at the question.
    pub fn new(
        game: Box<Game>,
        question: Question,
        answers: Vec<Answer>,
        behind: Vec<(usize, Slot)>,
        seed: u64,
    ) -> PlayoutStart {
        let policy = game.context.rules.policies().first().cloned();
        PlayoutStart { game, question, answers, behind, policy, seed }
    }

    /// Plays a range of games from each of some answers, on many threads: all answers of one game, then those of the
    /// next. Returns the results in that order, up to the last game of which all were played, and true if that is all.
    fn play_all(
        self: &Arc<PlayoutStart>,
        rules: &Arc<Ruleset>,
        arms: &[Option<usize>],
        games: Range<u64>,
        threads: Option<usize>,
        stop: &Arc<AtomicBool>,
    ) -> (Vec<Option<Ended>>, bool) {
        let wanted = arms.len() * (games.end - games.start) as usize;
        let next = Arc::new(AtomicUsize::new(0));
        let arms: Arc<[Option<usize>]> = arms.into();
        let work = || {
            let mut all = Results::new();
            while next.load(Ordering::Relaxed) < wanted && !is_set(Some(stop)) {
                let (start, arms, next, stop) = (self.clone(), arms.clone(), next.clone(), stop.clone());
                let first = games.start;
                let job = move |vm: &mut dyn Machine| {
                    let mut results = Results::new();
                    // A machine that was discarded is built again for the next job.
                    while !vm.is_dead() && !is_set(Some(&stop)) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= wanted {
                            break;
                        }
                        let (arm, game) = (arms[at % arms.len()], first + (at / arms.len()) as u64);
                        match start.play(vm, arm, game, &stop) {
                            Ok(ended) => results.push((at, ended)),
                            Err(Stopped) => break,
                        }
                    }
                    results
                };
                match rules.run(job) {
                    Ok(results) => all.extend(results),
                    // No machine, or a panic: the results of this thread are lost.
                    Err(_) => break,
                }
            }
            all
        };
        let most = rules.threads();
        let threads = threads.map_or(most, |threads| threads.clamp(1, most)).min(wanted);
        let results: Results = if threads < 2 {
            work()
        } else {
            thread::scope(|scope| {
                let start = |_| thread::Builder::new().stack_size(MACHINE_STACK).spawn_scoped(scope, work).ok();
                let others: Vec<_> = (1..threads).filter_map(start).collect();
                let mut all = work();
                all.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_default()));
                all
            })
        };
        let mut by_place: Vec<Option<Option<Ended>>> = vec![None; wanted];
        results.into_iter().for_each(|(at, ended)| by_place[at] = Some(ended));
        let known: Vec<Option<Ended>> = by_place.into_iter().map_while(|ended| ended).collect();
        let whole = known.len() == wanted;
        let games = known.len() / arms.len();
        (known[..games * arms.len()].to_vec(), whole)
    }

    /// Plays one game, from an answer or from the policy's own. `Ok(None)` if it fails, or if the action does not take
    /// the answer.
    fn play(
        &self,
        vm: &mut dyn Machine,
        arm: Option<usize>,
        number: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Ended>, Stopped> {
        let Some((mut game, given)) = self.opened(vm, arm, number) else { return Ok(None) };
        let (mut halt, mut left) = (game.advance(vm, 1), AdviceLimits::ACTIONS);
        game.context.keeps_tape = false;
        // With other earlier answers or hidden values, the action may diverge and never reach the question.
        if given.is_some() {
            let place = self.question.id.ordinal as usize;
            let taken = game.history.last().and_then(|done| done.tape.get().slots.get(place).cloned().flatten());
            if taken != given {
                return Ok(None);
            }
        }
        game.context.state.renew_identity();
        while halt == Halt::Paused && left > 0 {
            if is_set(Some(stop)) {
                return Err(Stopped);
            }
            halt = game.advance(vm, SLICE.min(left));
            left = left.saturating_sub(SLICE);
        }
        let stopped = match halt {
            Halt::Over(_) => false,
            Halt::Paused | Halt::Boundary => true,
            Halt::Ask | Halt::Fault(_) => return Ok(None),
        };
        Ok(self.ended(&mut game, vm, stopped))
    }

    /// Returns the game at the question with the dice of game `number`, and the answer on its tape.
    fn opened(&self, vm: &mut dyn Machine, arm: Option<usize>, number: u64) -> Option<(Game, Option<Slot>)> {
        let (mut game, given) = self.opened_by_people(vm, arm, number)?;
        for driver in game.context.answers.seats.values_mut().filter(|driver| **driver == Driver::Human) {
            *driver = self.policy.as_ref().map_or(Driver::Absent, |policy| Driver::Policy(policy.clone()));
        }
        game.context.state.renew_identity();
        Some((game, given))
    }

    /// The game at the question with the dice of game `number`, and the answer that stands on its tape.
    pub fn opened_by_people(
        &self,
        vm: &mut dyn Machine,
        arm: Option<usize>,
        number: u64,
    ) -> Option<(Game, Option<Slot>)> {
        let mut game = self.game.fork();
        game.context.dice.rng = DiceRng::stream(self.seed, STREAM + number);
        game.context.dice.source = DiceSource::Seeded;
        game.deal_anew(vm).ok()?;
        let (question, before) = (&self.question, game.context.dice.position());
        let place = question.id.ordinal;
        let given = arm.map(|at| Slot::Answer {
            topic: question.topic.clone(),
            seat: question.seat.clone(),
            about: question.about,
            answer: self.answers[at].clone(),
            by: By::Policy,
            before,
        });
        let slots = &mut game.open.as_mut()?.tape.slots;
        if given.is_some() {
            // Policies answer the earlier open questions. In a race they are closed.
            let open_before = question.race.then_some(Slot::Closed { by: place, before });
            slots.resize(place as usize, open_before);
            slots.push(given.clone());
        }
        for (at, answered) in &self.behind {
            slots.resize(slots.len().max(at + 1), None);
            slots[*at] = Some(answered.clone());
        }
        // The open action reads its tape; later actions have none.
        game.context.keeps_tape = true;
        Some((game, given))
    }

    /// The value at the end of a game to the asked seat, and how it compares with the other seats.
    fn ended(&self, game: &mut Game, vm: &mut dyn Machine, stopped: bool) -> Option<Ended> {
        let seat = &self.question.seat;
        let worth = vm.worth(&mut game.context, seat).ok().flatten()?;
        let is_other = |other: &Arc<str>| other != seat && &**other != "gm";
        let others: Vec<Arc<str>> =
            game.context.answers.seats.keys().filter(|other| is_other(other)).cloned().collect();
        let mut most: Option<i64> = None;
        for other in others {
            // A seat without a value is not compared.
            if let Ok(Some(theirs)) = vm.worth(&mut game.context, &other) {
                most = Some(most.map_or(theirs, |most| most.max(theirs)));
            }
        }
        let result = most.map(|most| match worth.cmp(&most) {
            std::cmp::Ordering::Greater => Won::Yes,
            std::cmp::Ordering::Equal => Won::Drawn,
            std::cmp::Ordering::Less => Won::No,
        });
        Some(Ended { worth, result, stopped })
    }
}

/// The work was stopped in the middle of a game.
struct Stopped;

#[cfg(test)]
mod tests {
    use super::*;

    fn played(games: &[(i64, bool)]) -> PlayedOut {
        let mut played = PlayedOut::default();
        for (worth, won) in games {
            let result = Some(if *won { Won::Yes } else { Won::No });
            played.add(&Ended { worth: *worth, result, stopped: false });
        }
        played
    }

    #[test]
    fn the_margin_of_error_agrees_with_published_values() {
        // Newcombe 1998, table I: 0 of 20 is 0 to 0.1611.
        let (rate, margin) = played(&[(0, false); 20]).win_rate().unwrap();
        assert!(rate == 0.0 && (margin - 0.1611).abs() < 5e-5, "{rate} {margin}");
        // The margin of a single game is infinite.
        assert_eq!(played(&[(7, true)]).margin(), f64::INFINITY);
        // The standard deviation of 1 and 3 is the root of 2, that of their average 1.
        assert!((played(&[(1, true), (3, true)]).margin() - 1.96).abs() < 1e-9);
    }
}
