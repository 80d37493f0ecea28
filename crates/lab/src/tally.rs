use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::paired::Difference;
use riskbreaker_play::Fault;

/// The results of many games, counted in whole numbers. The tallies of parts add up to the tally of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of games that count.
    pub trials: u64,
    /// The number of games with each result, as the ruleset names it, or else by the end text.
    pub results: BTreeMap<String, u64>,
    /// The number of games with each end text.
    pub outcomes: BTreeMap<String, u64>,
    /// The number of games by number of rounds.
    pub rounds: BTreeMap<u32, u64>,
    /// The total number of actions of all games.
    pub actions: u64,
    /// The use of cards, by seat and card.
    pub cards: BTreeMap<String, BTreeMap<String, CardUse>>,
    /// The statistics that the ruleset follows: by label, for the end of each round.
    pub statistics: BTreeMap<String, Vec<Sum>>,
    /// Games that do not count, in the order of their trials.
    pub left_out: Vec<LeftOut>,
}

/// The numbers of uses and successes of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardUse {
    /// The number of uses.
    pub used: u64,
    /// The number of plays with a roll for a target.
    pub rolled: u64,
    /// The number of those plays in which the first such roll succeeded.
    pub met: u64,
}

impl CardUse {
    /// Adds the numbers of plays, of plays with a roll, and of successes.
    pub(super) fn add(&mut self, [used, rolled, met]: [u64; 3]) {
        self.used += used;
        self.rolled += rolled;
        self.met += met;
    }
}

/// The sum of a statistic at the end of a round, over all games that reached it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// The number of games that reached this round.
    pub games: u64,
    /// The sum of the number over those games.
    #[serde(with = "whole")]
    pub sum: i128,
}

/// Serializes a sum as a number, or as a text if it is beyond the range of JSON readers.
mod whole {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum WrittenTally {
        Number(i64),
        Text(String),
    }

    pub fn serialize<S: Serializer>(sum: &i128, to: S) -> Result<S::Ok, S::Error> {
        i64::try_from(*sum).map_or_else(|_| WrittenTally::Text(sum.to_string()), WrittenTally::Number).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        match WrittenTally::deserialize(from)? {
            WrittenTally::Number(sum) => Ok(sum.into()),
            WrittenTally::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

/// A game that does not count. It can be replayed with its seed and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The number of the game, from 1.
    pub trial: u64,
    /// The reason for leaving it out.
    pub why: String,
    /// The advice, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
    /// True if the game was stopped because it did not end within the limits. Otherwise it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unended: bool,
}

impl LeftOut {
    pub(super) fn new(trial: u64, why: impl Into<String>) -> LeftOut {
        LeftOut { trial, why: why.into(), cure: None, unended: false }
    }

    pub(super) fn unended(trial: u64, why: impl Into<String>) -> LeftOut {
        LeftOut { unended: true, ..LeftOut::new(trial, why) }
    }

    pub(super) fn by_fault(trial: u64, fault: Fault) -> LeftOut {
        let why = fault.to_string();
        LeftOut { cure: fault.cure, ..LeftOut::new(trial, why) }
    }
}

impl Tally {
    /// Adds the counts of another part of the same simulation.
    pub fn add(&mut self, other: &Tally) {
        self.trials += other.trials;
        self.actions += other.actions;
        add_counts(&mut self.results, &other.results);
        add_counts(&mut self.outcomes, &other.outcomes);
        add_counts(&mut self.rounds, &other.rounds);
        for (seat, cards) in &other.cards {
            let own = self.cards.entry(seat.clone()).or_default();
            for (card, count) in cards {
                own.entry(card.clone()).or_default().add([count.used, count.rolled, count.met]);
            }
        }
        for (label, rounds) in &other.statistics {
            let own = self.statistics.entry(label.clone()).or_default();
            own.resize(own.len().max(rounds.len()), Sum::default());
            for (sum, more) in own.iter_mut().zip(rounds) {
                sum.games += more.games;
                sum.sum += more.sum;
            }
        }
        self.left_out.extend(other.left_out.iter().cloned());
        self.left_out.sort_by_key(|out| out.trial);
    }

    /// The share of a result with its interval.
    pub fn rate(&self, result: &str) -> Rate {
        Rate::of(self.results.get(result).copied().unwrap_or(0), self.trials)
    }

    /// The average number of rounds.
    pub fn mean_rounds(&self) -> f64 {
        let sum: u64 = self.rounds.iter().map(|(rounds, games)| u64::from(*rounds) * games).sum();
        share(sum, self.trials)
    }
}

pub(super) fn add_counts<K: Ord + Clone>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *to.entry(key.clone()).or_insert(0) += count;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The frequency of an event, with an interval for its true share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The number of times it happened.
    pub count: u64,
    /// The number of cases.
    pub of: u64,
    /// Their ratio, 0 to 1.
    pub share: f64,
    /// The lower end of the interval, 0 to 1.
    pub low: f64,
    /// The upper end of the interval, 0 to 1.
    pub high: f64,
}

/// The standard deviations on each side of the mean that contain 95 % of a normal distribution.
pub(super) const Z: f64 = 1.959_963_984_540_054;

impl Rate {
    /// Computes a share with the 95 % interval of Wilson.
    pub fn of(count: u64, of: u64) -> Rate {
        if of == 0 {
            return Rate { count, of, share: 0.0, low: 0.0, high: 1.0 };
        }
        let p = share(count, of);
        let (low, high) = wilson(p, of as f64);
        let low = if count == 0 { 0.0 } else { low };
        let high = if count == of { 1.0 } else { high };
        Rate { count, of, share: p, low, high }
    }

