//! Games without hidden information: values of states by value iteration over their graph.

use std::sync::atomic::AtomicBool;

use super::graph::{Decision, GameGraph, Point, StateNode};
use super::leverage::Leverage;
use super::regret::CutPayoff;
use riskbreaker_play::Edge;
use riskbreaker_work::is_set;

/// Where a branch leads.
#[derive(Clone, Copy)]
enum Target {
    Point(u32),
    /// An end: its result and its payoff.
    End(u32, f64),
    /// It was not followed.
    Cut,
}

/// The values of all points at which a game branches.
pub(super) struct Induction<'g> {
    points: Vec<(&'g Point, Vec<Target>)>,
    start: Target,
    /// The points, with those that are reached from a point before it where that is possible.
    order: Vec<u32>,
    /// The seat that minimises the payoffs, by its place; every other seat that decides maximises them.
    minimises: Option<usize>,
    /// Lower and upper bounds of the values of the points.
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    pub interrupted: bool,
}

/// Values are iterated until they change by less than this share of their spread.
const CLOSE: f64 = 1e-12;
/// Most updates of points.
const UPDATES: u64 = 1_000_000_000;
/// Most states in a row without a branch.
const LONGEST: usize = 100_000;

impl<'g> Induction<'g> {
    /// Solves a game whose decisions all belong to one seat, or to one that maximises and one that minimises the payoffs.
    pub fn solve(
        graph: &'g GameGraph,
        minimises: Option<usize>,
        payoff: &dyn Fn(&[i64]) -> f64,
        cut: CutPayoff,
        interrupt: Option<&AtomicBool>,
    ) -> Induction<'g> {
        let mut first = Vec::with_capacity(graph.states.len());
        let mut points = Vec::new();
        for state in &graph.states {
            first.push(points.len() as u32);
            if let StateNode::Goes { points: own, .. } = state {
                points.extend(own.iter().map(|point| (point, Vec::new())));
            }
        }
        let target = |mut state: usize, mut edge: Edge| {
            for _ in 0..LONGEST {
                match edge {
                    Edge::Open => return Target::Cut,
                    Edge::To(point) => return Target::Point(first[state] + point),
                    Edge::End(next) => match &graph.states[next as usize] {
                        StateNode::Open => return Target::Cut,
                        StateNode::Over { result, payoff: worth } => return Target::End(*result, payoff(worth)),
                        StateNode::Goes { start, .. } => (state, edge) = (next as usize, *start),
                    },
                }
            }
            Target::Cut
        };
        for (state, from) in graph.states.iter().enumerate() {
            let StateNode::Goes { points: own, .. } = from else { continue };
            for (at, point) in own.iter().enumerate() {
                let edges: Vec<Target> = match point {
                    Point::Chance { edges } => edges.iter().map(|(_, edge)| target(state, *edge)).collect(),
                    Point::Decision(decision) => decision.edges.iter().map(|edge| target(state, *edge)).collect(),
                };
                points[first[state] as usize + at].1 = edges;
            }
        }
        let count = points.len();
        let mut found = Induction {
            start: target(0, Edge::End(0)),
            order: Vec::new(),
            points,
            minimises,
            low: vec![cut.least; count],
            high: vec![cut.most; count],
            interrupted: false,
        };
        found.order = found.in_order();
        // Each update is monotone, so values that start at a bound stay on its side, whenever the work ends.
        let spread = cut.most - cut.least;
        let (mut low, mut high) = (std::mem::take(&mut found.low), std::mem::take(&mut found.high));
        found.iterate(&mut low, cut.least, spread, interrupt);
        found.iterate(&mut high, cut.most, spread, interrupt);
        (found.low, found.high) = (low, high);
        found
    }

    fn iterate(&mut self, values: &mut [f64], cut: f64, spread: f64, interrupt: Option<&AtomicBool>) {
        let mut updates = 0;
        loop {
            let mut change = 0.0_f64;
            for at in &self.order {
                let value = self.updated(*at, values, cut);
                change = change.max((value - values[*at as usize]).abs());
                values[*at as usize] = value;
            }
            updates += self.order.len() as u64;
            self.interrupted |= is_set(interrupt);
            if self.interrupted || change <= CLOSE * spread || updates > UPDATES {
                return;
            }
        }
    }

    fn updated(&self, at: u32, values: &[f64], cut: f64) -> f64 {
        let (point, targets) = &self.points[at as usize];
        let worth = targets.iter().map(|target| value_of(*target, values, cut));
        match point {
            Point::Chance { edges } => edges.iter().zip(worth).map(|((chance, _), value)| chance * value).sum(),
            Point::Decision(decision) if Some(decision.seat) == self.minimises => worth.fold(f64::INFINITY, f64::min),
            Point::Decision(_) => worth.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The points in the order of a depth-first search, each behind those that it leads to.
    fn in_order(&self) -> Vec<u32> {
        let (mut order, mut begun) = (Vec::new(), vec![false; self.points.len()]);
        let Target::Point(start) = self.start else { return order };
        let mut calls = vec![(start, 0)];
        begun[start as usize] = true;
        while let Some((point, at)) = calls.last_mut() {
            let targets = &self.points[*point as usize].1;
            match targets.get(*at) {
                None => {
                    order.push(*point);
                    calls.pop();
                }
                Some(target) => {
                    *at += 1;
                    if let Target::Point(next) = *target
                        && !std::mem::replace(&mut begun[next as usize], true)
                    {
                        calls.push((next, 0));
                    }
                }
            }
        }
        order
    }

    /// The bounds of the value of the game.
    pub fn bounds(&self, cut: CutPayoff) -> (f64, f64) {
        (value_of(self.start, &self.low, cut.least), value_of(self.start, &self.high, cut.most))
    }

    /// Every reached decision with several answers: its seat's best answer, the value of each answer, and the chance that it is
    /// reached. With the chance of each result, and how much answers and dice move the payoff.
    pub fn play(&self, cut: CutPayoff) -> (Vec<SolvedDecision<'g>>, Vec<(u32, f64)>, Leverage) {
        let mut leverage = Leverage::default();
        let mut mass = vec![0.0; self.points.len()];
        let mut results: Vec<(u32, f64)> = Vec::new();
        let mut decisions: Vec<Option<SolvedDecision<'g>>> = (0..self.points.len()).map(|_| None).collect();
        let mut arrive = |mass: &mut Vec<f64>, target: Target, chance: f64| match target {
            Target::Point(point) => mass[point as usize] += chance,
            Target::End(result, _) => match results.iter_mut().find(|(known, _)| *known == result) {
                Some((_, sum)) => *sum += chance,
                None => results.push((result, chance)),
            },
            Target::Cut => {}
        };
        arrive(&mut mass, self.start, 1.0);
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for at in self.order.iter().rev().map(|at| *at as usize) {
                let here = std::mem::take(&mut mass[at]);
                if here <= 0.0 {
                    continue;
                }
                moved = moved.max(here);
                let (point, targets) = (self.points[at].0, &self.points[at].1);
                match point {
                    Point::Chance { edges } => {
                        let payoff = |target: &Target| value_of(*target, &self.low, cut.least);
                        leverage.roll(here, edges.iter().zip(targets).map(|((chance, _), to)| (*chance, payoff(to))));
                        for ((chance, _), target) in edges.iter().zip(targets) {
                            arrive(&mut mass, *target, here * chance);
                        }
                    }
                    Point::Decision(decision) => {
                        let solved = decisions[at].get_or_insert_with(|| self.solved(decision, targets, cut));
                        solved.reach += here;
                        leverage.decide(here, solved.values.iter().copied());
                        let chosen = targets[solved.chosen];
                        arrive(&mut mass, chosen, here);
                    }
                }
            }
            if moved < NEGLIGIBLE {
                break;
            }
        }
        let decisions = decisions.into_iter().flatten().filter(|solved| solved.decision.edges.len() > 1);
        (decisions.collect(), results, leverage)
    }

    fn solved(&self, decision: &'g Decision, targets: &[Target], cut: CutPayoff) -> SolvedDecision<'g> {
        let minimises = Some(decision.seat) == self.minimises;
        // The bound that the seat can rely on.
        let (values, cut) = if minimises { (&self.high, cut.most) } else { (&self.low, cut.least) };
        let values: Vec<f64> = targets.iter().map(|target| value_of(*target, values, cut)).collect();
        let is_better = |at: usize, best: usize| match minimises {
            true => values[at] < values[best] - 1e-12,
            false => values[at] > values[best] + 1e-12,
        };
        let chosen = (1..values.len()).fold(0, |best, at| if is_better(at, best) { at } else { best });
        SolvedDecision { decision, values, chosen, reach: 0.0 }
    }
}

/// Sweeps over the points while chances flow through loops, and the chance below which the rest is left.
const SWEEPS: usize = 10_000;
const NEGLIGIBLE: f64 = 1e-12;

/// A decision with the values of its answers.
pub(super) struct SolvedDecision<'g> {
    pub decision: &'g Decision,
    /// The payoff of each answer.
    pub values: Vec<f64>,
    pub chosen: usize,
    pub reach: f64,
}

fn value_of(target: Target, values: &[f64], cut: f64) -> f64 {
    match target {
        Target::Point(point) => values[point as usize],
        Target::End(_, payoff) => payoff,
        Target::Cut => cut,
    }
}
