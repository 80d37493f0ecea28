use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

use super::fraction::{Fraction, float, ratio};
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

use super::notation::{Dice, DiceGroup, DiceTerm, TermSource};
use super::pool::{DicePool, EXPLOSIONS, Reroll};
use super::weights::{Effort, TooMuch, Weights};

/// Explosions are followed until the rest is less likely than this, for all dice of a pool together.
const NEGLIGIBLE: f64 = 1e-12;
/// The most rolls in a group whose distribution is computed.
const MOST_MEMBERS: usize = 16;
/// The most combinations of kept rolls and sums that are stored for the distribution of a group.
const MOST_OPEN: usize = 100_000;
/// The cost of a step in computing a group, in products of two words.
const COST_OF_STEP: u64 = 64;

/// The exact probability of each total of an expression.
///
/// Chances are ratios of whole numbers without rounding: those of all listed totals and [`Distribution::remaining`] sum
/// to exactly 1. Two distributions are equal if they list the same totals with the same chances.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// The weights of the listed totals; at least one.
    weights: Weights,
    /// The sum of all weights, including unlisted totals.
    whole: UBig,
    unlisted: Unlisted,
}

/// The range of the totals that are not listed because dice exploded too often. The chances of all others are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unlisted {
    None,
    /// All of them are at least this.
    From(i64),
    /// All of them are at most this.
    To(i64),
    Anywhere,
}

/// The expression has too many outcomes for an exact distribution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{dice}` has too many outcomes for exact chances; roll fewer dice or fewer faces, or simulate it")]
#[non_exhaustive]
pub struct TooWide {
    /// The expression.
    pub dice: Dice,
}

impl Dice {
    /// Computes the probability of each total, by counting outcomes: the dice of a pool are never distinguished.
    ///
    /// Rerolls are exact, even unlimited ones. Explosions are followed until less than 10^-12 is left, which
    /// [`Distribution::remaining`] returns; [`Distribution::exactly`] finds the chances that are exact nevertheless.
    ///
    /// # Errors
    ///
    /// [`TooWide`] if that would take more than some tens of megabytes or about a second; `100d6kh50`, `100d100`,
    /// `1000d6` and `d1000000` do not.
    pub fn distribution(&self) -> Result<Distribution, TooWide> {
        self.distribution_within(&mut Effort::new())
    }

    /// Like [`Dice::distribution`], within the rest of an effort, which it reduces.
    pub(super) fn distribution_within(&self, effort: &mut Effort) -> Result<Distribution, TooWide> {
        let mut sum = Distribution::certain(self.constant);
        for term in &self.terms {
            sum = Distribution::of_term(term, effort)
                .and_then(|of_term| sum.plus(&of_term, effort))
                .map_err(|TooMuch| TooWide { dice: self.clone() })?;
        }
        Ok(sum)
    }
}

impl Distribution {
    /// The chance of exactly `total`, 0 to 1; 0 for a total that is not listed.
    pub fn chance(&self, total: i64) -> Fraction {
        self.share(total..=total)
    }

    /// The chance of `total` or more, 0 to 1, among the listed totals.
    pub fn at_least(&self, total: i64) -> Fraction {
        self.share(total..)
    }

    /// The chance of `total` or less, 0 to 1, among the listed totals.
    pub fn at_most(&self, total: i64) -> Fraction {
        self.share(..=total)
    }

    /// The chance of `low` to `high`, both included, 0 to 1, among the listed totals.
    pub fn between(&self, low: i64, high: i64) -> Fraction {
        self.share(low..=high)
    }

    /// The chance of less than `total`, 0 to 1, among the listed totals.
    pub fn below(&self, total: i64) -> Fraction {
        self.share(..total)
    }

    /// The chance of the totals that are not listed because dice exploded too often: below 10^-12 for each exploding
    /// pool, and 0 if nothing explodes.
    pub fn remaining(&self) -> Fraction {
        ratio(&self.whole - self.weights.sum(), self.whole.clone())
    }

    /// True if every possible total is listed.
    pub fn is_exact(&self) -> bool {
        self.weights.sum() == self.whole
    }

    /// The mean of the listed totals: exact if [`Distribution::is_exact`].
    pub fn mean(&self) -> Fraction {
        ratio(self.moment(1), self.weights.sum())
    }

    /// The variance of the listed totals, in totals squared.
    pub fn variance(&self) -> Fraction {
        let mean = self.mean();
        ratio(self.moment(2), self.weights.sum()) - &mean * &mean
    }

    /// The most likely total; the smallest of them if there are several.
    pub fn mode(&self) -> i64 {
        let most = self.weights.iter().rev().max_by(|(_, a), (_, b)| a.cmp(b));
        most.map_or(0, |&(total, _)| total)
    }

