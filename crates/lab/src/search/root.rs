//! The answers at the root of a search.

use super::score::{Scale, Score, Sums, bound};
use crate::paired::Difference;
use riskbreaker_dice::DiceRng;
use riskbreaker_play::Answer;

/// The answers to the question, with the scores of their playouts. Playout number `n` has the same dice and the same deal for each
/// of them.
pub(super) struct Root {
    /// The scores by answer and playout.
    scores: Vec<Vec<Score>>,
    sums: Vec<Sums>,
    /// The answer of the policy.
    usual: Option<usize>,
    /// The answers that are tried.
    open: Vec<usize>,
    /// Playouts that are left.
    left: u32,
}

/// An answer is tried only if each of those that are tried can have this number of playouts.
const LEAST: u32 = 3;
/// An answer replaces that of the policy only if it is better by more than this number of standard errors. With one, a search often
/// takes a worse answer by chance where the answers of the policy are good.
const CLEARLY: f64 = 2.0;
/// What is expected of another answer before any playout, on the scale from 0 to 1: that it is worse than that of the policy by this
/// much, with a standard deviation of [`SPREAD`].
const WORSE: f64 = 0.1;
const SPREAD: f64 = 0.1;

impl Root {
    /// With few playouts, only some answers are tried: that of the policy, `usual`, and others by chance.
    pub fn new(answers: &[Answer], usual: Option<&Answer>, playouts: u32, seed: u64) -> Root {
        let usual = usual.and_then(|usual| answers.iter().position(|answer| answer == usual));
        let mut others: Vec<usize> = (0..answers.len()).filter(|at| Some(*at) != usual).collect();
        let most = ((playouts / LEAST) as usize).max(2) - usize::from(usual.is_some());
        let mut dice = DiceRng::stream(seed, super::RANDOM_STREAM - 1);
        while others.len() > most {
            others.swap_remove(dice.face(others.len() as u32) as usize - 1);
        }
        others.sort_unstable();
        let open = usual.into_iter().chain(others).collect();
        let (scores, sums) = (vec![Vec::new(); answers.len()], vec![Sums::default(); answers.len()]);
        Root { scores, sums, usual, open, left: playouts }
    }

    fn played(&self, at: usize) -> u32 {
        self.sums[at].games()
    }

    /// The answer that is played next, by UCB1, and the number of the playout. `None` if all are played. The answer of the policy
    /// is played before another one is played as often: in the end it is compared with the best, playout by playout.
    pub fn next(&self, scale: &Scale) -> Option<(usize, u32)> {
        if self.left == 0 {
            return None;
        }
        let all = self.open.iter().map(|at| self.played(*at)).sum();
        let of = |at: usize| bound(self.average(at, scale), self.played(at), all);
        let better = |best: usize, at: &usize| if of(*at) > of(best) { *at } else { best };
        let at = self.open.iter().fold(*self.open.first()?, better);
        let at = self.usual.filter(|usual| self.played(*usual) <= self.played(at)).unwrap_or(at);
        Some((at, self.played(at)))
    }

    pub fn note(&mut self, at: usize, score: Score) {
        self.scores[at].push(score);
        self.sums[at].add(score);
        self.left -= 1;
    }

    fn average(&self, at: usize, scale: &Scale) -> f64 {
        self.sums[at].average(scale)
    }

    /// The best of the answers that were tried often, or that of the policy if no other one is clearly better.
    pub fn best(&self, scale: &Scale) -> usize {
        let others = self.open.iter().filter(|at| Some(**at) != self.usual);
        let most = others.map(|at| self.played(*at)).max().unwrap_or(0);
        let often = self.open.iter().copied().filter(|at| 2 * self.played(*at) >= most);
        // Of equal answers, the first one, which is that of the policy.
        let better = |best: usize, at: usize| {
            if self.average(at, scale) > self.average(best, scale) { at } else { best }
        };
        let best = often.reduce(better).unwrap_or(self.open[0]);
        match self.usual {
            Some(usual) if best != usual && !self.is_clearly_better(best, usual, scale) => usual,
            _ => best,
        }
    }

    fn is_clearly_better(&self, one: usize, other: usize, scale: &Scale) -> bool {
        let pairs = self.scores[one].iter().zip(&self.scores[other]);
        let differences = pairs.map(|(one, other)| scale.value(one) - scale.value(other));
        let difference = Difference::of_values(differences, 1.0);
        let error = difference.margin;
        // By Bayes' rule, the expected difference is above zero if the average is above this multiple of the variance.
        let expected = error * error * WORSE / (SPREAD * SPREAD);
        difference.average > expected.max(CLEARLY * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches among answers that are worth this much in every playout.
    fn found(worth: &[i64], usual: Option<usize>, playouts: u32) -> (usize, Vec<u32>) {
        let answers: Vec<Answer> = (0..worth.len()).map(|at| Answer::Number(at as i64)).collect();
        let mut root = Root::new(&answers, usual.map(|at| &answers[at]), playouts, 7);
        let mut scale = Scale::default();
        while let Some((at, number)) = root.next(&scale) {
            assert_eq!(number, root.played(at));
            let score = Score::new(worth[at], Some(0), false);
            scale.widen(&score);
            root.note(at, score);
        }
        (root.best(&scale), (0..worth.len()).map(|at| root.played(at)).collect())
    }

    #[test]
    fn better_answers_are_tried_more_often_and_the_policy_stands_if_none_is_better() {
        let (best, played) = found(&[1, 2, 3, 4, 5, 6, 7, 8], Some(0), 96);
        assert_eq!((best, played.iter().sum::<u32>()), (7, 96));
        assert!(played[7] > played[1] && played.iter().all(|games| *games > 1), "{played:?}");
        // All answers alike: that of the policy.
        assert_eq!(found(&[3, 3, 3], Some(1), 30).0, 1);
        assert_eq!(found(&[3, 3, 3], None, 30).0, 0);
        // With two playouts the answer of the policy and one other are tried, and neither is clearly better.
        assert_eq!(found(&[1, 2], Some(0), 2), (0, vec![1, 1]));
        assert_eq!(found(&[1, 2], Some(0), 40).0, 1);
        assert_eq!(found(&[1, 9], None, 1).1.iter().sum::<u32>(), 1);
        // The answer of the policy is played as often as the most promising other one.
        let (_, played) = found(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2), 48);
        assert!(played[2] >= played[7] && played[7] > played[0], "{played:?}");
        // Ten playouts suffice for three of eight answers.
        let (_, played) = found(&[1; 8], Some(4), 10);
        assert_eq!(played.iter().filter(|games| **games > 0).count(), 3, "{played:?}");
        assert!(played[4] > 2);
    }
}
