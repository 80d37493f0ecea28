//! How much answers and dice move the value of a solved game: skill and luck.

use serde::Serialize;

use super::regret::Strategy;
use super::tree::{GameTree, TreeNode};

/// How much answers and dice move the payoff over a game under solved play.
///
/// The index has the form of the skill-luck index of Silver (2025, arXiv 2511.11611), (skill - luck) / (skill + luck). Both parts are
/// mean absolute deviations: at a decision, of the payoffs after its answers, each answer counting alike; at a roll, of the payoffs
/// after its results, by their chances. They are added over the decisions and rolls of a game, by the chance to come to each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SkillAndLuck {
    /// By how much the answers move the payoff, at least 0.
    pub skill: f64,
    /// By how much dice and other random draws move it, at least 0.
    pub luck: f64,
    /// -1 if only luck moves it, 1 if only skill does; `None` if nothing does.
    pub index: Option<f64>,
}

/// What was added so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leverage {
    skill: f64,
    luck: f64,
}

impl Leverage {
    /// Adds a decision with the payoffs of its answers. `reach`: the chance to come to it.
    pub fn decide(&mut self, reach: f64, payoffs: impl Iterator<Item = f64> + Clone) {
        self.skill += reach * deviation(payoffs.map(|payoff| (1.0, payoff)));
    }

    /// Adds a roll with the chance and the payoff of each result.
    pub fn roll(&mut self, reach: f64, results: impl Iterator<Item = (f64, f64)> + Clone) {
        self.luck += reach * deviation(results);
    }

    pub fn found(self) -> SkillAndLuck {
        let Leverage { skill, luck } = self;
        let both = skill + luck;
        // Payoffs of a solved game are known to about twelve digits.
        let index = (both > 1e-9).then(|| (skill - luck) / both);
        SkillAndLuck { skill, luck, index }
    }

    /// Adds all decisions and rolls of a tree in which the seats play by a strategy. `reach`: the chance to come to each node.
    /// `cut`: the payoff of a node that was not followed.
    pub fn of_tree(tree: &GameTree, strategy: &Strategy, reach: &[f64], cut: f64) -> Leverage {
        let mut found = Leverage::default();
        let mut payoffs = vec![0.0; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            let of = |child: &u32| payoffs[*child as usize];
            payoffs[at] = match node {
                TreeNode::Chance(children) => {
                    let results = children.iter().map(|(chance, child)| (*chance, of(child)));
                    found.roll(reach[at], results.clone());
                    results.map(|(chance, payoff)| chance * payoff).sum()
                }
                TreeNode::Decision { set, children } => {
                    let shares = &strategy[*set as usize];
                    children.iter().zip(shares).map(|(child, share)| share * of(child)).sum()
                }
                TreeNode::End { payoff, .. } => *payoff,
                TreeNode::Cut => cut,
            };
        }
        for set in &tree.sets {
            let mut sums = vec![0.0; set.answers.len()];
            let mut all = 0.0;
            for node in &set.nodes {
                let TreeNode::Decision { children, .. } = &tree.nodes[*node as usize] else { continue };
                let here = reach[*node as usize];
                all += here;
                sums.iter_mut().zip(children).for_each(|(sum, child)| *sum += here * payoffs[*child as usize]);
            }
            if all > 0.0 {
                found.decide(all, sums.iter().map(|sum| sum / all));
            }
        }
        found
    }
}

/// The mean absolute deviation of numbers with weights; 0 without any weight.
fn deviation(numbers: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let weights: f64 = numbers.clone().map(|(weight, _)| weight).sum();
    if weights <= 0.0 {
        return 0.0;
    }
    let average = numbers.clone().map(|(weight, number)| weight * number).sum::<f64>() / weights;
    numbers.map(|(weight, number)| weight * (number - average).abs()).sum::<f64>() / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_is_luck_alone_and_a_choice_is_skill_alone() {
        let mut coin = Leverage::default();
        coin.roll(1.0, [(0.5, 0.0), (0.5, 1.0)].into_iter());
        assert_eq!(coin.found(), SkillAndLuck { skill: 0.0, luck: 0.5, index: Some(-1.0) });
        let mut choice = Leverage::default();
        choice.decide(1.0, [0.0, 1.0].into_iter());
        assert_eq!(choice.found().index, Some(1.0));
        // A choice between a sure half and a coin, which is thrown in half of the games: nothing is gained by the choice.
        let mut both = Leverage::default();
        both.decide(1.0, [0.5, 0.5].into_iter());
        both.roll(0.5, [(0.5, 0.0), (0.5, 1.0)].into_iter());
        assert_eq!(both.found(), SkillAndLuck { skill: 0.0, luck: 0.25, index: Some(-1.0) });
        assert_eq!(Leverage::default().found().index, None);
    }
}
