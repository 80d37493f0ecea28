//! Partitions of a roll: the results that a script can distinguish, as disjoint branches with exact chances.
//!
//! Every partition is exact by construction. Nothing is sampled, and two rolls share a branch only if the script cannot
//! tell them apart.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::fraction::{Fraction, ratio, sum};
use dashu_int::UBig;
use dashu_int::ops::BitTest;

use super::distribution::{Distribution, TooWide};
use super::notation::{Dice, DiceTerm, TermSource};
use super::pool::{DicePool, EXPLOSIONS, Keep};
use super::weights::Effort;

/// The part of a roll that a script sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The total.
    Total,
    /// The number of these thresholds that the total reaches; one threshold gives success or failure.
    Cuts(Vec<i64>),
    /// The total, if the number of thresholds it reaches is known already.
    Within { cuts: Vec<i64>, reached: usize },
    /// The kept faces: of each pool, in the order of the expression, the highest first.
    Faces,
    /// The kept faces, in the order rolled.
    Ordered,
    /// The ranks of the kept faces, in the order rolled: see [`ranks`].
    Ranks,
}

/// All rolls that look equal to a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The chance of the branch, above 0.
    pub chance: Fraction,
    /// The total of one of its rolls.
    pub total: i64,
    /// The kept faces of its rolls, if the script sees faces.
    pub faces: Vec<i32>,
}

/// The branches of the rolls of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    pub branches: Vec<Branch>,
    /// The chance of the rolls in no branch, because dice exploded too often.
    pub rest: Fraction,
}

/// The most ordered lists of faces of one pool that are enumerated.
const MOST_ORDERED: usize = 50_000;
/// The most branches of one roll.
const MOST: usize = 100_000;
/// The most lists that are stored during the computation.
const MOST_OPEN: usize = 200_000;
/// The most lists that are combined during the computation.
const MOST_STEPS: usize = 500_000;
/// The number of faces from which a list counts as two.
const LONG_LIST: usize = 32;
/// The number of machine words from which a number counts as two.
const LONG_NUMBER: u64 = 8;

type Ways = BTreeMap<Vec<i32>, UBig>;

impl Dice {
    /// Partitions all rolls by what a script sees of them, within the rest of an effort.
    ///
    /// # Errors
    ///
    /// [`TooWide`] if there are too many outcomes or branches.
    #[doc(hidden)]
    pub fn partition(&self, seen: &Seen, effort: &mut Effort) -> Result<Partition, TooWide> {
        match seen {
            Seen::Total => {
                let totals = self.distribution_within(effort)?;
                if totals.iter().len() > MOST {
                    return Err(TooWide { dice: self.clone() });
                }
                let branches = totals.iter().map(|(total, chance)| Branch::of(total, chance)).collect();
                Ok(Partition { branches, rest: totals.remaining() })
            }
            Seen::Cuts(cuts) => {
                let mut branches: Vec<Branch> = Vec::new();
                let totals = self.distribution_within(effort)?;
                let mut edges: Vec<i64> = cuts.clone();
                edges.extend([i64::MIN, i64::MAX]);
                edges.sort_unstable();
                edges.dedup();
                for pair in edges.windows(2) {
                    let last = if pair[1] == i64::MAX { i64::MAX } else { pair[1] - 1 };
                    if let Some(total) = totals.totals().find(|total| (pair[0]..=last).contains(total)) {
                        // Dice that exploded too often to be listed are above every threshold.
                        let chance = totals.exactly(pair[0]..=last);
                        branches.push(Branch::of(total, chance.unwrap_or_else(|| totals.between(pair[0], last))));
                    }
                }
                let listed = sum(branches.iter().map(|branch| &branch.chance));
                Ok(Partition { branches, rest: Fraction::ONE - listed })
            }
            Seen::Within { cuts, reached } => {
                // The band of the earlier partition, with dice that exploded too often if they are in it.
                let bands = self.partition(&Seen::Cuts(cuts.clone()), effort)?;
                let whole = bands.branches.iter().find(|band| reached_by(band.total, cuts) == *reached);
                let Some(whole) = whole.map(|band| band.chance.clone()) else {
                    return Err(TooWide { dice: self.clone() });
                };
                let Partition { mut branches, .. } = self.partition(&Seen::Total, effort)?;
                branches.retain(|branch| reached_by(branch.total, cuts) == *reached);
                branches.iter_mut().for_each(|branch| branch.chance /= &whole);
                let listed = sum(branches.iter().map(|branch| &branch.chance));
                Ok(Partition { branches, rest: Fraction::ONE - listed })
            }
            Seen::Faces => self.of_faces(sorted).ok_or_else(|| TooWide { dice: self.clone() }),
            Seen::Ordered => self.of_faces(ordered).ok_or_else(|| TooWide { dice: self.clone() }),
            Seen::Ranks => match &self.terms[..] {
                [DiceTerm { source: TermSource::Pool(pool), .. }] if pool.keep.is_none() && pool.explode.is_none() => {
                    of_ranks(pool).ok_or_else(|| TooWide { dice: self.clone() })
                }
                _ => self.partition(&Seen::Ordered, effort).map(Partition::by_ranks),
            },
        }
    }