    /// Computes a share with the interval of Clopper and Pearson, which contains the true share in at least 99 of 100
    /// cases, for rare events as well: each bound errs in fewer than one of 200 samples.
    pub fn within_99(count: u64, of: u64) -> Rate {
        let low = if count == 0 || of == 0 { 0.0 } else { 1.0 - most_with(of - count, of) };
        let high = if count >= of { 1.0 } else { most_with(count, of) };
        Rate { count, of, share: if of == 0 { 0.0 } else { share(count, of) }, low: low.max(0.0), high: high.min(1.0) }
    }

    /// Computes a share over units in groups, such as the questions of games. `groups`: for each group, the number of
    /// units that count, and of all units. Units of one group resemble each other, so the interval is that of Wilson
    /// for the number of independent units that estimate the share equally well, by the variance between the groups
    /// (Korn and Graubard 1998). If no group differs from the share, it is that of as many units as there are groups.
    pub fn of_groups(groups: impl Iterator<Item = (u64, u64)> + Clone) -> Rate {
        let (mut count, mut of, mut filled) = (0, 0, 0_u64);
        for (hits, units) in groups.clone().filter(|(_, units)| *units > 0) {
            (count, of, filled) = (count + hits, of + units, filled + 1);
        }
        if of == 0 {
            return Rate::of(0, 0);
        }
        let p = share(count, of);
        let squares: f64 = groups.map(|(hits, units)| (hits as f64 - p * units as f64).powi(2)).sum();
        let variance = match filled {
            0 | 1 => 0.0,
            n => n as f64 / (n - 1) as f64 * squares / (of as f64).powi(2),
        };
        let independent = if variance > 0.0 { p * (1.0 - p) / variance } else { filled as f64 };
        let n = independent.clamp(1.0, of as f64);
        let (low, high) = wilson(p, n);
        let low = if count == 0 { 0.0 } else { low };
        Rate { count, of, share: p, low, high: if count == of { 1.0 } else { high } }
    }

    /// Half the width of the interval.
    pub fn precision(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// An average that is at least zero, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Average {
    /// The average; 0 without any number.
    pub value: f64,
    /// The lower end of the interval, at least 0.
    pub low: f64,
    /// The upper end; infinite (`null` in JSON) if the numbers tell nothing about it.
    pub high: f64,
}

impl Average {
    /// Computes the average count of units in groups, such as the open answers of the questions of games. `groups`: for
    /// each group, the total of its counts, and its number of units. The margin follows from the differences between
    /// the groups, since units of one group resemble each other: that of a ratio of two totals (Cochran 1977, 6.8).
    pub fn of_groups(groups: impl Iterator<Item = (u64, u64)> + Clone) -> Average {
        let groups = groups.filter(|(_, units)| *units > 0);
        let unknown = |value| Average { value, low: 0.0, high: f64::INFINITY };
        let (mut total, mut units, mut filled) = (0, 0, 0_u64);
        for (more, of) in groups.clone() {
            (total, units, filled) = (total + more, units + of, filled + 1);
        }
        if units == 0 {
            return unknown(0.0);
        }
        let value = total as f64 / units as f64;
        let units_each = units as f64 / filled as f64;
        let off = groups.map(|(total, units)| (total as f64 - value * units as f64) / units_each);
        match Difference::of_values(off, Z).margin {
            margin if margin.is_finite() => Average { value, low: (value - margin).max(0.0), high: value + margin },
            _ => unknown(value),
        }
    }

