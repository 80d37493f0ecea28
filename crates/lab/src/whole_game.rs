//! Solves whole games. Scripts keep nothing between two actions, so equal states of the game are merged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::chain::{Chain, ChainRow, ChainTarget, TOO_LONG, Unsolved};
use super::exploration::{MOST_STARTS, NEGLIGIBLE, WORK_OF_RUN};
use super::interval::Interval;
use super::simulation::{Simulation, Variant};
use super::tally::Rate;
use super::trial::MemoUse;
use riskbreaker_dice::{Fraction, float, ratio, sum};
use riskbreaker_play::{
    Answering, Budget, Edge, Explorer, Game, Machine, OffPlan, Prepared, Refusal, Ruleset, Setup, Stop,
    write_whole_state,
};
use riskbreaker_state::State;
use riskbreaker_work::is_set;

/// Limits on the work for a whole game. All are counts, so the same call gives the same answer on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameLimits {
    /// The number of states between two actions.
    pub states: usize,
    /// The number of runs of actions, over all states.
    pub ways: u64,
    /// The size of all states together, in the form in which they are compared.
    pub bytes: usize,
    /// Work of scripts, dice and states over all runs, in steps of a script. A quarter of it must suffice to reach some
    /// end.
    pub work: u64,
    /// Work of the fractions of the chances, in steps of a script. Beyond it, the chances are decimals with a proven
    /// error.
    pub fractions: u64,
}

impl Default for GameLimits {
    fn default() -> GameLimits {
        GameLimits { states: 500_000, ways: 4_000_000, bytes: 192 << 20, work: 2_000_000_000, fractions: 1_000_000_000 }
    }
}

/// The possible results of a game with their chances.
#[derive(Clone, Debug, PartialEq)]
pub struct GameOdds {
    /// The results, as the ruleset names them, the likeliest first. Each chance is a lower bound; with `remaining`
    /// added it is an upper bound. The chances and `remaining` add up to exactly 1.
    pub results: Vec<(String, Fraction)>,
    /// The unknown part of the chances: games that were not followed to their end, and the error of decimals. The
    /// chances are exact if it is zero and `decimal` is not set.
    pub remaining: Fraction,
    /// The expected number of actions; games that were not followed to their end are counted up to there. Zero if
    /// `limit` is set.
    pub actions: Fraction,
    /// True if the chances are decimals with a proven error, because fractions would have too many digits.
    pub decimal: bool,
    /// The limit that was reached before the game was solved; `None` if it was solved.
    pub limit: Option<String>,
    /// True if some games are proven never to end; [`GameOdds::limit`] is then set.
    pub never_ends: bool,
    /// The results of random games, if a limit was reached.
    pub estimate: Option<GameEstimate>,
    /// The number of states between two actions, equal ones counted once.
    pub states: usize,
    /// The number of runs of actions.
    pub ways: u64,
    /// True if somebody interrupted the work: each chance is then a lower bound, and the rest is in `remaining`.
    pub interrupted: bool,
}

/// An estimate from random games, for a game whose chances are not known well enough.
#[derive(Clone, Debug, PartialEq)]
pub struct GameEstimate {
    /// The number of games played to their end.
    pub games: u64,
    /// The number of games left out because they failed or did not end.
    pub left_out: u64,
    /// The results, the most frequent first, with intervals that hold in 99 of 100 cases.
    pub results: Vec<(String, Rate)>,
}

impl GameOdds {
    /// True if a limit was reached, or somebody interrupted the work. Each chance is then only known to lie between two
    /// bounds.
    pub fn is_partial(&self) -> bool {
        self.limit.is_some() || self.interrupted
    }
}

/// The number of games for an estimate, the limit of actions of each, and the seed of their dice.
const GAMES: u64 = 2_000;
const ACTIONS: u64 = 5_000;
const SEED: u64 = 0x0dd5;
/// The bound of the relative error of a sum of rounded chances is one in this number.
const ROUNDED: u64 = 1_000_000_000;
/// The open chance at which it is first checked whether the game is solved.
const LITTLE: f64 = 1e-13;
/// The work of writing, storing and hashing one byte of a state.
const WORK_OF_BYTE: u64 = 4;
/// The number of states between two checks of the open chance.
const LOOKED_AT_EVERY: usize = 2_000;

