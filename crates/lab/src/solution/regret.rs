//! Best responses and equilibria of game trees: counterfactual regret minimisation (CFR+, Tammelin 2014).

use std::sync::atomic::AtomicBool;

use super::tree::{GameTree, TreeNode};
use riskbreaker_work::is_set;

/// A strategy: for each information set the chance of each answer.
pub(super) type Strategy = Vec<Vec<f64>>;

/// The payoff of parts of the tree that were not followed, to the seat that maximises.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutPayoff {
    pub least: f64,
    pub most: f64,
}

/// A best response: what it is worth, and the answer in each information set of its seat.
pub(super) struct BestResponse {
    pub value: f64,
    /// By information set; 0 for those of other seats.
    pub chosen: Vec<usize>,
}

impl GameTree {
    /// The best response of a seat to a strategy of the others. `sign`: 1 if the seat maximises the payoffs of the ends, -1 if it
    /// minimises them. `cut`: the payoff where the tree was not followed.
    pub fn best_response(&self, seat: usize, sign: f64, others: &[Vec<f64>], cut: f64) -> BestResponse {
        let reach = self.reach(|set, at| if self.sets[set].seat == seat { 1.0 } else { others[set][at] });
        let mut found = BestResponse { value: 0.0, chosen: vec![0; self.sets.len()] };
        let mut values = vec![f64::NAN; self.nodes.len()];
        let mut own: Vec<usize> = (0..self.sets.len()).filter(|set| self.sets[*set].seat == seat).collect();
        // The answers of later decisions are known first.
        own.sort_by_key(|set| std::cmp::Reverse(self.sets[*set].level));
        for set in own {
            let mut worth = vec![0.0; self.sets[set].answers.len()];
            for node in &self.sets[set].nodes {
                let TreeNode::Decision { children, .. } = &self.nodes[*node as usize] else { continue };
                for (at, child) in children.iter().enumerate() {
                    let value = self.value(*child, seat, others, cut, &found.chosen, &mut values);
                    worth[at] += sign * reach[*node as usize] * value;
                }
            }
            let better = |best: usize, at: usize| if worth[at] > worth[best] + 1e-15 { at } else { best };
            found.chosen[set] = (1..worth.len()).fold(0, better);
        }
        found.value = self.value(0, seat, others, cut, &found.chosen, &mut values);
        found
    }

    /// The expected payoff from a node. Nodes above a decision that is not settled yet are not asked for.
    fn value(
        &self,
        node: u32,
        seat: usize,
        others: &[Vec<f64>],
        cut: f64,
        chosen: &[usize],
        values: &mut [f64],
    ) -> f64 {
        let known = values[node as usize];
        if !known.is_nan() {
            return known;
        }
        let found = match &self.nodes[node as usize] {
            TreeNode::End { payoff, .. } => *payoff,
            TreeNode::Cut => cut,
            TreeNode::Chance(children) => {
                let mut sum = 0.0;
                for (chance, child) in children {
                    sum += chance * self.value(*child, seat, others, cut, chosen, values);
                }
                sum
            }
            TreeNode::Decision { set, children } if self.sets[*set as usize].seat == seat => {
                self.value(children[chosen[*set as usize]], seat, others, cut, chosen, values)
            }
            TreeNode::Decision { set, children } => {
                let mut sum = 0.0;
                for (share, child) in others[*set as usize].iter().zip(children) {
                    if *share > 0.0 {
                        sum += share * self.value(*child, seat, others, cut, chosen, values);
                    }
                }
                sum
            }
        };
        values[node as usize] = found;
        found
    }

    /// The chance of each node, with the chance of each answer as `share` says.
    pub fn reach(&self, share: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut reach = vec![0.0; self.nodes.len()];
        reach[0] = 1.0;
        for (node, found) in self.nodes.iter().enumerate() {
            let here = reach[node];
            match found {
                TreeNode::End { .. } | TreeNode::Cut => {}
                TreeNode::Chance(children) => {
                    children.iter().for_each(|(chance, child)| reach[*child as usize] = here * chance);
                }
                TreeNode::Decision { set, children } => {
                    let shares = children.iter().enumerate();
                    shares.for_each(|(at, child)| reach[*child as usize] = here * share(*set as usize, at));
                }
            }
        }
        reach
    }

    /// Every answer as likely as any other.
    pub fn uniform(&self) -> Strategy {
        let even = |count: usize| vec![1.0 / count as f64; count];
        self.sets.iter().map(|set| even(set.answers.len())).collect()
    }
}

/// An equilibrium of a two-seat game whose payoffs sum to a constant, as far as it is known.
pub(super) struct Equilibrium {
    /// The average strategies of both seats.
    pub strategy: Strategy,
    /// The payoff that the first seat gets at least with this strategy.
    pub low: f64,
    /// The payoff that it gets at most against the strategy of the second seat.
    pub high: f64,
    pub iterations: u64,
    pub interrupted: bool,
}