    /// Computes the average of shares, each 0 to 1. The interval is that of Wilson for the number of yes-or-no cases that
    /// estimate a share equally well: it has a width even if all numbers are equal, since other ones may be rare.
    pub fn of_shares(shares: impl Iterator<Item = f64>) -> Average {
        let (value, numbers, variance) = moments(shares);
        if numbers == 0 {
            return Average { value, low: 0.0, high: 1.0 };
        }
        let cases = if variance > 0.0 { value * (1.0 - value) / variance } else { numbers as f64 };
        let (low, high) = wilson(value, cases.max(1.0));
        Average { value, low, high }
    }

    /// Computes the average of counts. The interval is the score interval of a Poisson rate, for the number of cases that
    /// estimate a rate equally well: it has a width even if all counts are equal, since other ones may be rare.
    pub fn of_counts(counts: impl Iterator<Item = u64>) -> Average {
        let (value, numbers, variance) = moments(counts.map(|count| count as f64));
        if numbers == 0 {
            return Average { value, low: 0.0, high: f64::INFINITY };
        }
        let cases = if variance > 0.0 { value / variance } else { numbers as f64 };
        let events = value * cases;
        let wide = Z * (events + Z * Z / 4.0).sqrt();
        let at = |events: f64| (events + Z * Z / 2.0) / cases;
        Average { value, low: at(events - wide).max(0.0), high: at(events + wide) }
    }
}

/// The average of numbers, how many there are, and the variance of their average: 0 for fewer than two.
fn moments(numbers: impl Iterator<Item = f64>) -> (f64, u64, f64) {
    let found = Difference::of_values(numbers, 1.0);
    let variance = if found.margin.is_finite() { found.margin * found.margin } else { 0.0 };
    (found.average, found.pairs, variance)
}

/// Wilson's interval of a share `p` of `n` independent units.
fn wilson(p: f64, n: f64) -> (f64, f64) {
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let wide = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((middle - wide).max(0.0), (middle + wide).min(1.0))
}

/// Returns two ranks, from 1, in a sorted sample of `of` numbers. In at least 95 of 100 samples, the numbers at these
/// ranks enclose the quantile `p` of the population: the distribution-free interval by binomial chances. `None` for a
/// side on which the sample has no such number.
pub(super) fn ranks(p: f64, of: u64) -> (Option<u64>, Option<u64>) {
    if of > MOST_EXACT {
        // The normal approximation of the binomial distribution is good enough here.
        let (middle, wide) = (p * of as f64, Z * (p * (1.0 - p) * of as f64).sqrt());
        return (Some((middle - wide).floor() as u64), Some((middle + wide).ceil() as u64 + 1));
    }
    // The chance that at most `rank - 1` numbers of the sample are among the lowest share `p`.
    let fewer =
        |share: f64, rank: u64| rank as f64 - 1.0 <= share * of as f64 && at_most_of(rank - 1, of, share) <= 0.025;
    let largest = |share: f64| {
        let (mut low, mut high) = (0, of);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fewer(share, middle) { low = middle } else { high = middle - 1 }
        }
        (low > 0).then_some(low)
    };
    (largest(p), largest(1.0 - p).map(|rank| of + 1 - rank))
}

/// The largest sample with exact ranks; larger ones use the normal approximation.
const MOST_EXACT: u64 = 5_000;

/// The chance outside of a 99 % interval, on each side.
const TAIL: f64 = 0.005;

/// The largest share for which a sample has `count` or fewer with a chance of [`TAIL`], rounded up a little.
fn most_with(count: u64, of: u64) -> f64 {
    let (mut low, mut high) = (share(count, of), 1.0);
    // The bisection ends when no number is left between the bounds.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if at_most_of(count, of, middle) > TAIL { low = middle } else { high = middle }
    }
    high + 1e-9 * high
}