    /// The combinations of the face lists of all pools.
    fn of_faces(&self, of_pool: fn(&DicePool) -> Option<(Ways, UBig)>) -> Option<Partition> {
        let mut all: Ways = BTreeMap::from([(Vec::new(), UBig::ONE)]);
        let mut whole = UBig::ONE;
        for term in &self.terms {
            // The faces of the kept rolls in a group are too many to enumerate.
            let TermSource::Pool(pool) = &term.source else { return None };
            let (ways, of) = of_pool(pool)?;
            if all.len() * ways.len() > MOST {
                return None;
            }
            let mut joined = Ways::new();
            for (faces, weight) in &all {
                for (more, times) in &ways {
                    *joined.entry([faces.as_slice(), more].concat()).or_default() += weight * times;
                }
            }
            all = joined;
            whole *= of;
        }
        let listed: UBig = all.values().sum();
        let rest = ratio(&whole - listed, whole.clone());
        let branch =
            |(faces, weight): (Vec<i32>, UBig)| Branch { chance: ratio(weight, whole.clone()), total: 0, faces };
        Some(Partition { branches: all.into_iter().map(branch).collect(), rest })
    }
}

impl Partition {
    /// Merges the lists of faces with the same ranks.
    fn by_ranks(self) -> Partition {
        let mut joined: BTreeMap<Vec<i32>, Branch> = BTreeMap::new();
        for branch in self.branches {
            match joined.entry(ranks(&branch.faces)) {
                Entry::Vacant(first) => {
                    first.insert(branch);
                }
                Entry::Occupied(known) => known.into_mut().chance += branch.chance,
            }
        }
        Partition { branches: joined.into_values().collect(), rest: self.rest }
    }
}

impl Branch {
    fn of(total: i64, chance: Fraction) -> Branch {
        Branch { chance, total, faces: Vec::new() }
    }
}

/// The number of thresholds that a total reaches.
fn reached_by(total: i64, cuts: &[i64]) -> usize {
    cuts.iter().filter(|cut| total >= **cut).count()
}

/// The faces of one die with its rerolls and explosions, with their weights out of the second value. `tell`: maps equal
/// lists of faces to the same list.
fn of_die(pool: &DicePool, tell: fn(Vec<i32>) -> Vec<i32>) -> Option<(Ways, UBig)> {
    if pool.sides as usize > MOST {
        return None;
    }
    let (rest, whole) = Distribution::of_rest(pool).ok()?.parts();
    let single = |(face, weight): (i64, UBig)| (vec![face as i32], weight);
    if pool.explode.is_none() {
        return Some((rest.into_iter().map(single).collect(), whole));
    }
    let (exploding, resting): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(face, _)| pool.explodes_on(*face as i32));
    let mut ended = Ways::new();
    let mut open: Ways = BTreeMap::from([(Vec::new(), UBig::ONE)]);
    let mut of = UBig::ONE;
    // Stop where the rest is as unlikely as that of the distribution of totals, or has exploded as often as a die may.
    for _ in 0..EXPLOSIONS {
        if open.is_empty() || ratio(open.values().sum::<UBig>(), of.clone()) <= negligible() {
            break;
        }
        of *= &whole;
        for weight in ended.values_mut() {
            *weight *= &whole;
        }
        let mut next = Ways::new();
        for (faces, weight) in &open {
            for (ends, list) in [(true, &resting), (false, &exploding)] {
                for (face, times) in list {
                    let longer = tell([faces.as_slice(), &[*face as i32]].concat());
                    let into = if ends { &mut ended } else { &mut next };
                    *into.entry(longer).or_default() += weight * times;
                }
            }
        }
        if next.len() + ended.len() > MOST_ORDERED {
            return None;
        }
        open = next;
    }
    Some((ended, of))
}