    /// The listed totals with their chances, above 0, in rising order; there is at least one.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (i64, Fraction)> + ExactSizeIterator + '_ {
        self.weights.iter().map(|(total, weight)| (*total, ratio(weight.clone(), self.whole.clone())))
    }

    /// The listed totals, in rising order.
    pub fn totals(&self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + '_ {
        self.weights.iter().map(|(total, _)| *total)
    }

    /// The exact chance of a range of totals, 0 to 1. `None` if unlisted totals may or may not be in the range.
    pub fn exactly(&self, totals: impl RangeBounds<i64>) -> Option<Fraction> {
        let least = match totals.start_bound() {
            Bound::Included(low) => *low,
            Bound::Excluded(low) => low.saturating_add(1),
            Bound::Unbounded => i64::MIN,
        };
        let most = match totals.end_bound() {
            Bound::Included(high) => *high,
            Bound::Excluded(high) => high.saturating_sub(1),
            Bound::Unbounded => i64::MAX,
        };
        let (all_of_them, none_of_them) = match self.unlisted {
            Unlisted::None => (false, true),
            Unlisted::From(low) => (least <= low && most == i64::MAX, most < low),
            Unlisted::To(high) => (least == i64::MIN && most >= high, least > high),
            Unlisted::Anywhere => (least == i64::MIN && most == i64::MAX, false),
        };
        match (all_of_them, none_of_them) {
            (true, _) => Some(self.share(totals) + self.remaining()),
            (_, true) => Some(self.share(totals)),
            _ => None,
        }
    }

    /// The chances of a total above, equal to and below that of another roll, 0 to 1, among the listed totals of both.
    pub fn against(&self, other: &Distribution) -> [Fraction; 3] {
        let [mut above, mut equal, mut below] = [UBig::ZERO, UBig::ZERO, UBig::ZERO];
        let (all, mut lower) = (other.weights.sum(), UBig::ZERO);
        let mut rest = other.weights.iter().peekable();
        for (total, weight) in self.weights.iter() {
            while let Some((_, passed)) = rest.next_if(|(other, _)| other < total) {
                lower += passed;
            }
            let same = match rest.peek() {
                Some((other, same)) if other == total => same.clone(),
                _ => UBig::ZERO,
            };
            below += weight * (&all - &lower - &same);
            above += weight * &lower;
            equal += weight * same;
        }
        let whole = &self.whole * &other.whole;
        [above, equal, below].map(|ways| ratio(ways, whole.clone()))
    }

    fn certain(total: i64) -> Distribution {
        Distribution { weights: Weights::certain(total), whole: UBig::ONE, unlisted: Unlisted::None }
    }

    fn of_term(DiceTerm { times, source }: &DiceTerm, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        if *times == 0 {
            return Ok(Distribution::certain(0));
        }
        let one = match source {
            TermSource::Pool(pool) => Distribution::of_pool(pool, effort)?,
            TermSource::Group(group) => Distribution::of_group(group, effort)?,
        };
        Ok(one.times(*times))
    }

    /// The distribution of the sum of a group's kept rolls.
    fn of_group(group: &DiceGroup, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        let members = group.members.iter().map(|member| member.distribution_within(effort).map_err(|_| TooMuch));
        let mut members = members.collect::<Result<Vec<_>, _>>()?;
        let kept = group.keep.places(members.len() as u32).len();
        // The lowest rolls are the highest ones after a change of sign.
        let sign = if group.keep.prefers_low() { -1 } else { 1 };
        members.iter_mut().for_each(|member| *member = std::mem::replace(member, Distribution::certain(0)).times(sign));
        Ok(Distribution::of_highest(&members, kept, effort)?.times(sign))
    }

    /// The sum of the `kept` highest of independent rolls, at least one and at most all of them.
    ///
    /// Counts by totals from the highest: at each total, some of the open rolls show it. Once enough are kept, the
    /// others show less.
    fn of_highest(members: &[Distribution], kept: usize, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        if members.len() > MOST_MEMBERS {
            return Err(TooMuch);
        }
        let mut totals: Vec<i64> = members.iter().flat_map(Distribution::totals).collect();
        totals.sort_unstable();
        totals.dedup();
        let everyone = 1_usize << members.len();
        // The number of ways in which a roll shows less; unlisted totals are lower if they are bounded above.
        let mut below: Vec<UBig> = members
            .iter()
            .map(|member| match member.unlisted {
                Unlisted::To(_) => member.whole.clone(),
                _ => member.weights.sum(),
            })
            .collect();
        let mut left: Vec<_> = members.iter().map(|member| member.weights.iter().rev().peekable()).collect();
        let mut done: BTreeMap<i64, UBig> = BTreeMap::new();
        // By the rolls kept so far, as bits, and their sum.
        let mut open: BTreeMap<(usize, i64), UBig> = BTreeMap::from([((0, 0), UBig::ONE)]);
        let words = members.iter().map(|member| member.whole.bit_len() as u64 / 64 + 1).sum::<u64>();
        for total in totals.into_iter().rev() {
            let at: Vec<UBig> = left
                .iter_mut()
                .map(|left| left.next_if(|(of, _)| *of == total).map_or(UBig::ZERO, |(_, ways)| ways.clone()))
                .collect();
            below.iter_mut().zip(&at).for_each(|(below, at)| *below -= at);
            let showing: usize = at.iter().enumerate().filter(|(_, ways)| !ways.is_zero()).map(|(i, _)| 1 << i).sum();
            let mut more: Vec<((usize, i64), UBig)> = Vec::new();
            for ((taken, sum), ways) in &open {
                let free = showing & !taken;
                effort.spend((1 << free.count_ones()) * members.len() as u64 * (words + COST_OF_STEP))?;
                // Every non-empty set of the rolls that can show this total.
                let mut set = free;
                while set != 0 {
                    let having = taken.count_ones() as usize;
                    let now = having + set.count_ones() as usize;
                    let of_set = (0..members.len()).filter(|i| set >> i & 1 == 1).map(|i| &at[i]);
                    let mut ways = of_set.fold(ways.clone(), |ways, at| ways * at);
                    if now < kept {
                        more.push(((taken | set, sum + set.count_ones() as i64 * total), ways));
                    } else {
                        let others = (everyone - 1) & !taken & !set;
                        let others = (0..members.len()).filter(|i| others >> i & 1 == 1).map(|i| &below[i]);
                        ways = others.fold(ways, |ways, below| ways * below);
                        if !ways.is_zero() {
                            *done.entry(sum + (kept - having) as i64 * total).or_default() += ways;
                        }
                    }
                    set = (set - 1) & free;
                }
            }
            for (state, ways) in more {
                *open.entry(state).or_default() += ways;
            }
            if open.len() > MOST_OPEN {
                return Err(TooMuch);
            }
        }
        let whole = members.iter().fold(UBig::ONE, |whole, member| whole * &member.whole);
        Ok(Distribution { weights: Weights::new(done)?, whole, unlisted: unlisted_of_highest(members, kept) })
    }

    /// Every total multiplied by `factor`, which is not 0.
    fn times(self, factor: i64) -> Distribution {
        Distribution { weights: self.weights.times(factor), whole: self.whole, unlisted: self.unlisted.times(factor) }
    }

    /// The distribution of a pool.
    fn of_pool(pool: &DicePool, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        let die = Distribution::of_die(pool, effort)?;
        let kept = pool.keep.map_or(pool.count, |keep| keep.places(pool.count).len() as u32);
        let weights = match pool.keep {
            None => die.weights.of_sum(pool.count, &die.whole, effort)?,
            Some(keep) if keep.prefers_low() => {
                // The lowest dice are the highest ones after a change of sign. Unlisted totals may have any size.
                let turned = die.weights.times(-1);
                turned.of_highest(kept, pool.count, &die.whole, die.whole.clone(), effort)?.times(-1)
            }
            Some(_) => die.weights.of_highest(kept, pool.count, &die.whole, die.weights.sum(), effort)?,
        };
        // A die that exploded that often is always kept.
        let others = i64::from(kept) - 1;
        let unlisted = match (die.unlisted, die.weights.least()) {
            (Unlisted::From(total), Some(least)) => Unlisted::From(total + others * least),
            (unlisted, _) => unlisted,
        };
        let whole = die.whole.pow(pool.count as usize);
        Ok(Distribution { weights, whole, unlisted })
    }

    /// The distribution of one die of `pool` with its rerolls and explosions.
    fn of_die(pool: &DicePool, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        let rest = Distribution::of_rest(pool)?;
        let worth = |weights: Weights| match pool.successes {
            None => weights,
            Some(_) => weights.mapped(|face| pool.worth(face as i32)),
        };
        if pool.explode.is_none() {
            return Ok(Distribution { weights: worth(rest.weights), ..rest });
        }
        let (exploding, resting) = rest.weights.split(|face| pool.explodes_on(face as i32));
        // A face that counts nothing and adds one more die is equivalent to a reroll.
        let (idle, exploding) = exploding.split(|face| pool.worth(face as i32) == 0);
        let whole = &rest.whole - idle.sum();
        if idle.sum() * 10_u32 > &rest.whole * 9_u32 {
            return Err(TooMuch);
        }
        let rounds = rounds(&ratio(exploding.sum(), whole.clone()), pool.count);
        let (exploding, resting) = (worth(exploding), worth(resting));
        let unlisted = match (exploding.least(), resting.least()) {
            (Some(more), Some(least)) => Unlisted::From(i64::from(rounds) * more + least.min(more)),
            _ => Unlisted::None,
        };
        // The weights of dice that exploded exactly this often, relative to the whole to that power.
        let mut exploded = Weights::certain(0);
        let mut sum = Weights::default();
        for round in 0..rounds {
            if round > 0 {
                sum = sum.scaled(&whole, effort)?;
                exploded = exploded.plus(&exploding, effort)?;
            }
            sum = sum.merged(exploded.plus(&resting, effort)?);
        }
        Ok(Distribution { weights: sum, whole: whole.pow(rounds as usize), unlisted })
    }

    /// The distribution of the final face of one die of `pool` after its rerolls.
    pub(super) fn of_rest(pool: &DicePool) -> Result<Distribution, TooMuch> {
        let sides = pool.sides;
        let taken = pool.reroll.as_ref().map(Reroll::faces);
        let again = taken.map_or(0, |taken| pool.count_of(taken));
        // Weights out of `whole`: of a rerolled face, and of one that is not.
        let (low, high, whole) = match &pool.reroll {
            None => (0, 1, u64::from(sides)),
            Some(Reroll::While(_)) => (0, 1, u64::from(sides - again)),
            Some(Reroll::Once(_)) => (again, sides + again, u64::from(sides) * u64::from(sides)),
        };
        let weight = |face| if taken.is_some_and(|taken| taken.holds(face)) { low } else { high };
        let weights = pool.all_shown().map(|face| (i64::from(face), weight(face).into()));
        let weights = Weights::new(weights)?;
        // Several faces may show the same number.
        Ok(Distribution {
            weights: if pool.is_numbered() { weights } else { weights.mapped(|face| face) },
            whole: whole.into(),
            unlisted: Unlisted::None,
        })
    }

    /// The totals with their weights, and the sum of all weights.
    pub(super) fn parts(self) -> (Vec<(i64, UBig)>, UBig) {
        (self.weights.iter().cloned().collect(), self.whole)
    }

    /// The sum of two independent rolls.
    fn plus(&self, other: &Distribution, effort: &mut Effort) -> Result<Distribution, TooMuch> {
        let lows = (self.weights.least().unwrap_or_default(), other.weights.least().unwrap_or_default());
        let highs = (self.weights.most().unwrap_or_default(), other.weights.most().unwrap_or_default());
        let unlisted = match (self.unlisted, other.unlisted) {
            (Unlisted::None, Unlisted::None) => Unlisted::None,
            (Unlisted::From(low), Unlisted::None) => Unlisted::From(low + lows.1),
            (Unlisted::None, Unlisted::From(low)) => Unlisted::From(low + lows.0),
            (Unlisted::From(low), Unlisted::From(other)) => Unlisted::From((low + lows.1).min(other + lows.0)),
            (Unlisted::To(high), Unlisted::None) => Unlisted::To(high + highs.1),
            (Unlisted::None, Unlisted::To(high)) => Unlisted::To(high + highs.0),
            (Unlisted::To(high), Unlisted::To(other)) => Unlisted::To((high + highs.1).max(other + highs.0)),
            _ => Unlisted::Anywhere,
        };
        let weights = self.weights.plus(&other.weights, effort)?;
        Ok(Distribution { weights, whole: &self.whole * &other.whole, unlisted })
    }

    /// The chance of a range of totals, 0 to 1, among the listed totals.
    pub fn share(&self, totals: impl RangeBounds<i64>) -> Fraction {
        ratio(self.weights.within(totals).iter().map(|(_, weight)| weight).sum::<UBig>(), self.whole.clone())
    }

    /// The sum of weight times total to the power of `n`.
    fn moment(&self, n: u32) -> IBig {
        let parts =
            self.weights.iter().map(|(total, weight)| IBig::from(*total).pow(n as usize) * IBig::from(weight.clone()));
        parts.sum()
    }
}