/// The chance that a sample of `of` contains at most `count` cases of an event with the share `p`. `p` is at least
/// `count / of` and below 1.
fn at_most_of(count: u64, of: u64, p: f64) -> f64 {
    let (k, n) = (count as f64, of as f64);
    let few = count.min(of - count);
    let ways: f64 = (1..=few).map(|at| ((n - few as f64 + at as f64) / at as f64).ln()).sum();
    let mut term = (ways + k * p.ln() + (n - k) * (-p).ln_1p()).exp();
    // Each term is smaller than the one above it, since the count is below the mean.
    let (mut sum, odds) = (0.0, (1.0 - p) / p);
    for at in (0..=count).rev() {
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
        term *= at as f64 / (n - at as f64 + 1.0) * odds;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the definition of the interval by independent sums, and the rule of three for an event that never
    /// happened.
    #[test]
    fn an_estimate_is_never_narrower_than_its_sample_supports() {
        let pmf = |n: u64, k: u64, p: f64| {
            let ways = (1..=k).fold(1.0, |ways, at| ways * (n - k + at) as f64 / at as f64);
            ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
        };
        for (count, of) in [(0, 20), (1, 20), (7, 20), (20, 20), (3, 150), (75, 150), (149, 150)] {
            let rate = Rate::within_99(count, of);
            assert!(rate.low <= rate.share && rate.share <= rate.high, "{rate:?}");
            let few: f64 = (0..=count).map(|k| pmf(of, k, rate.high)).sum();
            let many: f64 = (count..=of).map(|k| pmf(of, k, rate.low)).sum();
            assert!(count == of || (few - TAIL).abs() < 1e-6, "{rate:?}: {few}");
            assert!(count == 0 || (many - TAIL).abs() < 1e-6, "{rate:?}: {many}");
        }
        let never = Rate::within_99(0, 20_000);
        assert!((never.high - (1.0 - TAIL.powf(1.0 / 20_000.0))).abs() < 1e-9 && never.low == 0.0, "{never:?}");
        // One case in 20,000 plays: below 0.04 %.
        let once = Rate::within_99(1, 20_000);
        assert!(once.high > 0.0003 && once.high < 0.0004 && once.low > 0.0, "{once:?}");
        let large = Rate::within_99(600_000, 1_000_000);
        assert!(large.low > 0.5986 && large.low < 0.5988 && large.high > 0.6012 && large.high < 0.6014, "{large:?}");
        assert_eq!((Rate::within_99(0, 0).low, Rate::within_99(0, 0).high), (0.0, 1.0));
    }

    #[test]
    fn the_ranks_around_a_percentile_are_those_of_the_binomial_tables() {
        // Conover 1999: the median of 10 lies between the 2nd and the 9th number, of 20 between the 6th and the 15th; five
        // numbers are too few.
        assert_eq!((ranks(0.5, 10), ranks(0.5, 20)), ((Some(2), Some(9)), (Some(6), Some(15))));
        assert_eq!(ranks(0.5, 5), (None, None));
        // 0.9^35 is above 0.025, 0.9^36 is below: from 36 on, the smallest number is low enough for a tenth.
        assert_eq!((ranks(0.1, 34).0, ranks(0.1, 36).0), (None, Some(1)));
        assert_eq!(ranks(0.9, 36).1, Some(36));
    }

    #[test]
    fn questions_of_one_game_count_less_than_as_many_of_several() {
        // A hundred games with ten equal answers each count as a hundred answers, not as a thousand.
        let alike = Rate::of_groups((0..100).map(|game| (if game < 30 { 10 } else { 0 }, 10)));
        let single = Rate::of(30, 100);
        assert_eq!((alike.count, alike.of, alike.share), (300, 1000, 0.3));
        assert!(
            (alike.low - single.low).abs() < 2e-3 && (alike.high - single.high).abs() < 2e-3,
            "{alike:?} {single:?}"
        );
        // Games of one question each are independent questions.
        let each = Rate::of_groups((0..100).map(|game| (u64::from(game < 30), 1)));
        assert!((each.low - single.low).abs() < 2e-3 && (each.high - single.high).abs() < 2e-3, "{each:?}");
        // If all games agree, each counts as one question.
        let none = Rate::of_groups((0..20).map(|_| (0, 50)));
        assert!((none.high - Rate::of(0, 20).high).abs() < 1e-9 && none.low == 0.0, "{none:?}");
        assert_eq!(Rate::of_groups(std::iter::empty()).high, 1.0);
    }

    #[test]
    fn an_average_over_groups_has_the_margin_of_the_groups() {
        // 100 games of ten questions each, with 2 or 4 open answers: as 100 questions.
        let alike = Average::of_groups((0..100).map(|game| (if game < 50 { 20 } else { 40 }, 10)));
        let single = Difference::of_values((0..100).map(|game| if game < 50 { 2.0 } else { 4.0 }), Z);
        assert!(alike.value == 3.0 && (single.average - 3.0).abs() < 1e-12, "{alike:?} {single:?}");
        assert!((alike.high - single.high()).abs() < 1e-12, "{alike:?} {single:?}");
        assert!((alike.low - single.low()).abs() < 1e-12, "{alike:?} {single:?}");
        // Long games weigh more; a game without such a question counts for nothing.
        let weighed = Average::of_groups([(2, 1), (36, 9), (0, 0)].into_iter());
        assert_eq!(weighed.value, 3.8);
        let alone = Average { value: 3.5, low: 0.0, high: f64::INFINITY };
        assert_eq!(Average::of_groups([(7, 2)].into_iter()), alone);
        assert_eq!(Average::of_groups(std::iter::empty()).value, 0.0);
    }

    #[test]
    fn an_average_of_equal_numbers_has_an_interval() {
        // Sixty games without a change of the lead do not show that there is none: about 3.8 in 60 (the rule of three).
        let none = Average::of_counts(std::iter::repeat_n(0, 60));
        assert!(none.low == 0.0 && (none.high - Z * Z / 60.0).abs() < 1e-12, "{none:?}");
        let never = Average::of_shares(std::iter::repeat_n(0.0, 60));
        assert!((never.high - Rate::of(0, 60).high).abs() < 1e-12 && never.low == 0.0, "{never:?}");
        // Yes-or-no shares have about the interval of Wilson.
        let (shares, rate) = (Average::of_shares((0..100).map(|n| f64::from(n < 30))), Rate::of(30, 100));
        assert!((shares.low - rate.low).abs() < 1e-3 && (shares.high - rate.high).abs() < 1e-3, "{shares:?} {rate:?}");
        // Many different counts have the usual interval of an average.
        let counts = || (0..400).map(|n| 50 + n % 21);
        let (found, usual) = (Average::of_counts(counts()), Difference::of_values(counts().map(|n| n as f64), Z));
        assert!((found.low - usual.low()).abs() < 0.01 && (found.high - usual.high()).abs() < 0.01, "{found:?}");
        assert_eq!(Average::of_counts(std::iter::empty()).high, f64::INFINITY);
    }

    #[test]
    fn a_sum_of_large_numbers_is_kept_whole() {
        let large = Sum { games: 1, sum: (1 << 53) - 1 };
        let mut tally = Tally { statistics: [("n".into(), vec![large])].into(), ..Tally::default() };
        (0..12).for_each(|_| tally.add(&tally.clone()));
        let read: Tally = serde_json::from_value(serde_json::to_value(&tally).unwrap()).unwrap();
        assert_eq!(read, tally);
        assert_eq!(read.statistics["n"], [Sum { games: 4096, sum: ((1 << 53) - 1) * 4096 }]);
    }

    #[test]
    fn the_interval_is_that_of_wilson() {
        // Newcombe 1998, table I: 81 of 263 is 0.2553 to 0.3662, 0 of 20 is 0 to 0.1611, 1 of 29 is 0.0061 to 0.1718.
        for (count, of, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)] {
            let rate = Rate::of(count, of);
            assert!((rate.low - low).abs() < 5e-5 && (rate.high - high).abs() < 5e-5, "{rate:?}");
        }
        assert_eq!((Rate::of(5, 5).high, Rate::of(0, 0).high), (1.0, 1.0));
    }
}