fn negligible() -> Fraction {
    ratio(1, 1_000_000_000_000_i64)
}

/// The lists of kept faces of a pool, in the order rolled. `None` if there are too many.
fn ordered(pool: &DicePool) -> Option<(Ways, UBig)> {
    let (die, whole) = of_die(pool, |faces| faces)?;
    let lists = u32::try_from(die.len()).ok()?.checked_pow(pool.count)? as usize;
    if lists > MOST_ORDERED {
        return None;
    }
    let mut rolled: Vec<(Vec<&Vec<i32>>, UBig)> = vec![(Vec::new(), UBig::ONE)];
    for _ in 0..pool.count {
        let mut longer = Vec::with_capacity(rolled.len() * die.len());
        for (dice, weight) in &rolled {
            for (faces, times) in &die {
                let mut dice = dice.clone();
                dice.push(faces);
                longer.push((dice, weight * times));
            }
        }
        rolled = longer;
    }
    let mut kept = Ways::new();
    for (dice, weight) in rolled {
        let sums: Vec<i64> = dice.iter().map(|faces| sum_of(faces)).collect();
        let stays = pool.keep.map_or_else(|| vec![true; sums.len()], |keep| keep.kept(&sums));
        let faces: Vec<i32> =
            dice.into_iter().zip(stays).filter(|(_, stays)| *stays).flat_map(|(faces, _)| faces).copied().collect();
        *kept.entry(faces).or_default() += weight;
    }
    Some((kept, whole.pow(pool.count as usize)))
}

/// All rank orders of the dice of a pool, with their chances. `None` if there are too many.
///
/// An order divides the dice into groups of equal faces, the lowest group first. Its chance depends only on the sizes
/// of the groups: for each rising list of faces, take the product of their chances to the powers of those sizes; the
/// chance is the sum of these products.
fn of_ranks(pool: &DicePool) -> Option<Partition> {
    let (die, whole) = Distribution::of_rest(pool).ok()?.parts();
    let die: Vec<(i32, UBig)> =
        die.into_iter().filter(|(_, weight)| !weight.is_zero()).map(|(face, weight)| (face as i32, weight)).collect();
    if die.len() > MOST_ORDERED {
        return None;
    }
    let whole = whole.pow(pool.count as usize);
    let mut orders = vec![Vec::new()];
    for _ in 0..pool.count {
        let longer: Vec<Vec<u32>> = orders.iter().flat_map(|order| with_one_more(order, die.len())).collect();
        if longer.len() > MOST_ORDERED {
            return None;
        }
        orders = longer;
    }
    let mut known: HashMap<Vec<u32>, Fraction> = HashMap::new();
    let branch = |order: Vec<u32>| {
        let mut sizes = vec![0; order.iter().max().copied().unwrap_or(0) as usize];
        order.iter().for_each(|rank| sizes[*rank as usize - 1] += 1);
        let chance = known.entry(sizes).or_insert_with_key(|sizes| ratio(rising(&die, sizes), whole.clone())).clone();
        let faces = order.iter().map(|rank| die[*rank as usize - 1].0).collect();
        Branch { chance, total: 0, faces }
    };
    Some(Partition { branches: orders.into_iter().map(branch).collect(), rest: Fraction::ZERO })
}