/// The range of the sums of the `kept` highest in which an unlisted total is or may be kept.
fn unlisted_of_highest(members: &[Distribution], kept: usize) -> Unlisted {
    // The sum of the extreme totals of the other kept rolls, beside the one at `i`.
    let others = |i: usize, of: fn(&Weights) -> Option<i64>, highest: bool| {
        let others = members.iter().enumerate().filter(|(other, _)| *other != i);
        let mut ends: Vec<i64> = others.filter_map(|(_, member)| of(&member.weights)).collect();
        ends.sort_unstable();
        if highest {
            ends.reverse();
        }
        ends.iter().take(kept - 1).sum::<i64>()
    };
    let places = members.iter().enumerate().map(|(i, member)| match member.unlisted {
        Unlisted::From(low) => Unlisted::From(low + others(i, Weights::least, false)),
        Unlisted::To(high) => Unlisted::To(high + others(i, Weights::most, true)),
        other => other,
    });
    places.fold(Unlisted::None, |all, one| match (all, one) {
        (Unlisted::None, other) | (other, Unlisted::None) => other,
        (Unlisted::From(low), Unlisted::From(other)) => Unlisted::From(low.min(other)),
        (Unlisted::To(high), Unlisted::To(other)) => Unlisted::To(high.max(other)),
        _ => Unlisted::Anywhere,
    })
}