/// The bounds of an equilibrium are this close, as a share of the spread of the payoffs.
const CLOSE: f64 = 1e-5;
/// Most iterations, and visits of nodes in all of them together.
const ITERATIONS: u64 = 50_000;
const VISITS: u64 = 600_000_000;

/// Works out an equilibrium. The first of `seats` maximises the payoffs of the ends, the second one minimises them.
pub(super) fn equilibrium(
    tree: &GameTree,
    seats: [usize; 2],
    cut: CutPayoff,
    interrupt: Option<&AtomicBool>,
) -> Equilibrium {
    let mut learner = Learner::new(tree, cut);
    let most = (VISITS / tree.nodes.len().max(1) as u64).clamp(16, ITERATIONS);
    let mut look_at = 16;
    loop {
        learner.iterations += 1;
        for (seat, sign) in [(seats[0], 1.0), (seats[1], -1.0)] {
            learner.iterate(seat, sign);
        }
        let interrupted = is_set(interrupt);
        if learner.iterations < look_at && !interrupted {
            continue;
        }
        look_at = (learner.iterations + learner.iterations / 4).min(most);
        let strategy = learner.average();
        let high = tree.best_response(seats[0], 1.0, &strategy, cut.most).value;
        let low = tree.best_response(seats[1], -1.0, &strategy, cut.least).value;
        let iterations = learner.iterations;
        if interrupted || iterations >= most || high - low <= CLOSE * (cut.most - cut.least) {
            return Equilibrium { strategy, low, high, iterations, interrupted };
        }
    }
}

struct Learner<'t> {
    tree: &'t GameTree,
    cut: f64,
    /// The sums of regrets that are not negative.
    regrets: Strategy,
    /// The regrets of the iteration.
    gained: Strategy,
    current: Strategy,
    /// The weighted sums of the strategies.
    sums: Strategy,
    iterations: u64,
}

impl<'t> Learner<'t> {
    fn new(tree: &'t GameTree, cut: CutPayoff) -> Learner<'t> {
        let zero: Strategy = tree.sets.iter().map(|set| vec![0.0; set.answers.len()]).collect();
        Learner {
            tree,
            cut: f64::midpoint(cut.least, cut.most),
            regrets: zero.clone(),
            gained: zero.clone(),
            current: tree.uniform(),
            sums: zero,
            iterations: 0,
        }
    }

    /// One iteration of a seat.
    fn iterate(&mut self, seat: usize, sign: f64) {
        self.walk(0, seat, sign, 1.0);
        let tree = self.tree;
        let mut reach = vec![1.0; tree.sets.len()];
        for (at, set) in tree.sets.iter().enumerate().filter(|(_, set)| set.seat == seat) {
            // Sets come behind those that lead to them.
            reach[at] =
                set.parent.map_or(1.0, |(set, answer)| reach[set as usize] * self.current[set as usize][answer]);
            let weight = reach[at] * self.iterations as f64;
            for (sum, share) in self.sums[at].iter_mut().zip(&self.current[at]) {
                *sum += weight * share;
            }
        }
        for (at, _) in tree.sets.iter().enumerate().filter(|(_, set)| set.seat == seat) {
            for (regret, gained) in self.regrets[at].iter_mut().zip(&mut self.gained[at]) {
                *regret = (*regret + std::mem::take(gained)).max(0.0);
            }
            self.current[at] = shares(&self.regrets[at]);
        }
    }

    /// The expected payoff of a node to the seat; notes what each of its answers would have gained. `reach`: the chance that dice
    /// and the other seat lead here.
    fn walk(&mut self, node: u32, seat: usize, sign: f64, reach: f64) -> f64 {
        let tree = self.tree;
        match &tree.nodes[node as usize] {
            TreeNode::End { payoff, .. } => sign * payoff,
            TreeNode::Cut => sign * self.cut,
            TreeNode::Chance(children) => {
                children.iter().map(|(chance, child)| chance * self.walk(*child, seat, sign, reach * chance)).sum()
            }
            TreeNode::Decision { set, children } => {
                let set = *set as usize;
                if tree.sets[set].seat != seat {
                    let mut sum = 0.0;
                    for (at, child) in children.iter().enumerate() {
                        let share = self.current[set][at];
                        if share > 0.0 {
                            sum += share * self.walk(*child, seat, sign, reach * share);
                        }
                    }
                    return sum;
                }
                let values: Vec<f64> = children.iter().map(|child| self.walk(*child, seat, sign, reach)).collect();
                let mean: f64 = values.iter().zip(&self.current[set]).map(|(value, share)| value * share).sum();
                for (gained, value) in self.gained[set].iter_mut().zip(&values) {
                    *gained += reach * (value - mean);
                }
                mean
            }
        }
    }

    fn average(&self) -> Strategy {
        self.sums.iter().map(|sums| shares(sums)).collect()
    }
}

/// Weights as shares of their sum; all equal if there are none.
fn shares(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    match sum > 0.0 {
        true => weights.iter().map(|weight| weight / sum).collect(),
        false => vec![1.0 / weights.len() as f64; weights.len()],
    }
}