/// The rank orders of some dice and one more, in at most `most` groups: the die joins a group, or forms one before,
/// between or after them.
fn with_one_more(order: &[u32], most: usize) -> impl Iterator<Item = Vec<u32>> {
    let groups = order.iter().max().copied().unwrap_or(0);
    let joined = (1..=groups).map(move |rank| [order, &[rank]].concat());
    let alone = (1..=groups + 1).filter(move |_| (groups as usize) < most).map(|rank| {
        let moved = order.iter().map(|other| if *other >= rank { other + 1 } else { *other });
        moved.chain([rank]).collect()
    });
    joined.chain(alone)
}

/// The number of ways in which dice show one face in each of the groups, each higher than in the group before.
fn rising(die: &[(i32, UBig)], sizes: &[u32]) -> UBig {
    // By the number of groups that have their face.
    let mut ways = vec![UBig::ZERO; sizes.len() + 1];
    ways[0] = UBig::ONE;
    for (_, weight) in die {
        for done in (0..sizes.len()).rev() {
            let more = &ways[done] * weight.pow(sizes[done] as usize);
            ways[done + 1] += more;
        }
    }
    ways[sizes.len()].clone()
}

/// The rank of each face: the lowest has 1, equal faces share one, and there are no gaps.
pub fn ranks(faces: &[i32]) -> Vec<i32> {
    let mut rising = faces.to_vec();
    rising.sort_unstable();
    rising.dedup();
    faces.iter().map(|face| rising.partition_point(|other| other < face) as i32 + 1).collect()
}

/// The kept faces of a pool, the highest first. `None` if there are too many.
///
/// Of dice with the same sum, those rolled first are kept. This does not depend on their faces, so the order of rolling
/// has no influence.
fn sorted(pool: &DicePool) -> Option<(Ways, UBig)> {
    let (die, whole) = of_die(pool, high_first)?;
    let places = pool.keep.map_or(0..pool.count as usize, |keep| keep.places(pool.count));
    let prefers_low = pool.keep.is_some_and(Keep::prefers_low);
    let mut groups: BTreeMap<i64, Ways> = BTreeMap::new();
    for (faces, weight) in die {
        groups.entry(sum_of(&faces)).or_default().insert(faces, weight);
    }
    // The number of ways for a die that comes after the group: lower, or higher if low dice are kept. Dice that
    // exploded too often to be listed are higher than all.
    let mut later: UBig = groups.values().flat_map(Ways::values).sum();
    if prefers_low {
        later = whole.clone();
    }
    let mut in_order: Vec<Ways> = groups.into_values().collect();
    if !prefers_low {
        in_order.reverse();
    }
    let mut done = Ways::new();
    // By the number of remaining dice, and the faces kept so far.
    let mut open: BTreeMap<(u32, Vec<i32>), UBig> = BTreeMap::from([((pool.count, Vec::new()), UBig::ONE)]);
    let mut steps = 0;
    let number = 1 + (whole.bit_len() as u64 * u64::from(pool.count) / 64 / LONG_NUMBER) as usize;
    let groups = in_order.len();
    for (at, group) in in_order.into_iter().enumerate() {
        let of_group: UBig = group.values().sum();
        later -= &of_group;
        let mut of_dice = vec![Ways::from([(Vec::new(), UBig::ONE)])];
        let mut next = BTreeMap::new();
        for ((left, kept), weight) in open {
            let wanted = places.len() as u32 - (pool.count - left);
            let mut chosen = UBig::ONE;
            for dice in 0..=wanted.min(left) {
                while of_dice.len() <= dice as usize {
                    let longer = one_more(&of_dice[of_dice.len() - 1], &group, &mut steps)?;
                    of_dice.push(longer);
                }
                let ways = if dice < wanted {
                    chosen.clone()
                } else {
                    steps += (left - dice) as usize * number;
                    at_least_so_many(chosen.clone(), left, dice, &of_group, &later)
                };
                chosen = chosen * (left - dice) / (dice + 1);
                // Long lists cost more than short ones.
                steps += of_dice[dice as usize].len() * (number + (kept.len() + dice as usize) / LONG_LIST);
                // After the last group no dice may remain.
                let in_vain = dice < wanted && at + 1 == groups;
                if steps > MOST_STEPS || in_vain || ways.is_zero() {
                    continue;
                }
                for (faces, times) in &of_dice[dice as usize] {
                    let faces = high_first([kept.as_slice(), faces].concat());
                    let weight = &weight * &ways * times;
                    if dice == wanted {
                        *done.entry(faces).or_default() += weight;
                    } else {
                        *next.entry((left - dice, faces)).or_default() += weight;
                    }
                }
            }
            if next.len() + done.len() > MOST_OPEN || steps > MOST_STEPS {
                return None;
            }
        }
        open = next;
    }
    (done.len() <= MOST).then(|| (done, whole.pow(pool.count as usize)))
}

