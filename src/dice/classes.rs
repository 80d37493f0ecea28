use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::distribution::{Distribution, TooWide};
use super::notation::Dice;
use super::pool::Pool;

/// What somebody who has rolled gets to see of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The total.
    Total,
    /// How many of these cuts the total reaches; one cut is success or failure.
    Cuts(Vec<i64>),
    /// The faces that were kept, in the order rolled.
    Faces,
}

/// All rolls that look the same to somebody who sees only a part of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The chance of the whole class, above 0 unless it is a twin.
    pub chance: BigRational,
    /// The total of one of its rolls.
    pub total: i64,
    /// The kept faces of one of its rolls, where faces are seen.
    pub faces: Vec<u32>,
    /// The same faces as the class before in another order: what comes of it must be the same.
    pub twin: bool,
}

/// The classes that the rolls of an expression fall into.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    pub list: Vec<Class>,
    /// The chance of rolls that are in no class, since dice exploded too often.
    pub rest: BigRational,
}

/// How many lists of faces of one pool are told apart by their order; where there are more, only what was rolled counts.
pub const FEW_ORDERS: usize = 1_000;
/// The same, where the order turns out to matter.
pub const MANY_ORDERS: usize = 50_000;
/// Rolls of a pool that are looked at to find out what is kept of them.
const LOOKED_AT: usize = 50_000;
/// Classes of one roll at most.
const MOST: usize = 100_000;

type Ways = BTreeMap<Vec<u32>, BigUint>;

impl Dice {
    /// Sorts all rolls into classes by what is seen of them, with the exact chance of each. `orders`: how many lists of
    /// faces of one pool are told apart by their order.
    ///
    /// # Errors
    ///
    /// [`TooWide`] if there are too many outcomes or classes.
    pub fn classes(&self, seen: &Seen, orders: usize) -> Result<Classes, TooWide> {
        match seen {
            Seen::Total => {
                let totals = self.distribution()?;
                let list = totals.iter().map(|(total, chance)| Class::of(total, chance)).collect();
                Ok(Classes { list, rest: totals.remaining() })
            }
            Seen::Cuts(cuts) => {
                let totals = self.distribution()?;
                let mut bands: BTreeMap<usize, Class> = BTreeMap::new();
                for (total, chance) in totals.iter() {
                    let reached = cuts.iter().filter(|cut| total >= **cut).count();
                    bands
                        .entry(reached)
                        .and_modify(|band| band.chance += &chance)
                        .or_insert_with(|| Class::of(total, chance.clone()));
                }
                let mut rest = totals.remaining();
                // Dice that exploded too often to be listed are above every cut all the same.
                if let (Some(least), Some(top)) = (Distribution::least_unlisted(self), cuts.iter().max())
                    && least >= *top
                    && let Some(band) = bands.get_mut(&cuts.len())
                {
                    band.chance += std::mem::replace(&mut rest, BigRational::zero());
                }
                Ok(Classes { list: bands.into_values().collect(), rest })
            }
            Seen::Faces => self.faces_classes(orders).ok_or_else(|| TooWide { dice: self.clone() }),
        }
    }

    fn faces_classes(&self, orders: usize) -> Option<Classes> {
        let mut all: Ways = BTreeMap::from([(Vec::new(), BigUint::one())]);
        let mut whole = BigUint::one();
        for term in &self.terms {
            let Some((ways, of)) = ordered(&term.pool, orders) else {
                // Too many to tell their orders apart: what was rolled, smallest first.
                let [_] = self.terms.as_slice() else { return None };
                return unordered(&term.pool);
            };
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
        let list = all
            .into_iter()
            .map(|(faces, weight)| Class { chance: ratio(weight, &whole), total: 0, faces, twin: false })
            .collect();
        Some(Classes { list, rest })
    }
}

impl Class {
    fn of(total: i64, chance: BigRational) -> Class {
        Class { chance, total, faces: Vec::new(), twin: false }
    }
}

fn ratio(part: BigUint, whole: &BigUint) -> BigRational {
    BigRational::new(part.into(), whole.clone().into())
}

/// What one die can show with its rerolls and explosions, face by face, in parts of the second value.
fn of_die(pool: &Pool) -> Option<(Ways, BigUint)> {
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
        if next.len() + ended.len() > LOOKED_AT {
            return None;
        }
        open = next;
    }
    Some((ended, of))
}

fn negligible() -> BigRational {
    BigRational::new(1.into(), 1_000_000_000_000_i64.into())
}

