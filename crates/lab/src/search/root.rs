//! The answers at the root of a search.

use super::score::{Scale, Score, Sums};
use crate::paired::{Difference, upper_quantile_of_t};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::Answer;

/// The answers to the question, with the scores of their playouts. Playout number `n` has the same dice and the same deal for each
/// of them.
///
/// Playouts are divided by sequential halving (Karnin, Koren and Somekh 2013): all answers have equally many in a round, and the
/// better half stays for the next one. The policy's answer stays in all rounds.
pub(super) struct Root {
    /// The scores by answer and playout.
    scores: Vec<Vec<Score>>,
    sums: Vec<Sums>,
    /// The answer of the policy.
    usual: Option<usize>,
    /// The other answers that are still tried, in their order.
    open: Vec<usize>,
    /// The number of playouts that each of them, and the policy's answer, has at the end of this round.
    each: u32,
    /// Rounds that are left, this one included.
    rounds: u32,
    /// Playouts that are left.
    left: u32,
}

/// An answer is tried only if each of those that are tried can have this number of playouts.
const LEAST: u32 = 3;
/// An answer replaces that of the policy if a paired test finds it better with this chance of an error.
const ERROR: f64 = 0.1;

impl Root {
    /// With few playouts, only some answers are tried: that of the policy, `usual`, and others by chance.
    pub fn new(answers: &[Answer], usual: Option<&Answer>, playouts: u32, seed: u64) -> Root {
        let usual = usual.and_then(|usual| answers.iter().position(|answer| answer == usual));
        let mut open: Vec<usize> = (0..answers.len()).filter(|at| Some(*at) != usual).collect();
        let most = ((playouts / LEAST) as usize).max(2) - usize::from(usual.is_some());
        let mut dice = DiceRng::stream(seed, super::RANDOM_STREAM - 1);
        while open.len() > most {
            open.swap_remove(dice.face(open.len() as u32) as usize - 1);
        }
        open.sort_unstable();
        // The last round has one answer beside that of the policy, or two.
        let halvings = open.len().max(1).next_power_of_two().ilog2();
        let rounds = if usual.is_some() { halvings + 1 } else { halvings.max(1) };
        let (scores, sums) = (vec![Vec::new(); answers.len()], vec![Sums::default(); answers.len()]);
        let mut root = Root { scores, sums, usual, open, each: 0, rounds, left: playouts };
        root.begin_round();
        root
    }

    fn tried(&self) -> impl Iterator<Item = usize> {
        self.usual.into_iter().chain(self.open.iter().copied())
    }

    fn begin_round(&mut self) {
        let tried = self.tried().count().max(1) as u32;
        self.each += (self.left / (self.rounds * tried)).max(1);
    }

    /// Keeps the better half of the answers for the next round.
    fn halve(&mut self, scale: &Scale) {
        let kept = self.open.len().div_ceil(2);
        // Of equal answers, the first ones stay.
        self.open.sort_by(|one, other| self.sums[*other].average(scale).total_cmp(&self.sums[*one].average(scale)));
        self.open.truncate(kept);
        self.open.sort_unstable();
        self.rounds -= 1;
        self.begin_round();
    }

    fn played(&self, at: usize) -> u32 {
        self.sums[at].games()
    }

    /// The answer that is played next and the number of the playout. `None` if all are played.
    pub fn next(&mut self, scale: &Scale) -> Option<(usize, u32)> {
        if self.left == 0 {
            return None;
        }
        let of = |root: &Root| root.tried().filter(|at| root.played(*at) < root.each).min_by_key(|at| root.played(*at));
        let at = match of(self) {
            None if self.rounds > 1 => {
                self.halve(scale);
                of(self)?
            }
            // What the division of the playouts leaves over.
            None => self.tried().min_by_key(|at| self.played(*at))?,
            Some(at) => at,
        };
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

    /// The best of the answers that stayed to the last round, or that of the policy if no other one is clearly better.
    pub fn best(&self, scale: &Scale) -> usize {
        // Of equal answers, the first one, which is that of the policy.
        let better = |best: usize, at: usize| {
            if self.average(at, scale) > self.average(best, scale) { at } else { best }
        };
        let best = self.tried().reduce(better).unwrap_or_default();
        match self.usual {
            Some(usual) if best != usual && !self.is_clearly_better(best, usual, scale) => usual,
            _ => best,
        }
    }

    /// Student's test of the pairs of playouts, one-sided.
    fn is_clearly_better(&self, one: usize, other: usize, scale: &Scale) -> bool {
        let pairs = self.scores[one].iter().zip(&self.scores[other]);
        let differences: Vec<f64> = pairs.map(|(one, other)| scale.value(one) - scale.value(other)).collect();
        let errors = upper_quantile_of_t(ERROR, differences.len().saturating_sub(1));
        let difference = Difference::of_values(differences.into_iter(), errors);
        difference.average > difference.margin
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
        // The answer of the policy stays in all rounds, beside the better half of the others.
        let (_, played) = found(&[1, 2, 3, 4, 5, 6, 7, 8], Some(2), 48);
        assert_eq!(played, [1, 1, 16, 1, 3, 3, 8, 15]);
        // Ten playouts suffice for three of eight answers.
        let (_, played) = found(&[1; 8], Some(4), 10);
        assert_eq!(played.iter().filter(|games| **games > 0).count(), 3, "{played:?}");
        assert!(played[4] > 2);
    }
}