impl Unlisted {
    /// Every total multiplied by `factor`, which is not 0.
    fn times(self, factor: i64) -> Unlisted {
        match self {
            Unlisted::From(total) if factor < 0 => Unlisted::To(total * factor),
            Unlisted::From(total) => Unlisted::From(total * factor),
            Unlisted::To(total) if factor < 0 => Unlisted::From(total * factor),
            Unlisted::To(total) => Unlisted::To(total * factor),
            other => other,
        }
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        let mut pairs = self.weights.iter().zip(other.weights.iter());
        self.weights.len() == other.weights.len()
            && pairs.all(|((total, weight), (other_total, other_weight))| {
                total == other_total && weight * &other.whole == other_weight * &self.whole
            })
    }
}

impl Eq for Distribution {}

/// The number of faces of one die that are followed if each explodes with the chance `explodes`.
fn rounds(explodes: &Fraction, dice: u32) -> u32 {
    let explodes = float(explodes);
    let mut left = explodes * f64::from(dice);
    let mut rounds = 1;
    while left >= NEGLIGIBLE && rounds < EXPLOSIONS {
        left *= explodes;
        rounds += 1;
    }
    if explodes == 0.0 { 1 } else { rounds }
}

#[cfg(test)]
mod tests {
    use super::super::fraction::sum;
    use super::*;
    use proptest::prelude::*;