/// The faces of some dice and of one more.
fn one_more(dice: &Ways, die: &Ways, steps: &mut usize) -> Option<Ways> {
    let mut ways = Ways::new();
    *steps += dice.len().saturating_mul(die.len());
    if *steps > MOST_STEPS {
        return None;
    }
    for (faces, weight) in dice {
        for (more, times) in die {
            *ways.entry(high_first([faces.as_slice(), more].concat())).or_default() += weight * times;
        }
    }
    Some(ways)
}

/// Sorts faces for a script that does not need the order rolled.
pub fn high_first(mut faces: Vec<i32>) -> Vec<i32> {
    faces.sort_unstable_by(|one, other| other.cmp(one));
    faces
}

fn sum_of(faces: &[i32]) -> i64 {
    faces.iter().map(|face| i64::from(*face)).sum()
}

/// The number of ways in which `dice` or more of the remaining ones fall into a group, and the others later. `chosen`:
/// the number of ways to choose `dice` of them.
fn at_least_so_many(mut chosen: UBig, left: u32, dice: u32, of_group: &UBig, later: &UBig) -> UBig {
    let mut ways = UBig::ZERO;
    for more in 0..=left - dice {
        ways += &chosen * of_group.pow(more as usize) * later.pow((left - dice - more) as usize);
        chosen = chosen * (left - dice - more) / (dice + more + 1);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fate;

    fn of(part: i64, whole: i64) -> Fraction {
        ratio(part, whole)
    }

    fn partition(dice: &str, seen: Seen) -> Partition {
        let partition = Dice::parse(dice).unwrap().partition(&seen, &mut Effort::new()).unwrap();
        let sum = sum(partition.branches.iter().map(|branch| &branch.chance));
        assert_eq!(sum + &partition.rest, of(1, 1), "{dice}");
        partition
    }

    #[test]
    fn a_success_is_one_of_two_branches_and_a_sure_one_the_only_one() {
        let under_7 = partition("1d10", Seen::Cuts(vec![7]));
        let chances: Vec<_> = under_7.branches.iter().map(|branch| (branch.total < 7, branch.chance.clone())).collect();
        assert_eq!(chances, [(true, of(6, 10)), (false, of(4, 10))]);
        assert_eq!(partition("1d10", Seen::Cuts(vec![1])).branches.len(), 1);
        let bands = partition("3d12", Seen::Cuts(vec![6, 10, 14]));
        let chances: Vec<_> = bands.branches.iter().map(|branch| branch.chance.clone()).collect();
        assert_eq!(chances, [of(10, 1728), of(74, 1728), of(202, 1728), of(1442, 1728)]);
    }

    /// Enumerates every roll of an expression, with its chance, by its kept faces as `look` shows them.
    fn counted(dice: &str, look: impl Fn(Vec<Vec<i32>>) -> Vec<i32>) -> BTreeMap<Vec<i32>, Fraction> {
        let parsed = Dice::parse(dice).unwrap();
        let mut counted: BTreeMap<Vec<i32>, Fraction> = BTreeMap::new();
        let mut open = vec![Vec::new()];
        while let Some(faces) = open.pop() {
            let mut given = faces.iter();
            let mut asked = Vec::new();
            let roll = parsed.roll_with(&mut |sides| {
                asked.push(sides);
                given.next().copied()
            });
            match roll {
                Some(roll) => {
                    let chance = asked.iter().fold(of(1, 1), |chance, &sides| chance / of(sides.into(), 1));
                    let kept = |(faces, pool): (&[crate::Face], &DicePool)| -> Vec<i32> {
                        let kept = faces.iter().filter(|face| face.fate == Fate::Kept);
                        kept.map(|face| pool.shown(face.value)).collect()
                    };
                    let faces = look(roll.pools().map(kept).collect());
                    *counted.entry(faces).or_default() += chance;
                }
                None if faces.len() > 5 => {}
                None if dice.contains("rr") && faces.contains(&1) => {}
                None => open.extend((1..=asked[asked.len() - 1]).map(|face| [&faces[..], &[face]].concat())),
            }
        }
        let sum = sum(counted.values());
        counted.values_mut().for_each(|chance| *chance /= &sum);
        counted
    }

    #[test]
    fn kept_faces_have_the_chances_of_all_rolls_that_show_them() {
        for dice in [
            "4d6kh3",
            "3d6ro1kl2",
            "2d4rr1",
            "3d4dh1",
            "2d3+1d4",
            "2d6kh1-1d3",
            "5d4",
            "2d3+2d2",
            "3dFkh2",
            "4d4min2dl1",
            "3d[-2,0,5]",
        ] {
            for seen in [Seen::Ordered, Seen::Faces] {
                let high = seen == Seen::Faces;
                let all = counted(dice, |pools| {
                    pools.into_iter().flat_map(|faces| if high { high_first(faces) } else { faces }).collect()
                });
                let listed = partition(dice, seen);
                assert_eq!(listed.branches.len(), all.len(), "{dice}");
                for branch in &listed.branches {
                    assert_eq!(branch.chance, all[&branch.faces], "{dice} {:?}", branch.faces);
                }
            }
        }
    }

    #[test]
    fn ranks_have_the_chances_of_all_rolls_with_their_order() {
        for dice in ["1d10", "2d10", "3d4", "4d3", "5d4", "3d6ro1", "2d4rr1", "3d1", "3d4kh2", "2d3+2d2", "1d6+1d8"] {
            let all = counted(dice, |pools| ranks(&pools.concat()));
            let listed = partition(dice, Seen::Ranks);
            assert_eq!(listed.branches.len(), all.len(), "{dice}");
            for branch in &listed.branches {
                assert_eq!(branch.chance, all[&ranks(&branch.faces)], "{dice} {:?}", branch.faces);
            }
        }
        // Of two dice that show 0, 0 or 1, five of nine rolls are equal.
        let chances: Vec<_> = partition("2d[0,0,1]", Seen::Ranks).branches.into_iter().map(|b| b.chance).collect();
        assert_eq!(chances, [of(5, 9), of(2, 9), of(2, 9)]);
        assert_eq!(partition("4d10", Seen::Ranks).branches.len(), 75);
        assert!(Dice::parse("9d10").unwrap().partition(&Seen::Ranks, &mut Effort::new()).is_err());
    }

    #[test]
    fn large_pools_are_partitioned_by_the_rolled_faces() {
        let pool = partition("10d10", Seen::Faces);
        assert_eq!(pool.branches.len(), 92_378);
        let all_ones = pool.branches.iter().find(|branch| branch.faces == [1; 10]).unwrap();
        assert_eq!(all_ones.chance, of(1, 10_000_000_000));
        let best = partition("8d6kh2", Seen::Faces);
        let sixes = best.branches.iter().find(|branch| branch.faces == [6, 6]).unwrap();
        assert_eq!(sixes.chance, of(1_679_616 - 390_625 - 8 * 78_125, 1_679_616));
        assert!(Dice::parse("20d20!").unwrap().partition(&Seen::Faces, &mut Effort::new()).is_err());
    }

    #[test]
    fn partitions_by_rolled_order_enumerate_lists() {
        let all = partition("5d6", Seen::Ordered);
        assert_eq!(all.branches.len(), 7_776);
        assert!(all.branches.iter().all(|branch| branch.chance == of(1, 7_776)));
        assert!(Dice::parse("8d6").unwrap().partition(&Seen::Ordered, &mut Effort::new()).is_err());
        let six = partition("6d6", Seen::Ordered);
        let these = six.branches.iter().filter(|branch| branch.faces[..3] == [2, 4, 1]);
        assert_eq!(sum(these.map(|branch| &branch.chance)), of(1, 216));
    }

    #[test]
    fn several_dice_that_explode_show_their_faces() {
        let two = partition("2d4!", Seen::Ordered);
        let chance = |two: &Partition, faces: &[i32]| {
            two.branches.iter().find(|branch| branch.faces == faces).unwrap().chance.clone()
        };
        assert!(two.rest < of(1, 100_000_000_000));
        assert_eq!(chance(&two, &[4, 2, 3]), of(1, 64));
        assert_eq!(chance(&two, &[1, 1]), of(1, 16));
        let sorted = partition("2d4!", Seen::Faces);
        // A 4 brings a 2 or a 3 on the first or on the second die.
        assert_eq!(chance(&sorted, &[4, 3, 2]), of(4, 64));
        assert_eq!(chance(&sorted, &[3, 2]), of(2, 16));
        // Of equal sums the die rolled first is kept: 4 and 1, or 3 and 2, if the sum of both dice is 5.
        let best = partition("2d4!>=3kh1", Seen::Faces);
        assert!(best.rest < of(1, 100_000_000_000));
        let up_to = |most: i64| Dice::parse("d4!>=3").unwrap().distribution().unwrap().at_most(most);
        let both = (up_to(5).pow(2) - up_to(4).pow(2)) / of(2, 1);
        assert_eq!((chance(&best, &[4, 1]), chance(&best, &[3, 2])), (both.clone(), both));
        // The lowest of two is exact, however often the other explodes.
        let low = partition("2d4!kl1", Seen::Faces);
        assert_eq!((chance(&low, &[1]), chance(&low, &[3])), (of(7, 16), of(3, 16)));
        assert!(low.rest < of(1, 1_000_000_000_000));
    }

    #[test]
    fn totals_of_faces_are_those_of_the_pool() {
        for dice in ["4d6!kh2", "3d[0,2,2,5]!5dh1", "2d4ro1!", "20d10kh3", "30d6dl27"] {
            let parsed = Dice::parse(dice).unwrap();
            let totals = parsed.distribution().unwrap();
            let mut summed: BTreeMap<i64, Fraction> = BTreeMap::new();
            for branch in partition(dice, Seen::Faces).branches {
                let total = branch.faces.iter().map(|face| i64::from(*face)).sum();
                *summed.entry(total).or_default() += branch.chance;
            }
            for (total, chance) in summed.into_iter().take(30) {
                assert_eq!(totals.exactly(total..=total), Some(chance), "{dice} {total}");
            }
        }
    }

    /// Such a die shows 1 a thousand times in a row with a chance of 0.000043. The next face brings no more dice.
    #[test]
    fn a_die_explodes_at_most_as_often_as_a_roll_allows() {
        let die = format!("d[{}2]!1", "1,".repeat(99));
        let rest = of(99, 100).pow(1_000);
        assert_eq!(Dice::parse(&die).unwrap().distribution().unwrap().remaining(), rest);
        for seen in [Seen::Faces, Seen::Ordered] {
            let die = partition(&die, seen);
            assert_eq!((die.branches.len(), &die.rest), (1_000, &rest));
        }
    }

    #[test]
    fn exploding_faces_are_followed_until_almost_nothing_is_left() {
        let die = partition("1d6!", Seen::Faces);
        assert!(die.rest > Fraction::ZERO && die.rest < of(1, 1_000_000_000_000));
        let twice = die.branches.iter().find(|branch| branch.faces == [6, 6, 2]).unwrap();
        assert_eq!(twice.chance, of(1, 216));
    }
}
