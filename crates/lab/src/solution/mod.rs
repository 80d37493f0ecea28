//! Best answers in whole games: best responses to fixed policies, and equilibria of two seats.

mod graph;
mod induction;
mod leverage;
mod regret;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use self::graph::GameGraph;
use self::induction::{Induction, SolvedDecision};
use self::leverage::Leverage;
pub use self::leverage::SkillAndLuck;
use self::regret::{CutPayoff, Strategy, equilibrium};
use self::tree::{GameTree, InfoSet, TreeNode};
use super::whole_game::{GameLimits, restarted};
use riskbreaker_play::{Driver, MASTER, Machine, Prepared, Refusal, Ruleset, Setup};

/// What an end of the game counts for a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Payoff {
    /// What `value` in play.luau gives.
    #[default]
    Value,
    /// 1 if `value` is higher than for every other seat, 1/2 if another one has the same, else 0.
    Won,
}

/// The best play of one seat against fixed players, or of two seats against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Solution {
    /// The seats whose best play is sought.
    pub seats: Vec<Arc<str>>,
    /// What an end counts.
    pub payoff: Payoff,
    /// Whether games won are the payoff because `value` does not fit: in a game of two seats, the values of both do not sum to
    /// the same number in all ends, so a seat that maximises its own does not play to win.
    pub counts_won: bool,
    /// The value of the game to the first of the seats: it lies between these bounds. With one seat, what its best response
    /// gets; with two, what each can enforce against the other.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The value to the second seat is this, less the value to the first; `None` with one seat.
    pub sum: Option<f64>,
    /// The least and the greatest payoff of the first seat in any end; of any seat, if the game was not followed to its end.
    pub payoffs: (f64, f64),
    /// The chance of each result under this play, the likeliest first.
    pub results: Vec<(String, f64)>,
    /// The play, as a table: the likeliest decisions first.
    pub decisions: Vec<BestAnswer>,
    /// Whether something is hidden from a seat that decides.
    pub hidden: bool,
    /// States of the game between two actions.
    pub states: usize,
    /// Nodes of the game tree; 0 if nothing is hidden, where equal states are merged.
    pub nodes: usize,
    /// Iterations of CFR+; 0 if none were needed.
    pub iterations: u64,
    /// Why the game was not followed to its end. The bounds then assume that every game that was not followed has a payoff
    /// between those of `payoffs`.
    pub limit: Option<String>,
    /// Whether somebody interrupted the work.
    pub interrupted: bool,
    /// How much answers and dice move the payoff under this play; `None` if the game was not followed to its end.
    pub skill_and_luck: Option<SkillAndLuck>,
}

/// What a seat answers to a question, by what it knows.
#[derive(Clone, Debug, Serialize)]
pub struct BestAnswer {
    /// The seat.
    pub seat: Arc<str>,
    /// The topic of the question.
    pub topic: Arc<str>,
    /// What the seat sees: shown fields whose values differ between its decisions.
    pub sees: Vec<(String, String)>,
    /// The answers that it has seen, the first one first.
    pub after: Vec<String>,
    /// Each answer with the chance of it, 0 to 1.
    pub answers: Vec<AnswerShare>,
    /// The chance that the game comes to this decision.
    pub reach: f64,
}

/// An answer, and how often it is given.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerShare {
    /// The answer in words.
    pub answer: String,
    /// The share of it, 0 to 1.
    pub share: f64,
    /// The payoff of the first of the seats after it; `None` if something is hidden.
    pub value: Option<f64>,
}

impl Solution {
    /// The value to a seat by its place: both bounds.
    pub fn value_of(&self, seat: usize) -> (f64, f64) {
        match (seat, self.sum) {
            (1, Some(sum)) => (sum - self.high, sum - self.low),
            _ => (self.low, self.high),
        }
    }

    /// Whether a limit was reached, or somebody interrupted the work.
    pub fn is_partial(&self) -> bool {
        self.limit.is_some() || self.interrupted
    }
}

/// Nodes of a game tree at most.
const MOST_NODES: usize = 2_000_000;
/// Recursion follows a game to its end.
const STACK: usize = 512 << 20;