    fn distribution(dice: &str) -> Distribution {
        Dice::parse(dice).unwrap().distribution().unwrap_or_else(|error| panic!("{error}"))
    }

    fn of(part: i64, whole: i64) -> Fraction {
        ratio(part, whole)
    }

    /// Enumerates every roll of an expression without `!`. Dice that `rr` rolls again are left out, and the rest is
    /// scaled to 1.
    fn rolled_one_by_one(dice: &Dice) -> BTreeMap<i64, Fraction> {
        let mut open = vec![Vec::new()];
        let mut totals: BTreeMap<i64, Fraction> = BTreeMap::new();
        while let Some(faces) = open.pop() {
            let mut given = faces.iter();
            let mut asked = Vec::new();
            let roll = dice.roll_with(&mut |sides| {
                asked.push(sides);
                given.next().copied()
            });
            let rerolls = |faces: &[u32]| match &dice.terms[..] {
                [DiceTerm { source: TermSource::Pool(pool), .. }] => match &pool.reroll {
                    Some(Reroll::While(taken)) => faces.iter().any(|face| taken.holds(pool.shown(*face))),
                    _ => false,
                },
                _ => false,
            };
            match roll {
                Some(roll) => {
                    let chance = asked.iter().fold(of(1, 1), |chance, &sides| chance / of(sides.into(), 1));
                    *totals.entry(roll.total()).or_default() += chance;
                }
                None if rerolls(&faces) => {}
                None => open.extend((1..=asked[asked.len() - 1]).map(|face| [&faces[..], &[face]].concat())),
            }
        }
        let sum = sum(totals.values());
        totals.into_iter().map(|(total, chance)| (total, chance / &sum)).collect()
    }

    fn assert_sums_to_1(distribution: &Distribution) {
        assert_eq!(distribution.at_least(i64::MIN) + distribution.remaining(), of(1, 1));
        if distribution.iter().len() < 100 {
            let listed = sum(distribution.iter().map(|(_, chance)| chance));
            assert_eq!(listed + distribution.remaining(), of(1, 1));
        }
    }