/// The lists of faces that are kept of a pool, in the order rolled; `None` if there are more than `orders`.
fn ordered(pool: &Pool, orders: usize) -> Option<(Ways, BigUint)> {
    let (die, whole) = of_die(pool)?;
    let most = if pool.keep.is_some() { LOOKED_AT } else { orders };
    let count = u32::try_from(die.len()).ok()?.checked_pow(pool.count)? as usize;
    if count > most {
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
    (kept.len() <= orders.max(most / 10)).then_some((kept, whole.pow(pool.count)))
}

/// The kept faces of a pool without regard to their order; each with twins in the opposite order and in a mixed one.
fn unordered(pool: &Pool) -> Option<Classes> {
    if pool.explode.is_some() {
        return None;
    }
    let (die, whole) = of_die(pool)?;
    let faces: Vec<(u32, BigUint)> = die.into_iter().map(|(faces, weight)| (faces[0], weight)).collect();
    let whole = whole.pow(pool.count);
    let places = pool.keep.map(|keep| keep.places(pool.count));
    let mut ways = Ways::new();
    // By how many dice show each face, the lowest face first.
    let mut open: Vec<(Vec<u32>, BigUint)> = vec![(Vec::new(), BigUint::one())];
    for (at, (face, times)) in faces.iter().enumerate() {
        let mut next = Vec::new();
        for (dice, weight) in &open {
            let left = pool.count - dice.len() as u32;
            let least = if at + 1 == faces.len() { left } else { 0 };
            for count in least..=left {
                let mut dice = dice.clone();
                dice.extend(std::iter::repeat_n(*face, count as usize));
                next.push((dice, weight * choose(left, count) * times.pow(count)));
            }
            if next.len() > MOST {
                return None;
            }
        }
        open = next;
    }
    for (dice, weight) in open {
        let kept = match &places {
            Some(places) => dice[places.clone()].to_vec(),
            None => dice,
        };
        *ways.entry(kept).or_default() += weight;
    }
    let mut list = Vec::new();
    for (faces, weight) in ways {
        if weight.is_zero() {
            continue;
        }
        let mut turned = faces.clone();
        turned.reverse();
        let mixed = mixed(&faces, list.len() as u64);
        let mut twins: Vec<Vec<u32>> = [turned, mixed].into_iter().filter(|twin| *twin != faces).collect();
        twins.dedup();
        list.push(Class { chance: ratio(weight, &whole), total: 0, faces, twin: false });
        for faces in twins {
            list.push(Class { chance: BigRational::zero(), total: 0, faces, twin: true });
        }
    }
    Some(Classes { list, rest: BigRational::zero() })
}

/// Faces in an order that looks like any other, the same for the same `salt`.
fn mixed(faces: &[u32], salt: u64) -> Vec<u32> {
    let mut faces = faces.to_vec();
    let mut state = salt;
    for at in (1..faces.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        faces.swap(at, (state >> 33) as usize % (at + 1));
    }
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

    fn classes(dice: &str, seen: Seen) -> Classes {
        let classes = Dice::parse(dice).unwrap().classes(&seen, FEW_ORDERS).unwrap();
        let sum: BigRational = classes.list.iter().map(|class| &class.chance).sum();
        assert_eq!(sum + &classes.rest, of(1, 1), "{dice}");
        classes
    }

    #[test]
    fn a_success_is_one_of_two_classes_and_a_sure_one_the_only_one() {
        let under_7 = classes("1d10", Seen::Cuts(vec![7]));
        let chances: Vec<_> = under_7.list.iter().map(|class| (class.total < 7, class.chance.clone())).collect();
        assert_eq!(chances, [(true, of(6, 10)), (false, of(4, 10))]);
        assert_eq!(classes("1d10", Seen::Cuts(vec![1])).list.len(), 1);
        let bands = classes("3d12", Seen::Cuts(vec![6, 10, 14]));
        let chances: Vec<_> = bands.list.iter().map(|class| class.chance.clone()).collect();
        assert_eq!(chances, [of(10, 1728), of(74, 1728), of(202, 1728), of(1442, 1728)]);
    }

    #[test]
    fn kept_faces_have_the_chances_of_all_rolls_that_show_them() {
        for dice in ["4d6kh3", "3d6ro1kl2", "2d4rr1", "3d4dh1", "2d3+1d4", "2d6kh1-1d3"] {
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
                        let kept: Vec<u32> =
                            roll.faces().iter().filter(|face| face.fate == Fate::Kept).map(|face| face.value).collect();
                        *counted.entry(kept).or_insert_with(BigRational::zero) += chance;
                    }
                    None if faces.len() > 5 => {}
                    None if dice.contains("rr") && faces.contains(&1) => {}
                    None => open.extend((1..=asked[asked.len() - 1]).map(|face| [&faces[..], &[face]].concat())),
                }
            }
            let sum: BigRational = counted.values().sum();
            let listed = classes(dice, Seen::Faces);
            assert_eq!(listed.list.len(), counted.len(), "{dice}");
            for class in &listed.list {
                assert_eq!(class.chance, &counted[&class.faces] / &sum, "{dice} {:?}", class.faces);
            }
        }
    }

    #[test]
    fn large_pools_are_told_apart_by_what_was_rolled_and_not_in_which_order() {
        let pool = classes("10d10", Seen::Faces);
        assert_eq!(pool.list.iter().filter(|class| !class.twin).count(), 92_378);
        let all_ones = pool.list.iter().find(|class| class.faces == [1; 10]).unwrap();
        assert_eq!(all_ones.chance, of(1, 10_000_000_000));
        let best = classes("8d6kh2", Seen::Faces);
        let sixes = best.list.iter().find(|class| class.faces == [6, 6]).unwrap();
        assert_eq!(sixes.chance, of(1_679_616 - 390_625 - 8 * 78_125, 1_679_616));
        assert!(Dice::parse("20d20!").unwrap().classes(&Seen::Faces, FEW_ORDERS).is_err());
    }

    #[test]
    fn many_orders_are_told_apart_where_that_is_wanted() {
        let all = Dice::parse("5d6").unwrap().classes(&Seen::Faces, MANY_ORDERS).unwrap();
        assert_eq!(all.list.len(), 7_776);
        assert!(all.list.iter().all(|class| !class.twin && class.chance == of(1, 7_776)));
    }

    #[test]
    fn exploding_faces_are_followed_until_almost_nothing_is_left() {
        let die = classes("1d6!", Seen::Faces);
        assert!(die.rest > BigRational::zero() && die.rest < of(1, 1_000_000_000_000));
        let twice = die.list.iter().find(|class| class.faces == [6, 6, 2]).unwrap();
        assert_eq!(twice.chance, of(1, 216));
    }
}