/// Solves a game for one seat against the players of all others, or for two seats against each other. `setup` puts a policy, or
/// nobody, on every other seat.
///
/// `payoff`: what an end counts. `None` chooses [`Payoff::Value`], but [`Payoff::Won`] in a game of two seats whose values do not sum
/// to the same number in all ends; in a game that both win or lose together, it is [`Payoff::Value`]. Two seats against each other
/// have [`Payoff::Won`] there even if [`Payoff::Value`] is wanted.
///
/// # Errors
///
/// A sentence: a setup that does not fit; a ruleset without `value`; more than two seats, or two among three; a script that
/// fails; a game of which no end was reached.
pub fn solve_game(
    rules: &Arc<Ruleset>,
    mut setup: Setup,
    seats: &[Arc<str>],
    payoff: Option<Payoff>,
    limits: GameLimits,
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<Solution, Refusal> {
    for seat in seats {
        setup.seats.insert(seat.clone(), Driver::Human);
    }
    let prepared = Prepared::new(rules, setup).map_err(|error| Refusal::new(error.to_string()))?;
    let places = places_of(&prepared, seats)?;
    let is_idle = |(seat, driver): &(&Arc<str>, &Driver)| **driver == Driver::Human && !seats.contains(seat);
    if let Some((seat, _)) = prepared.seats.iter().find(is_idle) {
        return Err(Refusal::new(format!("nobody plays {seat}: put a policy on this seat")));
    }
    if !rules.measures() {
        return Err(Refusal::new(format!(
            "{} does not say what an end is worth: it needs `value = function(seat)` in play.luau",
            rules.name()
        )));
    }
    let stop = interrupt.clone();
    let work = move |vm: &mut dyn Machine| {
        let gather =
            |vm: &mut dyn Machine, timeless| GameGraph::gather(vm, &prepared, limits, stop.as_deref(), timeless);
        restarted(vm, !prepared.rules.computes_keys(), gather)
    };
    let graph = rules.run(work).unwrap_or_else(|_| Err(Refusal::failing("the script worker has died")))?;
    let solving = Solving::new(graph, places, payoff)?;
    let stop = interrupt.as_deref();
    std::thread::scope(|scope| {
        let solve = || solving.solve(stop);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, solve);
        let thread = thread.map_err(|error| Refusal::failing(format!("cannot start a thread: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Refusal::failing("the solver has failed")))
    })
}

/// The places of the seats among those that are no game master's.
fn places_of(prepared: &Prepared, seats: &[Arc<str>]) -> Result<Vec<usize>, Refusal> {
    let all: Vec<&Arc<str>> = prepared.seats.keys().filter(|seat| ***seat != *MASTER).collect();
    let place = |seat: &Arc<str>| all.iter().position(|known| *known == seat);
    let places: Option<Vec<usize>> = seats.iter().map(place).collect();
    match (places, seats.len()) {
        (Some(places), 1) => Ok(places),
        (Some(places), 2) if all.len() == 2 && places[0] != places[1] => Ok(places),
        (Some(places), 2) if places[0] == places[1] => Err(Refusal::new(format!("{} is named twice", seats[0]))),
        (Some(_), 2) => Err(Refusal::new(
            "the best play of two seats at once is known only for games of two: name one seat, and policies for the others",
        )),
        (None, _) => Err(Refusal::new("the best play is that of seats other than the game master's")),
        (Some(_), _) => Err(Refusal::new("name one seat or two whose best play is sought")),
    }
}

/// A game that is to be solved.
struct Solving {
    graph: GameGraph,
    /// The seats whose best play is sought, by their places.
    places: Vec<usize>,
    payoff: Payoff,
    counts_won: bool,
    /// What the payoffs of both seats sum to.
    sum: Option<f64>,
    cut: CutPayoff,
}

impl Solving {
    fn new(graph: GameGraph, places: Vec<usize>, wanted: Option<Payoff>) -> Result<Solving, Refusal> {
        let payoff = wanted.unwrap_or_default();
        let mut solving =
            Solving { graph, places, payoff, counts_won: false, sum: None, cut: CutPayoff { least: 0.0, most: 0.0 } };
        if solving.graph.seats.len() == 2 {
            let ends = || solving.graph.payoffs(0).zip(solving.graph.payoffs(1));
            let sums: BTreeSet<i64> = ends().map(|(one, other)| one + other).collect();
            let is_common = sums.len() > 1 && ends().all(|(one, other)| one == other);
            let is_for_two = solving.places.len() == 2;
            if is_common && is_for_two {
                return Err(Refusal::new(
                    "in every end both seats have the same `value`: they win or lose together, and neither plays against the \
                     other. Name one seat whose best play is sought, and a policy for the other one",
                ));
            }
            // Shares of games won always sum to 1.
            let may_change = payoff == Payoff::Value && (is_for_two || wanted.is_none());
            solving.counts_won = may_change && sums.len() > 1 && !is_common;
            if solving.counts_won {
                solving.payoff = Payoff::Won;
            }
            let sum = match solving.payoff {
                Payoff::Value => sums.first().map_or(0.0, |sum| *sum as f64),
                Payoff::Won => 1.0,
            };
            solving.sum = is_for_two.then_some(sum);
        }
        // Where the game was followed to its end, only the payoffs of the first seat count. Else what was not followed may pay as
        // much as any end paid to any seat.
        let is_whole = solving.graph.limit.is_none() && !solving.graph.interrupted;
        let worth = |worth: &[i64]| match is_whole {
            true => vec![solving.payoff_of(worth)],
            false => solving.payoffs_of(worth),
        };
        let ends = solving.graph.states.iter().filter_map(|state| match state {
            graph::StateNode::Over { payoff, .. } => Some(worth(payoff)),
            graph::StateNode::Goes { .. } | graph::StateNode::Open => None,
        });
        let range = ends.flatten().fold(None, |range: Option<(f64, f64)>, payoff| {
            Some(range.map_or((payoff, payoff), |(least, most)| (least.min(payoff), most.max(payoff))))
        });
        let Some((least, most)) = range else {
            let why = solving.graph.limit.as_deref().unwrap_or("the work was interrupted");
            return Err(Refusal::new(format!("no end of the game was reached, so nothing is known: {why}")));
        };
        solving.cut = CutPayoff { least, most };
        Ok(solving)
    }

    /// The payoffs of an end to any seat.
    fn payoffs_of(&self, worth: &[i64]) -> Vec<f64> {
        match self.payoff {
            Payoff::Value => worth.iter().map(|worth| *worth as f64).collect(),
            Payoff::Won => vec![0.0, 1.0],
        }
    }

    /// The payoff of an end to the first of the seats.
    fn payoff_of(&self, worth: &[i64]) -> f64 {
        let seat = self.places[0];
        match self.payoff {
            Payoff::Value => worth[seat] as f64,
            Payoff::Won => {
                let others =
                    worth.iter().enumerate().filter(|(place, _)| *place != seat).map(|(_, worth)| *worth).max();
                match others.map_or(std::cmp::Ordering::Equal, |most| worth[seat].cmp(&most)) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                }
            }
        }
    }

    fn solve(&self, interrupt: Option<&AtomicBool>) -> Result<Solution, Refusal> {
        match self.graph.is_partial {
            true => Ok(self.in_tree(interrupt)),
            false => Ok(self.by_induction(interrupt)),
        }
    }

    fn solution(&self) -> Solution {
        Solution {
            seats: self.places.iter().map(|place| self.graph.seats[*place].clone()).collect(),
            payoff: self.payoff,
            counts_won: self.counts_won,
            low: self.cut.least,
            high: self.cut.most,
            sum: self.sum,
            payoffs: (self.cut.least, self.cut.most),
            results: Vec::new(),
            decisions: Vec::new(),
            hidden: self.graph.is_partial,
            states: self.graph.states.len(),
            nodes: 0,
            iterations: 0,
            limit: self.graph.limit.clone(),
            interrupted: self.graph.interrupted,
            skill_and_luck: None,
        }
    }

    fn by_induction(&self, interrupt: Option<&AtomicBool>) -> Solution {
        let payoff = |worth: &[i64]| self.payoff_of(worth);
        let minimises = self.places.get(1).copied();
        let found = Induction::solve(&self.graph, minimises, &payoff, self.cut, interrupt);
        let (low, high) = found.bounds(self.cut);
        let (decisions, results, leverage) = found.play(self.cut);
        let interrupted = self.graph.interrupted || found.interrupted;
        let decisions = decisions.into_iter().map(|solved| self.answered(solved)).collect();
        let solution = Solution { low, high, interrupted, ..self.solution() };
        self.finished(solution, results, decisions, leverage)
    }

    fn answered(&self, solved: SolvedDecision) -> BestAnswer {
        let answers = solved.decision.answers.iter().zip(&solved.values).enumerate();
        let answers = answers.map(|(at, (answer, value))| AnswerShare {
            answer: answer.clone(),
            share: if at == solved.chosen { 1.0 } else { 0.0 },
            value: Some(*value),
        });
        BestAnswer {
            seat: self.graph.seats[solved.decision.seat].clone(),
            topic: solved.decision.topic.clone(),
            sees: solved.decision.seen.shown.clone(),
            after: Vec::new(),
            answers: answers.collect(),
            reach: solved.reach,
        }
    }

    fn in_tree(&self, interrupt: Option<&AtomicBool>) -> Solution {
        let tree = GameTree::of(&self.graph, MOST_NODES, &|worth| self.payoff_of(worth));
        let mut solution = Solution { nodes: tree.nodes.len(), ..self.solution() };
        if tree.is_cut && solution.limit.is_none() {
            solution.limit = Some(format!("the tree of the game has more than {MOST_NODES} nodes"));
        }
        let strategy: Strategy = match self.places[..] {
            [seat] => {
                let even = tree.uniform();
                let best = tree.best_response(seat, 1.0, &even, self.cut.least);
                solution.low = best.value;
                solution.high = tree.best_response(seat, 1.0, &even, self.cut.most).value;
                let pure = |(set, at): (&InfoSet, &usize)| {
                    (0..set.answers.len()).map(|answer| if answer == *at { 1.0 } else { 0.0 }).collect()
                };
                tree.sets.iter().zip(&best.chosen).map(pure).collect()
            }
            [one, other, ..] => {
                let found = equilibrium(&tree, [one, other], self.cut, interrupt);
                (solution.low, solution.high) = (found.low, found.high);
                solution.iterations = found.iterations;
                solution.interrupted |= found.interrupted;
                found.strategy
            }
            [] => Vec::new(),
        };
        let reach = tree.reach(|set, at| strategy[set][at]);
        let mut results: BTreeMap<u32, f64> = BTreeMap::new();
        for (node, reach) in tree.nodes.iter().zip(&reach) {
            if let TreeNode::End { result, .. } = node {
                *results.entry(*result).or_default() += reach;
            }
        }
        let decisions = tree.sets.iter().zip(&strategy).map(|(set, shares)| {
            let answers = set.answers.iter().zip(shares);
            let answer =
                |(answer, share): (&String, &f64)| AnswerShare { answer: answer.clone(), share: *share, value: None };
            BestAnswer {
                seat: self.graph.seats[set.seat].clone(),
                topic: set.topic.clone(),
                sees: set.shown.clone(),
                after: set.trail.iter().rev().cloned().collect(),
                answers: answers.map(answer).collect(),
                reach: set.nodes.iter().map(|node| reach[*node as usize]).sum(),
            }
        });
        let leverage = Leverage::of_tree(&tree, &strategy, &reach, self.cut.least);
        self.finished(solution, results.into_iter().collect(), decisions.collect(), leverage)
    }

    fn finished(
        &self,
        solution: Solution,
        results: Vec<(u32, f64)>,
        mut decisions: Vec<BestAnswer>,
        leverage: Leverage,
    ) -> Solution {
        let named = results.into_iter().map(|(result, chance)| (self.graph.results[result as usize].clone(), chance));
        let mut results: Vec<(String, f64)> = named.collect();
        results.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        leave_out_what_is_equal(&mut decisions);
        decisions.sort_by(|one, other| other.reach.total_cmp(&one.reach));
        let skill_and_luck = (!solution.is_partial()).then(|| leverage.found());
        Solution { results, decisions, skill_and_luck, ..solution }
    }
}

/// Leaves out the fields that have the same value in all decisions of a seat.
fn leave_out_what_is_equal(decisions: &mut [BestAnswer]) {
    let mut values: BTreeMap<(Arc<str>, String), BTreeSet<String>> = BTreeMap::new();
    let mut counts: BTreeMap<(Arc<str>, String), usize> = BTreeMap::new();
    let mut all: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for decision in &*decisions {
        *all.entry(decision.seat.clone()).or_default() += 1;
        for (name, value) in &decision.sees {
            let key = (decision.seat.clone(), name.clone());
            values.entry(key.clone()).or_default().insert(value.clone());
            *counts.entry(key).or_default() += 1;
        }
    }
    for decision in decisions {
        let seat = decision.seat.clone();
        decision.sees.retain(|(name, _)| {
            let key = (seat.clone(), name.clone());
            values[&key].len() > 1 || counts[&key] < all[&seat]
        });
    }
}
