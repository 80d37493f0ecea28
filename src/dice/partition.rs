//! Partitions of a roll: what a script sees of it, as branches that do not overlap, each with its exact chance.
//!
//! Every partition holds by construction. Nothing is sampled, and no two rolls share a branch unless the script cannot tell
//! them apart.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::distribution::{Distribution, TooWide};
use super::notation::Dice;
use super::pool::Pool;

/// What a script sees of a roll.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The total.
    Total,
    /// How many of these cuts the total reaches; one cut is success or failure.
    Cuts(Vec<i64>),
    /// The total, where it is known already how many of the cuts it reaches.
    Within { cuts: Vec<i64>, reached: usize },
    /// The faces that were kept: of each pool, in the order of the expression, the highest first.
    Faces,
    /// The faces that were kept, in the order rolled.
    Ordered,
}

/// All rolls that look the same to a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The chance of the branch, above 0.
    pub chance: BigRational,
    /// The total of one of its rolls.
    pub total: i64,
    /// The kept faces of its rolls, where faces are seen.
    pub faces: Vec<u32>,
}

/// The branches that the rolls of an expression fall into.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    pub branches: Vec<Branch>,
    /// The chance of rolls that are in no branch, because dice exploded too often.
    pub rest: BigRational,
}

/// The most ordered lists of faces of one pool that are gone through.
const MOST_ORDERED: usize = 50_000;
/// The most branches of one roll.
const MOST: usize = 100_000;

type Ways = BTreeMap<Vec<u32>, BigUint>;

impl Dice {
    /// Parts all rolls by what is seen of them.
    ///
    /// # Errors
    ///
    /// [`TooWide`] if there are too many outcomes or branches.
    pub(crate) fn partition(&self, seen: &Seen) -> Result<Partition, TooWide> {
        match seen {
            Seen::Total => {
                let totals = self.distribution()?;
                if totals.iter().len() > MOST {
                    return Err(TooWide { dice: self.clone() });
                }
                let branches = totals.iter().map(|(total, chance)| Branch::of(total, chance)).collect();
                Ok(Partition { branches, rest: totals.remaining() })
            }
            Seen::Cuts(cuts) => {
                let mut bands: BTreeMap<usize, Branch> = BTreeMap::new();
                let totals = self.distribution()?;
                let mut edges: Vec<i64> = cuts.clone();
                edges.extend([i64::MIN, i64::MAX]);
                edges.sort_unstable();
                edges.dedup();
                for pair in edges.windows(2) {
                    let last = if pair[1] == i64::MAX { i64::MAX } else { pair[1] - 1 };
                    let chance = totals.between(pair[0], last);
                    if let Some(total) = totals.totals().find(|total| (pair[0]..=last).contains(total)) {
                        bands.insert(reached_by(total, cuts), Branch::of(total, chance));
                    }
                }
                let mut rest = totals.remaining();
                // Dice that exploded too often to be listed are above every cut all the same.
                if let (Some(least), Some(top)) = (Distribution::least_unlisted(self), cuts.iter().max())
                    && least >= *top
                    && let Some(band) = bands.get_mut(&cuts.len())
                {
                    band.chance += std::mem::replace(&mut rest, BigRational::zero());
                }
                Ok(Partition { branches: bands.into_values().collect(), rest })
            }
            Seen::Within { cuts, reached } => {
                // The band as it was parted off, with dice that exploded too often if they are in it.
                let bands = self.partition(&Seen::Cuts(cuts.clone()))?;
                let whole = bands.branches.iter().find(|band| reached_by(band.total, cuts) == *reached);
                let Some(whole) = whole.map(|band| band.chance.clone()) else {
                    return Err(TooWide { dice: self.clone() });
                };
                let Partition { mut branches, .. } = self.partition(&Seen::Total)?;
                branches.retain(|branch| reached_by(branch.total, cuts) == *reached);
                branches.iter_mut().for_each(|branch| branch.chance /= &whole);
                let listed: BigRational = branches.iter().map(|branch| &branch.chance).sum();
                Ok(Partition { branches, rest: BigRational::one() - listed })
            }
            Seen::Faces => self.of_faces(sorted).ok_or_else(|| TooWide { dice: self.clone() }),
            Seen::Ordered => self.of_faces(ordered).ok_or_else(|| TooWide { dice: self.clone() }),
        }
    }

