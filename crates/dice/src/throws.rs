use super::notation::Dice;
use super::pool::DicePool;

/// Marks a die that is still to be thrown among the faces of a roll. No die has this face.
pub const NOT_THROWN: u32 = 0;

/// A roll of real dice: all are thrown together, then again those that are rerolled or explode, until none is left.
///
/// A throw has one face for each die thrown, in the order of the dice. [`Throws::faces`] returns all faces in the order
/// of [`Dice::roll_with`]: each die with its additional dice before the next die. If `2d6!` shows 6 and 3, and then 5,
/// its faces are 6, 5, 3.
pub struct Throws<'d> {
    dice: Vec<Die<'d>>,
}

struct Die<'d> {
    pool: &'d DicePool,
    /// The faces of this die, one for each throw.
    faces: Vec<u32>,
    /// True if the die is in the next throw.
    missing: bool,
}

impl Throws<'_> {
    /// Reads faces in the order of [`Throws::faces`]. Dice without a face are still to be thrown; surplus faces are
    /// ignored.
    pub fn read<'d>(dice: &'d Dice, faces: &[u32]) -> Throws<'d> {
        let mut faces = faces.iter().copied();
        let pools = dice.pools().into_iter().flat_map(|pool| std::iter::repeat_n(pool, pool.count as usize));
        Throws { dice: pools.map(|pool| Die::read(pool, &mut faces)).collect() }
    }

    /// The number of sides of each die in the next throw. Empty if the roll is complete.
    pub fn missing(&self) -> Vec<u32> {
        self.dice.iter().filter(|die| die.missing).map(|die| die.pool.sides).collect()
    }

    /// Adds a throw: one face for each die that is missing.
    pub fn add(&mut self, thrown: &[u32]) {
        let missing = self.dice.iter_mut().filter(|die| die.missing);
        for (die, face) in missing.zip(thrown) {
            die.faces.push(*face);
            die.missing = Die::read(die.pool, &mut die.faces.iter().copied()).missing;
        }
    }

    /// Takes the last throw back and returns its faces. `None` if nothing has been thrown.
    pub fn take_back(&mut self) -> Option<Vec<u32>> {
        let last = self.dice.iter().map(|die| die.faces.len()).max()?.checked_sub(1)?;
        let mut thrown = Vec::new();
        for die in self.dice.iter_mut().filter(|die| die.faces.len() > last) {
            thrown.extend(die.faces.pop());
            die.missing = true;
        }
        Some(thrown)
    }

    /// All faces in the order in which a roll draws them, with [`NOT_THROWN`] for each missing one.
    pub fn faces(&self) -> Vec<u32> {
        let faces = self.dice.iter().flat_map(|die| {
            let missing = die.missing.then_some(NOT_THROWN);
            die.faces.iter().copied().chain(missing)
        });
        faces.collect()
    }
}

impl<'d> Die<'d> {
    /// Takes the faces of one die from the front of `faces`.
    fn read(pool: &'d DicePool, faces: &mut impl Iterator<Item = u32>) -> Die<'d> {
        let (mut shown, mut missing) = (Vec::new(), false);
        let mut next = |_: u32| match faces.next() {
            Some(face) if face != NOT_THROWN => {
                shown.push(face);
                Some(face)
            }
            _ => {
                missing = true;
                None
            }
        };
        let _ = pool.roll_die(&mut next, &mut |_| {});
        Die { pool, faces: shown, missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiceRng;
    use proptest::prelude::*;

    /// Throws until the roll is complete, and checks the number of dice in each throw.
    fn thrown(dice: &str, throws: &[&[u32]]) -> String {
        let dice = Dice::parse(dice).unwrap();
        let mut all = Throws::read(&dice, &[]);
        for throw in throws {
            assert_eq!(all.missing().len(), throw.len(), "{dice}: {throw:?}");
            all.add(throw);
        }
        assert!(all.missing().is_empty(), "{dice}");
        dice.roll_faces(&all.faces()).unwrap().explain()
    }

    #[test]
    fn all_dice_are_thrown_first_and_then_those_that_explode_or_are_rerolled() {
        let rolls: [(&str, &[&[u32]], &str); 8] = [
            ("2d6!kh1", &[&[6, 3], &[5]], "2d6!kh1 = 6! + 5 (dropped 3) = 11"),
            ("2d6!", &[&[6, 6], &[1, 6], &[2]], "2d6! = 6! + 1 + 6! + 6! + 2 = 21"),
            ("2d6rr1", &[&[3, 3]], "2d6rr1 = 3 + 3 = 6"),
            ("2d6rr1", &[&[1, 4], &[1], &[5]], "2d6rr1 = 5 + 4 (rerolled 1, 1) = 9"),
            ("2d6ro1", &[&[1, 3], &[1]], "2d6ro1 = 1 + 3 (rerolled 1) = 4"),
            ("2d6!1", &[&[3, 3]], "2d6!1 = 3 + 3 = 6"),
            ("2d6ro1!", &[&[6, 1], &[1, 3], &[2]], "2d6ro1! = 6! + 2 + 3 (rerolled 1, 1) = 11"),
            ("d4-2d6!", &[&[4, 6, 2], &[1]], "d4-2d6! = 4 - [6! + 1 + 2] = -5"),
        ];
        for (dice, throws, line) in rolls {
            assert_eq!(thrown(dice, throws), line);
        }
    }

    #[test]
    fn an_incomplete_roll_has_a_place_for_each_missing_die() {
        let dice = Dice::parse("2d6ro1!").unwrap();
        let mut throws = Throws::read(&dice, &[]);
        assert_eq!((throws.missing(), throws.faces()), (vec![6, 6], vec![0, 0]));
        throws.add(&[6, 1]);
        assert_eq!((throws.missing(), throws.faces()), (vec![6, 6], vec![6, 0, 1, 0]));
        throws.add(&[1, 3]);
        // In the order typed, these faces would be those of a complete roll.
        assert!(dice.roll_faces(&[6, 1, 1, 3]).is_ok());
        assert_eq!((throws.missing(), throws.faces()), (vec![6], vec![6, 1, 0, 1, 3]));
        assert!(dice.roll_faces(&throws.faces()).is_err());
        assert_eq!(throws.take_back(), Some(vec![1, 3]));
        assert_eq!((throws.missing(), throws.faces()), (vec![6, 6], vec![6, 0, 1, 0]));
        assert_eq!(throws.take_back(), Some(vec![6, 1]));
        assert_eq!(throws.take_back(), None);
    }

    proptest! {
        #[test]
        fn throws_undone_and_repeated_give_the_same_roll(
            dice in crate::tests::any_dice(), seed: u64
        ) {
            let mut chance = DiceRng::new(seed);
            let drawn = dice.roll_with(&mut |sides| Some(chance.face(sides))).unwrap().drawn();
            let mut throws = Throws::read(&dice, &drawn);
            prop_assert!(throws.missing().is_empty());
            let mut taken = Vec::new();
            while let Some(throw) = throws.take_back() {
                taken.push(throw);
            }
            for throw in taken.iter().rev() {
                prop_assert_eq!(throws.missing().len(), throw.len());
                throws = Throws::read(&dice, &throws.faces());
                throws.add(throw);
            }
            prop_assert_eq!(throws.faces(), drawn);
        }
    }
}