/// Computes the chance of each result of a game from its start, with a policy on every seat.
///
/// # Errors
///
/// A setup that does not fit, a seat that nobody plays, or the fault of a script.
pub fn game_odds(
    rules: &Arc<Ruleset>,
    setup: Setup,
    limits: GameLimits,
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<GameOdds, Refusal> {
    let prepared = Prepared::new(rules, setup.clone()).map_err(|error| Refusal::new(error.to_string()))?;
    let stop = interrupt.clone();
    let work = move |vm: &mut dyn Machine| {
        let solve = |vm: &mut dyn Machine, timeless| solve(vm, &prepared, limits, interrupt.as_deref(), timeless);
        restarted(vm, !prepared.rules.computes_keys(), solve)
    };
    let mut found = rules.run(work).unwrap_or_else(|_| Err(Refusal::failing("the script worker has died")))?;
    if let Some(limit) = &found.limit {
        found.estimate = if found.never_ends { None } else { estimate(rules, setup, stop.as_deref()) };
        if found.estimate.is_none() && !found.interrupted && found.results.is_empty() && !found.never_ends {
            let text = format!("{limit}, none of them is an end, and no random game came to one");
            found.limit = Some(text);
        }
    }
    Ok(found)
}

/// Solves a game, with states that differ only in the time of entries merged if `timeless` is set and no script looks at it.
/// Starts again where something that scripts keep has changed.
pub(super) fn restarted<R>(
    vm: &mut dyn Machine,
    timeless: bool,
    mut solve: impl FnMut(&mut dyn Machine, bool) -> Result<R, WholeGameFailure>,
) -> Result<R, Refusal> {
    let mut solve = |timeless| {
        let mut found = Err(WholeGameFailure::Unstable);
        for _ in 0..MOST_STARTS {
            found = solve(vm, timeless);
            if !matches!(found, Err(WholeGameFailure::Unstable)) {
                break;
            }
        }
        found
    };
    let mut found = solve(timeless);
    if matches!(found, Err(WholeGameFailure::SeesTime)) {
        found = solve(false);
    }
    match found {
        Ok(odds) => Ok(odds),
        Err(WholeGameFailure::Refused(refusal)) => Err(refusal),
        Err(WholeGameFailure::SeesTime) => Err(Refusal::failing("the host itself failed: time was seen twice")),
        Err(WholeGameFailure::Unstable) => {
            Err(Refusal::failing("a script keeps something between its runs: `sim` plays the game instead"))
        }
    }
}

/// Plays the game with random dice, the same for each call; `None` if no game reaches its end.
fn estimate(rules: &Arc<Ruleset>, setup: Setup, interrupt: Option<&AtomicBool>) -> Option<GameEstimate> {
    let variant = Variant::new(rules.id(), rules, setup).ok()?;
    let simulation = Simulation {
        scenario: String::new(),
        variants: vec![variant],
        trials: GAMES,
        seed: SEED,
        until: None,
        actions: ACTIONS,
        memo: MemoUse::default(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let findings = simulation.run(threads, None, None, &mut |_, _| !is_set(interrupt)).ok()?;
    let tally = findings.tallies.first().filter(|tally| tally.trials > 0)?;
    let rate = |(result, count): (&String, &u64)| (result.clone(), Rate::within_99(*count, tally.trials));
    let mut results: Vec<(String, Rate)> = tally.results.iter().map(rate).collect();
    results.sort_by(|one, other| other.1.count.cmp(&one.1.count).then_with(|| one.0.cmp(&other.0)));
    Some(GameEstimate { games: tally.trials, left_out: tally.left_out.len() as u64, results })
}

pub(super) enum WholeGameFailure {
    Refused(Refusal),
    /// A script reads the time of agenda entries.
    SeesTime,
    /// A script changed what it keeps between runs.
    Unstable,
}

impl From<Refusal> for WholeGameFailure {
    fn from(refusal: Refusal) -> WholeGameFailure {
        WholeGameFailure::Refused(refusal)
    }
}

pub(super) struct GameNode {
    /// `None` once its action has been explored.
    pub state: Option<State>,
    /// True if policies have been asked for free acts since the last entry.
    asked: bool,
    /// The result of a game that is over.
    pub result: Option<u32>,
    /// What a game that is over is worth to each of [`Solver::contenders`].
    pub payoff: Vec<i64>,
    /// The chance of the paths that have reached this node so far.
    mass: f64,
}

pub(super) struct Solver<'a> {
    pub vm: &'a mut dyn Machine,
    base: Game,
    timeless: bool,
    limits: GameLimits,
    pub nodes: Vec<GameNode>,
    /// The seats to which the worth of an end is asked.
    pub contenders: Vec<Arc<str>>,
    known: HashMap<Box<[u8]>, u32>,
    rows: Vec<ChainRow>,
    waiting: BinaryHeap<(u64, Reverse<u32>)>,
    pub results: Vec<String>,
    pub ways: u64,
    bytes: usize,
    work: u64,
}

/// What came of exploring an action.
pub(super) enum ExploredAction {
    /// No action is left: the state that the game has come to.
    Over(u32),
    /// The game, with an explorer that holds all ways of the action.
    Ways(Box<Game>),
    /// Somebody interrupted the work.
    Interrupted,
}

fn solve(
    vm: &mut dyn Machine,
    prepared: &Prepared,
    limits: GameLimits,
    interrupt: Option<&AtomicBool>,
    timeless: bool,
) -> Result<GameOdds, WholeGameFailure> {
    let mut solver = Solver::new(vm, prepared, limits, timeless);
    let found = solver.explore(interrupt);
    solver.vm.end_exploring();
    found
}

impl<'a> Solver<'a> {
    pub fn new(vm: &'a mut dyn Machine, prepared: &Prepared, limits: GameLimits, timeless: bool) -> Solver<'a> {
        let start = GameNode { state: Some(State::new()), asked: false, result: None, payoff: Vec::new(), mass: 1.0 };
        Solver {
            vm,
            base: prepared.game(),
            timeless,
            limits,
            nodes: vec![start],
            contenders: Vec::new(),
            known: HashMap::new(),
            rows: vec![ChainRow::new()],
            waiting: BinaryHeap::new(),
            results: Vec::new(),
            ways: 0,
            bytes: 0,
            work: 0,
        }
    }

    fn explore(&mut self, interrupt: Option<&AtomicBool>) -> Result<GameOdds, WholeGameFailure> {
        let fingerprint = self.vm.begin_exploring();
        let kept = self.vm.kept();
        self.waiting.push((1.0_f64.to_bits(), Reverse(0)));
        let (mut explored, mut little) = (0, LITTLE);
        loop {
            let (mut open, mut spent) = (1.0, false);
            while let Some((mass, node)) = self.waiting.pop() {
                let Reverse(number) = node;
                if self.nodes[number as usize].state.is_none() {
                    continue;
                }
                if is_set(interrupt) {
                    return Ok(self.known_so_far());
                }
                explored += 1;
                spent = self.is_spent();
                if explored % LOOKED_AT_EVERY == 0 || spent {
                    open = self.nodes.iter().filter(|node| node.state.is_some()).map(|node| node.mass).sum();
                }
                if spent || open < little {
                    self.waiting.push((mass, node));
                    break;
                }
                self.step(number, fingerprint, interrupt)?;
            }
            if kept.is_some() && self.vm.kept() != kept {
                return Err(WholeGameFailure::Unstable);
            }
            // This is a lower bound of what is open: chances that return to an explored state are not in it.
            if spent && open > 2.0 / NEGLIGIBLE as f64 {
                return Ok(self.limited(interrupt, self.too_many()));
            }
            let chain = Chain::of_rows(self.rows.clone(), 0, interrupt).with_effort(self.limits.fractions);
            let solved = chain.settle(Edge::To(0)).and_then(|settled| Ok((settled, chain.expected_steps(0)?)));
            let (settled, actions) = match solved {
                Ok(solved) => solved,
                Err(Unsolved::Interrupted) => return Ok(self.known_so_far()),
                Err(Unsolved::TooLong) => match self.in_decimals(interrupt) {
                    Ok(odds) if odds.remaining <= ratio(1, NEGLIGIBLE) => return Ok(odds),
                    Ok(_) if !spent && !self.waiting.is_empty() => {
                        little *= little;
                        continue;
                    }
                    Err(Unsolved::Interrupted) => return Ok(self.known_so_far()),
                    _ => return Ok(self.limited(interrupt, TOO_LONG.to_owned())),
                },
                Err(_) => {
                    let text = "the game can continue for ever: from some states no end can be reached";
                    return Ok(GameOdds { never_ends: true, ..self.limited(interrupt, text.to_owned()) });
                }
            };
            if settled.remaining <= ratio(1, NEGLIGIBLE) {
                return Ok(GameOdds { actions, ..self.odds(settled.ends, settled.remaining) });
            }
            if spent || self.waiting.is_empty() {
                return Ok(self.limited(interrupt, self.too_many()));
            }
            // More was open than estimated.
            little *= little;
        }
    }

    /// Builds the odds from the chance of each result by its number.
    fn odds(&self, ends: BTreeMap<u32, Fraction>, remaining: Fraction) -> GameOdds {
        let mut results: Vec<(String, Fraction)> =
            ends.into_iter().map(|(end, chance)| (self.results[end as usize].clone(), chance)).collect();
        results.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let (states, ways) = (self.nodes.len(), self.ways);
        GameOdds {
            results,
            remaining,
            actions: Fraction::ZERO,
            decimal: false,
            limit: None,
            never_ends: false,
            estimate: None,
            states,
            ways,
            interrupted: false,
        }
    }

    fn too_many(&self) -> String {
        format!("the game has more states than the {} that were followed", self.nodes.len())
    }

    /// Solves the chain in decimals with a proven error. The remainder includes what was not followed.
    fn in_decimals(&self, interrupt: Option<&AtomicBool>) -> Result<GameOdds, Unsolved> {
        let bounded = |row: &ChainRow| row.iter().map(|(to, chance)| (*to, Interval::around(chance))).collect();
        let chain = Chain::<Interval>::of_rows(self.rows.iter().map(bounded).collect(), 0, interrupt);
        let settled = chain.settle(Edge::To(0))?;
        let actions = chain.expected_steps(0)?;
        let least = |bounds: Interval| Fraction::try_from(bounds.low.clamp(0.0, 1.0)).unwrap_or_default();
        let ends: BTreeMap<u32, Fraction> =
            settled.ends.into_iter().map(|(end, bounds)| (end, least(bounds))).collect();
        let remaining = Fraction::ONE - sum(ends.values());
        let actions = Fraction::try_from(0.5 * (actions.low + actions.high)).unwrap_or_default();
        Ok(GameOdds { actions, decimal: true, ..self.odds(ends, remaining) })
    }

    /// Returns the proven bounds when a limit is reached.
    fn limited(&self, interrupt: Option<&AtomicBool>, why: String) -> GameOdds {
        let known = self.in_decimals(interrupt).unwrap_or_else(|_| {
            let mut known = self.known_so_far();
            let surely = ratio(ROUNDED - 1, ROUNDED);
            known.results.iter_mut().for_each(|(_, chance)| *chance *= &surely);
            known.remaining = Fraction::ONE - sum(known.results.iter().map(|(_, chance)| chance));
            known
        });
        let interrupted = is_set(interrupt);
        GameOdds { actions: Fraction::ZERO, decimal: false, limit: Some(why), interrupted, ..known }
    }

    /// Returns the odds before the game is solved: the chances of the paths followed to each result.
    fn known_so_far(&self) -> GameOdds {
        let mut ends: BTreeMap<u32, Fraction> = BTreeMap::new();
        for node in &self.nodes {
            if let Some(result) = node.result {
                *ends.entry(result).or_default() += Fraction::try_from(node.mass).unwrap_or_default();
            }
        }
        let mut remaining = Fraction::ONE - sum(ends.values());
        // The chances of paths are rounded and may add up to a little more than 1.
        if remaining < Fraction::ZERO
            && let Some(likeliest) = ends.values_mut().max()
        {
            *likeliest += std::mem::take(&mut remaining);
        }
        GameOdds { interrupted: true, ..self.odds(ends, remaining) }
    }

    /// Explores the next action of a state.
    fn step(
        &mut self,
        node: u32,
        fingerprint: Option<riskbreaker_play::Fingerprint>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<(), WholeGameFailure> {
        let mass = self.nodes[node as usize].mass;
        let (nothing_left, chances, rest) = match self.explored(node, Answering::Seated, fingerprint, interrupt)? {
            ExploredAction::Interrupted => return Ok(()),
            ExploredAction::Over(next) => (true, BTreeMap::from([(next, Fraction::ONE)]), Fraction::ZERO),
            ExploredAction::Ways(game) => {
                let (chances, rest) = self.settled(&game)?;
                (false, chances, rest)
            }
        };
        let mut row = ChainRow::new();
        for (next, chance) in chances {
            let to = &mut self.nodes[next as usize];
            to.mass += mass * float(&chance);
            let target = match to.result {
                Some(result) => ChainTarget::End(result),
                None => ChainTarget::State(next),
            };
            if to.state.is_some() {
                self.waiting.push((to.mass.to_bits(), Reverse(next)));
            }
            *row.entry(target).or_default() += chance;
        }
        if !rest.is_zero() {
            row.insert(ChainTarget::Rest, rest);
        }
        if nothing_left {
            // An empty agenda is no action: this takes back the step counted for the state.
            row.insert(ChainTarget::Step, -Fraction::ONE);
        }
        self.rows[node as usize] = row;
        Ok(())
    }

    /// Runs the action that is next in a state in all ways that dice, and answers that branch, can take.
    pub fn explored(
        &mut self,
        node: u32,
        answering: Answering,
        fingerprint: Option<riskbreaker_play::Fingerprint>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<ExploredAction, WholeGameFailure> {
        let branches = answering == Answering::Branched;
        let GameNode { state, asked, .. } = &mut self.nodes[node as usize];
        let (state, asked) = (state.take().expect("it was not explored before"), *asked);
        let mut game = self.base.fork_onto(state);
        game.context.answers.seats.clone_from(&self.base.context.answers.seats);
        let mut now_asked = false;
        if node > 0 {
            game.open = None;
            game.context.observers.sees_time = false;
            let dice = game.context.dice.position();
            now_asked = game
                .open_for_exploring(self.vm, asked)
                .map_err(|fault| Refusal::failing(format!("a script fails: {fault}")))?;
            self.may_merge(&game)?;
            if game.context.dice.position() != dice {
                let text = "a policy decides by chance whether it takes a free act: `sim` plays the game instead";
                return Err(Refusal::failing(text).into());
            }
            // Keys that were worked out anew stand.
            game.context.state.settle();
        }
        if game.open.is_none() {
            return Ok(ExploredAction::Over(self.place(&mut game, false)?));
        }
        let budget = Budget { runs: 20_000, points: 20_000, bytes: 32 << 20, steps: 2_000_000, effort: u64::MAX };
        let explorer = Explorer::new(Vec::new(), None, answering, 0, budget, fingerprint);
        game.context.explore(Box::new(explorer));
        // Where nobody listens, it is not noted which answers are not published yet.
        game.context.log.listening = branches;
        game.context.state.renew_identity();
        loop {
            while !self.is_full()
                && game.context.explorer_mut().is_some_and(|explorer| explorer.begin() && !explorer.is_spent())
            {
                if is_set(interrupt) {
                    return Ok(ExploredAction::Interrupted);
                }
                self.run(&mut game, node, now_asked)?;
            }
            if self.is_full()
                || !game.context.explorer_mut().is_some_and(|explorer| !explorer.is_spent() && explorer.resume())
            {
                break;
            }
            // Where answers branch, the chances of ways say nothing about what is left.
            if !branches && self.settled(&game)?.1 <= ratio(1, NEGLIGIBLE * 1000) {
                break;
            }
        }
        let runs = game.context.explorer().map_or(0, |explorer| explorer.runs);
        self.ways += runs.saturating_sub(1);
        Ok(ExploredAction::Ways(Box::new(game)))
    }

    /// Returns the states that an action leads to, by number with their chances, and the chance that was not followed.
    fn settled(&mut self, game: &Game) -> Result<(BTreeMap<u32, Fraction>, Fraction), WholeGameFailure> {
        let explorer = game.context.explorer().expect("it is there while ways are explored");
        let chain = Chain::new(&explorer.points, explorer.start, None);
        let settled = chain.settle(explorer.start);
        self.work += chain.work();
        let settled = settled.map_err(|unsolved| {
            Refusal::failing(if unsolved == Unsolved::TooLong { TOO_LONG } else { "an action rolls for ever" })
        })?;
        Ok((settled.ends, settled.remaining))
    }

    /// Runs the action once.
    fn run(&mut self, game: &mut Game, node: u32, asked: bool) -> Result<(), WholeGameFailure> {
        game.context.observers.sees_time = false;
        let ran = game.attempt(self.vm);
        let rolled = game.context.explorer_mut().map_or(0, |explorer| std::mem::take(&mut explorer.work));
        self.work += WORK_OF_RUN + self.vm.work_of_last_call() + rolled;
        let way = || game.context.explorer().map(|explorer| explorer.told()).unwrap_or_default();
        if let Err(fault) = ran {
            return Err(Refusal::failing(format!("a script fails on the way{}: {fault}", way())).into());
        }
        if node > 0 {
            self.may_merge(game)?;
        }
        match game.context.explorer_mut().and_then(|explorer| explorer.off_plan.take()) {
            None => {}
            Some(OffPlan::Refused(refusal)) => return Err(refusal.into()),
            Some(OffPlan::TooWide(why)) => return Err(Refusal::failing(why).into()),
            Some(OffPlan::Known | OffPlan::Reached | OffPlan::Deep | OffPlan::Spent) => return Ok(()),
        }
        if matches!(game.context.stop, Some(Stop::Question)) {
            let topic =
                game.context.run.questions.first().map(|question| question.topic.to_string()).unwrap_or_default();
            return Err(Refusal::new(format!("`{topic}` is left open: put a policy on every seat")).into());
        }
        game.context.stop = None;
        let end = self.place(game, asked)?;
        if let Some(explorer) = game.context.explorer_mut() {
            explorer.end(end);
        }
        Ok(())
    }

    /// Fails if states that differ only in the time of entries were merged and a script has read that time.
    fn may_merge(&self, game: &Game) -> Result<(), WholeGameFailure> {
        if self.timeless && game.context.observers.sees_time { Err(WholeGameFailure::SeesTime) } else { Ok(()) }
    }

    /// True if the states exceed the limit of bytes or work. The states of a game that grows become large long before
    /// they become many.
    fn is_full(&self) -> bool {
        let most = if self.results.is_empty() { self.limits.work / 4 } else { self.limits.work };
        self.bytes > self.limits.bytes || self.work > most
    }

    /// Returns the number of the node for the state of a game. A new node has no chance yet.
    fn place(&mut self, game: &mut Game, asked: bool) -> Result<u32, WholeGameFailure> {
        let state = &game.context.state;
        let mut key = vec![u8::from(asked)];
        write_whole_state(state, self.timeless, &mut key);
        if let Some(known) = self.known.get(key.as_slice()) {
            return Ok(*known);
        }
        let state = state.clone();
        let (mut result, mut payoff) = (None, Vec::new());
        if let Some(text) = state.outcome().map(str::to_string) {
            game.context.observers.sees_time = false;
            let named = self.vm.result(&mut game.context).map_err(Refusal::fault)?;
            self.may_merge(game)?;
            let name = named.unwrap_or(text);
            let at = self.results.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.results.push(name);
                self.results.len() - 1
            });
            result = Some(at as u32);
            payoff = self.payoff(game)?;
        }
        let number = self.nodes.len() as u32;
        self.bytes += key.len();
        self.work += WORK_OF_BYTE * key.len() as u64;
        self.known.insert(key.into_boxed_slice(), number);
        self.rows.push(ChainRow::from([(ChainTarget::Rest, Fraction::ONE)]));
        self.nodes.push(GameNode { state: Some(state).filter(|_| result.is_none()), asked, result, payoff, mass: 0.0 });
        Ok(number)
    }

    /// What a game that is over is worth to each contender.
    fn payoff(&mut self, game: &mut Game) -> Result<Vec<i64>, WholeGameFailure> {
        let mut payoff = Vec::with_capacity(self.contenders.len());
        for seat in &self.contenders {
            let worth = self.vm.worth(&mut game.context, seat).map_err(Refusal::fault)?;
            payoff.push(worth.ok_or_else(|| {
                Refusal::new(format!(
                    "the ruleset does not say what an end is worth to {seat}: it needs `value = function(seat)` in play.luau"
                ))
            })?);
        }
        Ok(payoff)
    }

    /// Whether the states exceed a limit, or the actions that were run.
    pub fn is_spent(&self) -> bool {
        self.nodes.len() > self.limits.states || self.ways > self.limits.ways || self.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_ruleset::Library;

    /// An interrupted game reports what is known by then. A game that ends because the agenda is empty counts once
    /// there.
    #[test]
    fn the_chances_known_so_far_sum_to_1_where_the_agenda_runs_empty() {
        let play = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() rb.schedule(\"e\", 0) end, \
                    entries = { e = function() if rb.at_least(\"1d4\", 4, \"x\") then rb.finish(\"rolled\") end end } })";
        let files = [
            ("empty/ruleset.toml", "id = \"empty\"\ntitle = \"Empty\"\nversion = \"1\"\nscenario = \"start\"\n"),
            ("empty/scenarios/start.toml", "title = \"Start\"\n"),
            ("empty/play.luau", play),
        ];
        let rules = Ruleset::load(&Library::from_files(files), "empty").expect("it loads");
        let prepared = Prepared::new(&rules, Setup::default()).expect("it starts");
        let known = rules.run(move |vm: &mut dyn Machine| {
            let mut solver = Solver::new(vm, &prepared, GameLimits::default(), true);
            let solved = solver.explore(None).is_ok();
            let known = solved.then(|| solver.known_so_far());
            let ends = solver.nodes.iter_mut().filter(|node| node.result.is_some());
            ends.for_each(|node| node.mass += f64::EPSILON);
            let rounded_up = solver.known_so_far();
            solver.vm.end_exploring();
            known.map(|known| (known, rounded_up))
        });
        let (known, rounded_up) = known.ok().flatten().expect("it is solved");
        let chances: Vec<&Fraction> = known.results.iter().map(|(_, chance)| chance).collect();
        assert_eq!(chances, [&ratio(3, 4), &ratio(1, 4)], "{known:?}");
        assert!(known.remaining.is_zero(), "{known:?}");
        // Chances that are rounded up leave no negative remainder.
        assert!(rounded_up.remaining.is_zero(), "{rounded_up:?}");
        assert!(sum(rounded_up.results.iter().map(|(_, chance)| chance)).is_one(), "{rounded_up:?}");
    }
}