    /// The lists of faces of all pools in turn.
    fn of_faces(&self, of_pool: fn(&Pool) -> Option<(Ways, BigUint)>) -> Option<Partition> {
        let mut all: Ways = BTreeMap::from([(Vec::new(), BigUint::one())]);
        let mut whole = BigUint::one();
        for term in &self.terms {
            let (ways, of) = of_pool(&term.pool)?;
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
        let listed: BigUint = all.values().sum();
        let rest = ratio(&whole - listed, &whole);
        let branch = |(faces, weight): (Vec<u32>, BigUint)| Branch { chance: ratio(weight, &whole), total: 0, faces };
        Some(Partition { branches: all.into_iter().map(branch).collect(), rest })
    }
}

impl Branch {
    fn of(total: i64, chance: BigRational) -> Branch {
        Branch { chance, total, faces: Vec::new() }
    }
}

/// How many of the cuts a total reaches.
fn reached_by(total: i64, cuts: &[i64]) -> usize {
    cuts.iter().filter(|cut| total >= **cut).count()
}

fn ratio(part: BigUint, whole: &BigUint) -> BigRational {
    BigRational::new(part.into(), whole.clone().into())
}

/// What one die can show with its rerolls and explosions, face by face, in parts of the second value.
fn of_die(pool: &Pool) -> Option<(Ways, BigUint)> {
    if pool.sides as usize > MOST {
        return None;
    }
    let (rest, whole) = Distribution::of_rest(pool).ok()?.parts();
    let single = |(face, weight): (i64, BigUint)| (vec![face as u32], weight);
    if pool.explode.is_none() {
        return Some((rest.into_iter().map(single).collect(), whole));
    }
    let (exploding, resting): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(face, _)| pool.explodes_on(*face as u32));
    let mut ended = Ways::new();
    let mut open: Ways = BTreeMap::from([(Vec::new(), BigUint::one())]);
    let mut of = BigUint::one();
    // What is left is as unlikely as where the distribution of totals stops.
    while !open.is_empty() && ratio(open.values().sum(), &of) > negligible() {
        of *= &whole;
        for weight in ended.values_mut() {
            *weight *= &whole;
        }
        let mut next = Ways::new();
        for (faces, weight) in &open {
            for (ends, list) in [(true, &resting), (false, &exploding)] {
                for (face, times) in list {
                    let longer = [faces.as_slice(), &[*face as u32]].concat();
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

fn negligible() -> BigRational {
    BigRational::new(1.into(), 1_000_000_000_000_i64.into())
}

/// The lists of faces that are kept of a pool, in the order rolled; `None` if there are too many.
fn ordered(pool: &Pool) -> Option<(Ways, BigUint)> {
    let (die, whole) = of_die(pool)?;
    let lists = u32::try_from(die.len()).ok()?.checked_pow(pool.count)? as usize;
    if lists > MOST_ORDERED {
        return None;
    }
    let mut rolled: Vec<(Vec<&Vec<u32>>, BigUint)> = vec![(Vec::new(), BigUint::one())];
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
        let mut stays = vec![true; dice.len()];
        if let Some(keep) = pool.keep {
            let mut order: Vec<usize> = (0..dice.len()).collect();
            let sum = |at: &usize| dice[*at].iter().sum::<u32>();
            if keep.prefers_low() {
                order.sort_by_key(|at| (sum(at), *at));
            } else {
                order.sort_by_key(|at| (sum(at), std::cmp::Reverse(*at)));
            }
            let places = keep.places(pool.count);
            for (place, at) in order.into_iter().enumerate() {
                stays[at] = places.contains(&place);
            }
        }
        let faces: Vec<u32> =
            dice.iter().zip(&stays).filter(|(_, stays)| **stays).flat_map(|(faces, _)| (*faces).clone()).collect();
        *kept.entry(faces).or_default() += weight;
    }
    Some((kept, whole.pow(pool.count)))
}

/// The faces that are kept of a pool, the highest first; `None` if there are too many.
fn sorted(pool: &Pool) -> Option<(Ways, BigUint)> {
    let (die, whole) = of_die(pool)?;
    let sum = |faces: &[u32]| faces.iter().sum::<u32>();
    // Of dice with the same sum, those rolled first are kept: where their faces differ, the order rolled counts.
    let mut sums: Vec<u32> = die.keys().map(|faces| sum(faces)).collect();
    sums.sort_unstable();
    if pool.keep.is_some() && sums.windows(2).any(|pair| pair[0] == pair[1]) {
        let (ways, whole) = ordered(pool)?;
        return Some((joined(ways.into_iter().map(|(faces, weight)| (high_first(faces), weight))), whole));
    }
    let mut list: Vec<(Vec<u32>, BigUint)> = die.into_iter().collect();
    list.sort_by_key(|(faces, _)| sum(faces));
    // By how many dice show what, the lowest first.
    let mut open: Vec<(Vec<usize>, BigUint)> = vec![(Vec::new(), BigUint::one())];
    for (at, (_, times)) in list.iter().enumerate() {
        let mut next = Vec::new();
        for (dice, weight) in &open {
            let left = pool.count - dice.len() as u32;
            let least = if at + 1 == list.len() { left } else { 0 };
            for count in least..=left {
                let mut dice = dice.clone();
                dice.extend(std::iter::repeat_n(at, count as usize));
                next.push((dice, weight * choose(left, count) * times.pow(count)));
            }
            if next.len() > MOST {
                return None;
            }
        }
        open = next;
    }
    let places = pool.keep.map_or(0..pool.count as usize, |keep| keep.places(pool.count));
    let kept = open.into_iter().filter(|(_, weight)| !weight.is_zero()).map(|(dice, weight)| {
        (high_first(dice[places.clone()].iter().flat_map(|at| list[*at].0.iter().copied()).collect()), weight)
    });
    Some((joined(kept), whole.pow(pool.count)))
}

fn joined(list: impl Iterator<Item = (Vec<u32>, BigUint)>) -> Ways {
    let mut ways = Ways::new();
    for (faces, weight) in list {
        *ways.entry(faces).or_default() += weight;
    }
    ways
}

/// Faces as a script sees them that does not ask for the order rolled.
pub fn high_first(mut faces: Vec<u32>) -> Vec<u32> {
    faces.sort_unstable_by(|one, other| other.cmp(one));
    faces
}

fn choose(n: u32, k: u32) -> BigUint {
    let mut ways = BigUint::one();
    for i in 0..k.min(n - k) {
        ways = ways * (n - i) / (i + 1);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Fate;

    fn of(part: i64, whole: i64) -> BigRational {
        BigRational::new(part.into(), whole.into())
    }

    fn partition(dice: &str, seen: Seen) -> Partition {
        let partition = Dice::parse(dice).unwrap().partition(&seen).unwrap();
        let sum: BigRational = partition.branches.iter().map(|branch| &branch.chance).sum();
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

    /// Every roll of an expression, with its chance, by its kept faces as `look` shows them.
    fn counted(dice: &str, look: impl Fn(Vec<Vec<u32>>) -> Vec<u32>) -> BTreeMap<Vec<u32>, BigRational> {
        let parsed = Dice::parse(dice).unwrap();
        let mut counted: BTreeMap<Vec<u32>, BigRational> = BTreeMap::new();
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
                    let kept = |faces: &[crate::dice::Face]| -> Vec<u32> {
                        faces.iter().filter(|face| face.fate == Fate::Kept).map(|face| face.value).collect()
                    };
                    let faces = look(roll.pools().map(kept).collect());
                    *counted.entry(faces).or_insert_with(BigRational::zero) += chance;
                }
                None if faces.len() > 5 => {}
                None if dice.contains("rr") && faces.contains(&1) => {}
                None => open.extend((1..=asked[asked.len() - 1]).map(|face| [&faces[..], &[face]].concat())),
            }
        }
        let sum: BigRational = counted.values().sum();
        counted.values_mut().for_each(|chance| *chance /= &sum);
        counted
    }

    #[test]
    fn kept_faces_have_the_chances_of_all_rolls_that_show_them() {
        for dice in ["4d6kh3", "3d6ro1kl2", "2d4rr1", "3d4dh1", "2d3+1d4", "2d6kh1-1d3", "5d4", "2d3+2d2"] {
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
    fn large_pools_are_told_apart_by_what_was_rolled() {
        let pool = partition("10d10", Seen::Faces);
        assert_eq!(pool.branches.len(), 92_378);
        let all_ones = pool.branches.iter().find(|branch| branch.faces == [1; 10]).unwrap();
        assert_eq!(all_ones.chance, of(1, 10_000_000_000));
        let best = partition("8d6kh2", Seen::Faces);
        let sixes = best.branches.iter().find(|branch| branch.faces == [6, 6]).unwrap();
        assert_eq!(sixes.chance, of(1_679_616 - 390_625 - 8 * 78_125, 1_679_616));
        assert!(Dice::parse("20d20!").unwrap().partition(&Seen::Faces).is_err());
    }

    #[test]
    fn the_order_rolled_is_gone_through_list_by_list() {
        let all = partition("5d6", Seen::Ordered);
        assert_eq!(all.branches.len(), 7_776);
        assert!(all.branches.iter().all(|branch| branch.chance == of(1, 7_776)));
        assert!(Dice::parse("8d6").unwrap().partition(&Seen::Ordered).is_err());
        let six = partition("6d6", Seen::Ordered);
        let one: BigRational =
            six.branches.iter().filter(|branch| branch.faces[..3] == [2, 4, 1]).map(|branch| &branch.chance).sum();
        assert_eq!(one, of(1, 216));
    }

    #[test]
    fn several_dice_that_explode_show_their_faces() {
        let two = partition("2d4!", Seen::Ordered);
        let chance = |two: &Partition, faces: &[u32]| {
            two.branches.iter().find(|branch| branch.faces == faces).unwrap().chance.clone()
        };
        assert!(two.rest < of(1, 100_000_000_000));
        assert_eq!(chance(&two, &[4, 2, 3]), of(1, 64));
        assert_eq!(chance(&two, &[1, 1]), of(1, 16));
        let sorted = partition("2d4!", Seen::Faces);
        // A 4 brings a 2 or a 3 on the first or on the second die.
        assert_eq!(chance(&sorted, &[4, 3, 2]), of(4, 64));
        assert_eq!(chance(&sorted, &[3, 2]), of(2, 16));
        // Too many branches to list are refused, and what needs them is an estimate.
        assert!(Dice::parse("2d4!>=3kh1").unwrap().partition(&Seen::Faces).is_err());
    }

    #[test]
    fn exploding_faces_are_followed_until_almost_nothing_is_left() {
        let die = partition("1d6!", Seen::Faces);
        assert!(die.rest > BigRational::zero() && die.rest < of(1, 1_000_000_000_000));
        let twice = die.branches.iter().find(|branch| branch.faces == [6, 6, 2]).unwrap();
        assert_eq!(twice.chance, of(1, 216));
    }
}
