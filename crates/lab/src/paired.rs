/// The difference between two averages, from pairs of games on the same dice.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The average of the first minus that of the second: a share of games won, -1 to 1, or an average value.
    pub average: f64,
    /// The middle of the interval, -1 to 1 for shares. It is the average, or for shares of games won a number closer to
    /// zero, which counts a few more pairs without a winner.
    pub middle: f64,
    /// Half the width of the interval around `middle`, which contains the true difference in 95 of 100 cases: for one
    /// pair of answers, or widened for one of many pairs.
    pub margin: f64,
    /// The number of pairs of games.
    pub pairs: u64,
}

impl Difference {
    /// Computes the difference between two shares of games won. `only_first` and `only_second`: the numbers of pairs in
    /// which only that one won. `z`: the number of standard errors in the margin.
    ///
    /// The margin is that of Agresti and Min (2005), with half a pair added to each of the four cells: it is not zero
    /// if the two never differed.
    pub fn of_wins(only_first: u64, only_second: u64, pairs: u64, z: f64) -> Difference {
        let (first, second, n) = (only_first as f64 + 0.5, only_second as f64 + 0.5, pairs as f64 + 2.0);
        let difference = first - second;
        let error = ((first + second - difference * difference / n).max(0.0)).sqrt() / n;
        let average = if pairs == 0 { 0.0 } else { (only_first as f64 - only_second as f64) / pairs as f64 };
        Difference { average, middle: difference / n, margin: z * error, pairs }
    }

    /// Computes the difference between two average values from the differences of the pairs. The margin is infinite for
    /// fewer than two pairs.
    pub fn of_values(differences: impl Iterator<Item = f64>, z: f64) -> Difference {
        // Welford's method: sums of squares of large numbers would lose their last digits.
        let (mut pairs, mut average, mut squares) = (0_u64, 0.0, 0.0);
        for one in differences {
            pairs += 1;
            let off = one - average;
            average += off / pairs as f64;
            squares += off * (one - average);
        }
        let margin = match pairs {
            0 | 1 => f64::INFINITY,
            n => z * (squares / (n - 1) as f64 / n as f64).sqrt(),
        };
        Difference { average, middle: average, margin, pairs }
    }

    /// Computes the average difference between the scores of pairs of games, each -1 to 1. The margin holds in 95 of
    /// 100 cases: that of Bonett and Price (2012) for scores with draws, which adds one pair for each side, to the middle
    /// of the interval as well. It is not zero if no pair differed, and it stays wide enough if all pairs that differ do
    /// so in one direction.
    pub(super) fn of_scores(differences: impl Iterator<Item = f64>) -> Difference {
        let (mut pairs, mut sum, mut squares) = (0_u64, 0.0, 0.0);
        for one in differences {
            pairs += 1;
            sum += one;
            squares += one * one;
        }
        let n = pairs as f64 + 2.0;
        let error = (squares + 2.0 - sum * sum / n).max(0.0).sqrt() / n;
        let average = if pairs == 0 { 0.0 } else { sum / pairs as f64 };
        let margin = if pairs == 0 { f64::INFINITY } else { standard_errors(2) * error };
        Difference { average, middle: sum / n, margin, pairs }
    }

    /// The lower end of the interval.
    pub fn low(&self) -> f64 {
        self.middle - self.margin
    }

    /// The upper end of the interval.
    pub fn high(&self) -> f64 {
        self.middle + self.margin
    }

    /// True if zero is not in the interval.
    pub fn is_found(&self) -> bool {
        self.middle.abs() > self.margin
    }

    /// The largest difference that is consistent with the pairs.
    pub fn at_most(&self) -> f64 {
        self.middle.abs() + self.margin
    }
}

/// The number of standard errors for comparing the best of `answers` answers with all others at once, in 95 of 100
/// cases: one-sided after Bonferroni, and at least the two-sided 1.96 of one pair.
pub(super) fn standard_errors(answers: usize) -> f64 {
    let each = 0.05 / answers.saturating_sub(1).max(1) as f64;
    upper_quantile(each).max(1.959_963_984_540_054)
}

/// The point that a standard normal variable exceeds with this chance, 0 to 0.5: Abramowitz and Stegun 26.2.23, with an
/// error below 0.00045.
fn upper_quantile(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_answers_take_more_standard_errors() {
        assert!((upper_quantile(0.025) - 1.959_96).abs() < 5e-4 && (upper_quantile(0.001) - 3.090_23).abs() < 5e-4);
        assert_eq!(standard_errors(1), standard_errors(2));
        // 0.05 / 9 leaves 2.539 standard errors.
        assert!((standard_errors(10) - 2.539).abs() < 2e-3, "{}", standard_errors(10));
    }

    #[test]
    fn the_difference_is_computed_from_the_pairs() {
        // The same result in every pair: the dice decided, and the difference is known far better than each share.
        let same = Difference::of_wins(0, 0, 98, 1.96);
        assert!(same.average == 0.0 && (same.margin - 0.0196).abs() < 1e-9, "{same:?}");
        // 15 against 5 of 100: Agresti and Min give (15 - 5) / 102 and the root of (21 - 100 / 102) / 102.
        let found = Difference::of_wins(15, 5, 100, 1.96);
        assert!((found.average - 0.1).abs() < 1e-9 && (found.margin - 0.0860).abs() < 5e-4, "{found:?}");
        assert!(found.is_found());
        let scores = (0..100).map(|at| {
            if at < 15 {
                1.0
            } else if at < 20 {
                -1.0
            } else {
                0.0
            }
        });
        let scored = Difference::of_scores(scores);
        // Bonett and Price give the root of (22 - 100 / 102) / 102.
        assert!((scored.margin - 0.0881).abs() < 5e-4 && (scored.average - 0.1).abs() < 1e-9, "{scored:?}");
        assert!(Difference::of_scores([0.0; 98].into_iter()).margin < 0.03);
        let values = Difference::of_values([1.0, 3.0].into_iter(), 1.96);
        assert!((values.average - 2.0).abs() < 1e-9 && (values.margin - 1.96).abs() < 1e-9, "{values:?}");
        assert_eq!(Difference::of_values([7.0].into_iter(), 1.96).margin, f64::INFINITY);
    }
}