    #[test]
    fn chances_agree_with_published_numbers() {
        let abilities = distribution("4d6kh3");
        assert_eq!(abilities.mean(), of(15_869, 1_296));
        assert_eq!(abilities.chance(18), of(21, 1_296));
        assert_eq!(abilities.chance(3), of(1, 1_296));
        assert_eq!(abilities.mode(), 13);
        assert!(abilities.is_exact());

        let two = distribution("2d8");
        let table: Vec<_> = two.iter().collect();
        assert_eq!(table, (2i64..=16).map(|n| (n, of(8 - (n - 9).abs(), 64))).collect::<Vec<_>>());
        assert_eq!((two.mean(), two.variance(), two.mode()), (of(9, 1), of(21, 2), 9));
        assert_eq!((two.at_least(12), two.at_most(5), two.below(5)), (of(15, 64), of(10, 64), of(6, 64)));

        // Ways to roll 3 to 19 with 3d12; the other half mirrors it.
        let ways = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 88, 96, 102, 106, 108];
        let three = distribution("3d12");
        assert_eq!(three.iter().len(), 34);
        for (n, ways) in (3..).zip(ways) {
            assert_eq!(three.chance(n), of(ways, 1_728), "{n}");
            assert_eq!(three.chance(39 - n), of(ways, 1_728), "{n}");
        }
        assert_eq!((three.mean(), three.mode()), (of(39, 2), 19));
        assert_eq!(three.chance(2), of(0, 1));

        assert_eq!(distribution("d10").below(7), of(6, 10));
        assert_eq!(distribution("2d20kh1").at_least(11), of(3, 4));
        assert_eq!(distribution("d20-d20").at_least(0), of(210, 400));
        assert_eq!(distribution("7").chance(7), of(1, 1));
        assert_eq!(distribution("0*d6+2"), distribution("2"));
        assert_eq!(distribution("100000*d6+d6").chance(300_002), of(1, 36));
        assert_eq!(distribution("100d6").mean(), of(350, 1));
        assert_eq!(distribution("100d6").variance(), of(875, 3));
    }

    #[test]
    fn two_rolls_are_set_against_each_other() {
        let against = |one: &str, other: &str| distribution(one).against(&distribution(other));
        assert_eq!(against("2d6", "d12"), [of(1, 2), of(1, 12), of(5, 12)]);
        assert_eq!(against("d4", "2*d6"), [of(1, 12), of(1, 12), of(5, 6)]);
        let many = against("1000d6", "1000d6");
        assert!(many[0] == many[2] && sum(&many) == of(1, 1));
    }

    #[test]
    fn rerolls_are_exact() {
        assert_eq!(distribution("d6rr<3"), distribution("d4+2"));
        let once = distribution("d6ro1");
        assert_eq!((once.chance(1), once.chance(2)), (of(1, 36), of(7, 36)));
        assert_eq!(distribution("3d6ro1").mean(), of(3 * 141, 36));
        assert_eq!(distribution("3d6ro<=6"), distribution("3d6"));
    }

    #[test]
    fn explosions_are_exact_where_they_are_listed() {
        let die = distribution("d6!");
        assert_eq!(
            (die.chance(5), die.chance(6), die.chance(7), die.chance(18)),
            (of(1, 6), of(0, 1), of(1, 36), of(0, 1))
        );
        assert_eq!(die.chance(20), of(1, 6 * 6 * 6 * 6));
        assert!(!die.is_exact() && die.remaining() > of(0, 1));
        assert!(die.remaining() < of(1, 1_000_000_000_000));
        assert_sums_to_1(&die);
        // The mean of a die that explodes is that of the die times 6/5.
        assert!((die.mean() - of(21, 5)).to_f64().value().abs() < 1e-9);
        // The better of two is at most n if both are.
        let better = distribution("2d6!kh1");
        for n in [1, 5, 6, 7, 12, 20] {
            assert_eq!(better.at_most(n), die.at_most(n) * die.at_most(n), "{n}");
        }
        assert_sums_to_1(&better);
        // Faces 1 and 2 come to rest; 3 has been rolled again.
        assert_eq!(distribution("d4rr3!>=4").chance(5), of(1, 9));
        assert_eq!(distribution("d6ro6!").chance(7), of(1, 36) * of(7, 36));
        assert_sums_to_1(&distribution("10d10!>=9+2d6"));
    }

    #[test]
    fn successes_are_counted_die_by_die() {
        let ten = distribution("10d6>=5");
        for (n, ways) in [(0, 1024), (1, 5120), (10, 1)] {
            assert_eq!(ten.chance(n), of(ways, 59_049), "{n}");
        }
        assert_eq!(ten.mean(), of(10, 3));
        assert_eq!(distribution("3d6=1,6").chance(3), of(1, 27));
        assert_eq!(distribution("2d6<=2-1").chance(-1), of(4, 9));
        // A die that explodes counts every success that it brings: a 6 with 1/6, and again.
        let open = distribution("d6!6>=5");
        assert_eq!((open.chance(0), open.chance(1)), (of(4, 6), of(1, 6) + of(1, 6) * of(4, 6)));
        assert_sums_to_1(&open);
        assert_eq!(distribution("4d6ro1>=5").mean(), of(4 * 14, 36));
        // A face that explodes and counts nothing is as good as rolled again.
        assert_eq!(distribution("2d6!1>=5"), distribution("2d6rr1>=5"));
        assert_eq!(distribution("3d6!1,6>=5").exactly(..=0), distribution("3d6!6rr1>=5").exactly(..=0));
    }

    #[test]
    fn exact_chances_of_exploding_dice_are_exact() {
        // The lowest of two is 1 unless both show more, however often the other explodes.
        assert_eq!(distribution("2d4!kl1").exactly(1..=1), Some(of(7, 16)));
        assert_eq!(distribution("3d4!dh2").exactly(..=3), Some(of(63, 64)));
        assert_eq!(distribution("2d6!").exactly(12..), Some(of(23, 108)));
        assert_eq!(distribution("1d4-1d4!").exactly(..=-4), Some(of(5, 32)));
        assert_eq!(distribution("2*d6!-3").exactly(..-1), Some(of(0, 1)));
        assert_eq!(distribution("d6!-d6!").exactly(0..=0), None);
        assert_eq!(distribution("d6!-d6!").exactly(..), Some(of(1, 1)));
        let (die, far) = (distribution("d6!"), 10_000);
        assert_eq!(die.exactly(far..), None);
        assert_eq!(die.exactly(..far), None);
        assert!(die.exactly(70..=70).is_some_and(|chance| chance == of(1, 6).pow(12)));
        assert_eq!(distribution("0*d6!+3").exactly(3..=3), Some(of(1, 1)));
    }

    #[test]
    fn dice_with_faces_of_their_own_are_exact() {
        let die = distribution("2d[0,0,1,3]");
        let totals: Vec<_> = die.iter().collect();
        assert_eq!(
            totals,
            [(0, of(4, 16)), (1, of(4, 16)), (2, of(1, 16)), (3, of(4, 16)), (4, of(2, 16)), (6, of(1, 16))]
        );
        assert_eq!(distribution("d[0,0,1,3]rr0"), distribution("d[1,3]"));
        assert_eq!(distribution("d[0,0,1,3]ro0").chance(0), of(1, 4));
        assert_eq!(distribution("3d[1,1,2]kh1").chance(1), of(8, 27));
        assert_eq!(distribution("4d[0,1,1]=1"), distribution("4d[0,1,1]"));
    }

    #[test]
    fn fate_dice_limits_and_groups_are_exact() {
        let fate = distribution("4dF");
        let ways: Vec<_> = fate.iter().map(|(total, chance)| (total, chance * of(81, 1))).collect();
        let known = [1, 4, 10, 16, 19, 16, 10, 4, 1];
        assert_eq!(ways, (-4..=4).zip(known).map(|(total, ways)| (total, of(ways, 1))).collect::<Vec<_>>());
        assert_eq!(distribution("4dF"), distribution("4d3-8"));
        assert_eq!(distribution("d20min10").chance(10), of(10, 20));
        assert_eq!(distribution("d20max10").mean(), of(155, 20));
        assert_eq!(distribution("4d6min2"), distribution("4d[2,2,3,4,5,6]"));
        assert_eq!(distribution("max(d20,d20)"), distribution("2d20kh1"));
        assert_eq!(distribution("min(d20,d20,d20)"), distribution("3d20kl1"));
        assert_eq!(distribution("{d6,d6,d6,d6}dl1"), distribution("4d6kh3"));
        assert_eq!(distribution("max(d20,10)"), distribution("d20min10"));
        for dice in [
            "{4d3,3d4}kh1",
            "{2d6,d8+1,5}kl2",
            "{d4,2*d6,d8-d2}dh1",
            "{2dF,d3-2,d2}kh2",
            "2*max(d6,2d4kh1)-d4",
            "{{d4,d6}kl1,d8,2d3min2}kh2",
            "{4d3>=2,d4,3}kh1",
            "3dFkh2",
            "{d6,d6,d8}dl2-min(d4,d[-2,5])",
        ] {
            let parsed = Dice::parse(dice).unwrap();
            let exact: BTreeMap<_, _> = parsed.distribution().unwrap().iter().collect();
            assert_eq!(exact, rolled_one_by_one(&parsed), "{dice}");
        }
        // The better of a d8 and a d6 that both explode is at most n if both are.
        let (ace, eight, six) = (distribution("{d8!,d6!}kh1"), distribution("d8!"), distribution("d6!"));
        for n in 1..=40 {
            assert_eq!(ace.exactly(..=n), Some(eight.at_most(n) * six.at_most(n)), "{n}");
        }
        assert_eq!(ace.exactly(4..), Some(of(1, 1) - of(9, 48)));
        assert_sums_to_1(&ace);
        // The worse is at least n if both are.
        let worse = distribution("min(d8!,d6!)");
        for n in 1..=40 {
            let both = eight.exactly(n..).unwrap() * six.exactly(n..).unwrap();
            assert_eq!(worse.exactly(n..), Some(both), "{n}");
        }
        assert_sums_to_1(&distribution("{d8!,10-d6!,d4}kh1"));
        assert_eq!(distribution("{d8!,10-d6!,d4}kh1").exactly(..=3), None);
        for dice in ["{20d100,20d100,20d100,20d100,20d100,20d100,20d100,20d100}dl1", "{d1000!>=2,d6}kh1"] {
            assert!(Dice::parse(dice).unwrap().distribution().is_err(), "{dice}");
        }
    }

    #[test]
    fn pools_come_in_any_size_until_they_are_refused() {
        for dice in ["100d6kh50", "40d20", "40d20kl20", "100d6dl50", "10000d6kh2", "20d10!>=9kh5"] {
            assert_sums_to_1(&distribution(dice));
        }
        let large = distribution("2*d1000000+1");
        assert_eq!((large.chance(3), large.at_least(2_000_001)), (of(1, 1_000_000), of(1, 1_000_000)));
        assert_eq!((large.totals().len(), large.mean()), (1_000_000, of(1_000_002, 1)));
        for dice in ["10000d1000000", "1000d1000", "10000d6kh5000", "d100!>=2", "2d1000000", "d100000+100000*d100000"] {
            let error = Dice::parse(dice).unwrap().distribution().unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{dice}` has too many outcomes")), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn pools_agree_with_rolling_one_by_one(
            count in 1u32..=4, sides in 1u32..=5, times in -2i64..=2, reroll: Option<(u8, u8)>, keep: Option<(u8, u8)>,
            own: Option<[u8; 5]>, counted: Option<u8>,
        ) {
            let once = matches!(reroll, Some((word, _)) if word % 2 == 0);
            let count = if once { count.min(2) } else { count };
            let keep = keep.filter(|_| counted.is_none());
            let pool = crate::tests::pool_text(count, sides, [reroll, None, keep]);
            let faces = match own {
                None => sides.to_string(),
                Some(own) => {
                    let faces: Vec<String> = own[..sides as usize].iter().map(|n| (n % 6).to_string()).collect();
                    format!("[{}]", faces.join(","))
                }
            };
            let counted = counted.map_or(String::new(), |n| format!(">={}", u32::from(n) % sides + 1));
            if let Ok(dice) = Dice::parse(&format!("{times}*{count}d{faces}{pool}{counted}")) {
                let exact: BTreeMap<_, _> = dice.distribution().unwrap().iter().collect();
                prop_assert_eq!(exact, rolled_one_by_one(&dice), "{}", dice);
            }
        }

        #[test]
        fn sums_agree_with_rolling_one_by_one(
            terms in proptest::collection::vec((-3i64..=3, 1u32..=2, 1u32..=5), 0..=2), constant in -5i64..=5,
        ) {
            let terms: String = terms.iter().map(|(n, count, sides)| format!("{n:+}*{count}d{sides}")).collect();
            let dice = Dice::parse(&format!("{constant}{terms}").replace("*-", "*")).unwrap();
            let exact: BTreeMap<_, _> = dice.distribution().unwrap().iter().collect();
            prop_assert_eq!(exact, rolled_one_by_one(&dice), "{}", dice);
        }

        #[test]
        fn listed_and_remaining_chances_sum_to_1(dice in crate::tests::any_dice()) {
            let small = dice.pools().iter().all(|pool| pool.count <= 4 || pool.explode.is_none());
            prop_assume!(small);
            if let Ok(distribution) = dice.distribution() {
                assert_sums_to_1(&distribution);
                let totals: Vec<i64> = distribution.iter().map(|(total, _)| total).collect();
                prop_assert!(totals.is_sorted_by(|a, b| a < b));
                prop_assert!(dice.pools().iter().any(|pool| pool.explode.is_some()) || distribution.is_exact());
            }
        }
    }
}
