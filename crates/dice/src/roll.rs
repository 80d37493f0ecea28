use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::notation::{Dice, DiceGroup, DiceTerm, TermSource};
use super::partition::high_first;
use super::pool::{DicePool, EXPLOSIONS, Reroll};

/// The largest number of successive rerolls of one die by `rr`. Random dice never reach it (`rr` leaves 1 face in 100),
/// but a source that always gives the same face does.
const REROLLS: u32 = 10_000;
/// The separator between the faces of a sum.
const SUM: &str = " + ";
/// The number of faces of a term that [`Roll::explain`] lists individually.
const LISTED: usize = 30;

/// The result of an expression: each rolled face with its fate, and the total.
///
/// It is a pure function of the expression and the faces in the order drawn: [`Roll::drawn`] returns them and
/// [`Dice::roll_faces`] accepts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Record")]
pub struct Roll {
    dice: Dice,
    total: i64,
    faces: Vec<Face>,
    /// For a roll that represents all rolls of a branch: the kept faces as the script sees them. `faces` is empty then.
    #[serde(skip)]
    standing: Option<Vec<i32>>,
}

/// One face shown by a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Face {
    /// The number of faces of the die, 1..=1 000 000.
    pub sides: u32,
    /// The number of the face, 1..=sides. It is the value shown, except on a die with its own faces such as `d[0,0,1]`,
    /// whose faces are numbered in rising order.
    pub value: u32,
    /// The state of the face: whether it counts.
    pub fate: Fate,
    /// True if it added one more die: the next face, not counting rerolled faces.
    pub exploded: bool,
}

/// The fate of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// It counts.
    Kept,
    /// It was dropped by kh, kl, dh or dl, with all faces of its die.
    Dropped,
    /// It was rolled again: the next face replaced it.
    Rerolled,
}

/// The reason why faces are no roll of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FacesError {
    /// The expression needs more faces than were given.
    #[error("`{dice}` needs more faces than the {given} given: the next is a d{sides}")]
    TooFew {
        /// The expression.
        dice: Dice,
        /// The number of given faces.
        given: usize,
        /// The number of faces of the first die without one.
        sides: u32,
    },
    /// More faces were given than needed.
    #[error("`{dice}` takes {used} of the {given} faces given")]
    TooMany {
        /// The expression.
        dice: Dice,
        /// The number of given faces.
        given: usize,
        /// The number of faces that the expression needs.
        used: usize,
    },
    /// A number is no face of its die.
    #[error("face {position} of `{dice}` is {value}, but a d{sides} shows 1 to {sides}")]
    NoSuchFace {
        /// The expression.
        dice: Dice,
        /// The position of the number, from 1.
        position: usize,
        /// The given number.
        value: u32,
        /// The number of faces of its die.
        sides: u32,
    },
}

impl Dice {
    /// Rolls all dice with faces from `next`, which gets the number of faces of a die and returns one of them,
    /// 1..=sides.
    ///
    /// The order is fixed: terms from left to right, and in a term die by die. For each die, rerolls come first, then
    /// the dice added by explosions. Of dice with equal sums, those rolled first are kept.
    ///
    /// Returns `None` as soon as `next` returns `None`. A number that is no face of the die counts as `None`, and so do
    /// 10 000 successive faces that `rr` rolls again.
    pub fn roll_with(&self, next: &mut impl FnMut(u32) -> Option<u32>) -> Option<Roll> {
        let mut faces = Vec::with_capacity(self.count());
        let mut total = self.constant;
        for DiceTerm { times, source } in &self.terms {
            total += times * source.roll(next, &mut faces)?;
        }
        Some(Roll { dice: self.clone(), total, faces, standing: None })
    }

    /// The total of [`Dice::roll_with`] for the same faces in the same order, without a record of them.
    ///
    /// It allocates nothing unless more than 32 dice are rolled to keep or drop some.
    #[inline]
    pub fn total_with<N: FnMut(u32) -> Option<u32>>(&self, next: &mut N) -> Option<i64> {
        let mut total = self.constant;
        for DiceTerm { times, source } in &self.terms {
            total += times
                * match source {
                    TermSource::Pool(pool) => pool.total(next, &mut |_| {})?,
                    TermSource::Group(group) => group.total(next)?,
                };
        }
        Some(total)
    }

    /// The number of leading `faces` that belong to this expression.
    fn faces_rolled(&self, faces: &[Face]) -> usize {
        self.pools().iter().fold(0, |used, pool| used + pool.faces_rolled(&faces[used..]))
    }

    /// Formats its faces as a sum, with signs, factors and constant. Takes them from the front of `faces`.
    fn sum(&self, faces: &mut &[Face]) -> String {
        let terms = &self.terms;
        let mut sum = String::new();
        for (i, DiceTerm { times, source }) in terms.iter().enumerate() {
            sum += match (*times < 0, i) {
                (true, 0) => "-",
                (true, _) => " - ",
                (false, 0) => "",
                (false, _) => " + ",
            };
            if times.abs() != 1 {
                let _ = write!(sum, "{} * ", times.abs());
            }
            match source {
                TermSource::Pool(pool) => {
                    let (of_pool, rest) = faces.split_at(pool.faces_rolled(faces));
                    *faces = rest;
                    if of_pool.len() > 1
                        && (terms.len() > 1 || *times != 1 || (pool.successes.is_some() && self.constant != 0))
                    {
                        let _ = write!(sum, "[{}]", shown(of_pool, pool, SUM));
                    } else {
                        sum += &shown(of_pool, pool, SUM);
                    }
                }
                TermSource::Group(group) => sum += &group.sums(faces),
            }
        }
        match (terms.is_empty(), self.constant) {
            (true, constant) => sum += &constant.to_string(),
            (false, 0) => {}
            (false, constant @ 1..) => sum += &format!(" + {constant}"),
            (false, constant) => sum += &format!(" - {}", -constant),
        }
        sum
    }

    /// Builds a roll from faces in the order drawn.
    ///
    /// # Errors
    ///
    /// [`FacesError`] if there are too few or too many, or if one is no face of its die.
    pub fn roll_faces(&self, drawn: &[u32]) -> Result<Roll, FacesError> {
        let dice = || self.clone();
        let given = drawn.len();
        let mut used = 0;
        let mut asked = 0;
        let roll = self.roll_with(&mut |sides| {
            asked = sides;
            let value = drawn.get(used).copied()?;
            used += 1;
            Some(value)
        });
        match roll {
            Some(roll) if used == given => Ok(roll),
            Some(_) => Err(FacesError::TooMany { dice: dice(), given, used }),
            None => match used.checked_sub(1).map(|last| drawn[last]) {
                Some(value) if !is_face(value, asked) => {
                    Err(FacesError::NoSuchFace { dice: dice(), position: used, value, sides: asked })
                }
                _ => Err(FacesError::TooFew { dice: dice(), given, sides: asked }),
            },
        }
    }
}

impl Roll {
    /// A roll that represents all rolls that look equal, by their total or their kept faces.
    #[doc(hidden)]
    pub fn standing_for(dice: &Dice, total: i64, kept: &[i32]) -> Roll {
        Roll { dice: dice.clone(), total, faces: Vec::new(), standing: Some(kept.to_vec()) }
    }

    /// The expression.
    pub fn dice(&self) -> &Dice {
        &self.dice
    }

    /// The sum of the kept faces, with signs and factors, and of the constants.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// Every face in the order drawn, including dropped and rerolled ones.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The pools in the order of the expression, each with its faces.
    pub(super) fn pools(&self) -> impl Iterator<Item = (&[Face], &DicePool)> {
        let mut faces = self.faces.as_slice();
        self.dice.pools().into_iter().map(move |pool| {
            let (of_pool, rest) = faces.split_at(pool.faces_rolled(faces));
            faces = rest;
            (of_pool, pool)
        })
    }

    /// The values of the kept faces: of each pool the highest first, or in the order rolled.
    #[doc(hidden)]
    pub fn kept(&self, in_order: bool) -> Vec<i32> {
        let kept = |(faces, pool): (&[Face], &DicePool)| -> Vec<i32> {
            let kept = faces.iter().filter(|face| face.fate == Fate::Kept);
            let faces = kept.map(|face| pool.shown(face.value)).collect();
            if in_order { faces } else { high_first(faces) }
        };
        match &self.standing {
            Some(kept) => kept.clone(),
            None => self.pools().flat_map(kept).collect(),
        }
    }

    /// The numbers of all faces in the order drawn, from which the roll can be rebuilt.
    pub fn drawn(&self) -> Vec<u32> {
        self.faces.iter().map(|face| face.value).collect()
    }

    /// Explains the total in one line: `4d6kh3 = 5 + 4 + 4 (dropped 2) = 13`.
    ///
    /// `6!` is a face that exploded, followed by the added die. If successes are counted, each is marked, as in `4d6>=5
    /// = 6* 2 5* 1 = 2`. A group lists its rolls, as in `{2d6,d8}kh1 = {3 + 4, 5} = 7`. Several pools have brackets:
    /// `2d6-2*d4+1 = [5 + 3] - 2 * 4 + 1 = 1`. After 30 faces of a pool the rest is only counted.
    pub fn explain(&self) -> String {
        let mut line = self.dice.to_string();
        let mut sum = self.dice.sum(&mut self.faces.as_slice());
        if self.dice.terms.is_empty() {
            sum.clear();
        }
        let total = self.total.to_string();
        if !sum.is_empty() && sum != total {
            let _ = write!(line, " = {sum}");
        }
        if line != total {
            let _ = write!(line, " = {total}");
        }
        line
    }

    /// Lists the faces, for rolls whose sum has no meaning: `5, 4, 2 (dropped 1)`, pools joined by `and`.
    #[doc(hidden)]
    pub fn list_faces(&self) -> String {
        let lists: Vec<String> = self.pools().map(|(faces, pool)| shown(faces, pool, ", ")).collect();
        lists.join(" and ")
    }
}

/// A term of a rolled expression, or its constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RollPart {
    /// The dice, in notation with sign and factor. `None` for the constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dice: Option<String>,
    /// The faces in the order drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub faces: Vec<PartFace>,
    /// The amount that it adds to the total.
    pub amount: i64,
}

/// A face for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartFace {
    /// The number of faces of the die.
    pub sides: u32,
    /// The value shown.
    pub value: i32,
    /// The fate of the face. `None` if it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fate: Option<Fate>,
    /// True if it added one more die.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub exploded: bool,
}

impl Roll {
    /// The terms of the expression with their faces and amounts, and its constant last.
    pub fn parts(&self) -> Vec<RollPart> {
        let mut rest = self.faces.as_slice();
        let mut parts = Vec::new();
        for term in &self.dice.terms {
            let dice = Dice { terms: vec![term.clone()], constant: 0 };
            let (own, behind) = rest.split_at(dice.faces_rolled(rest));
            rest = behind;
            let drawn: Vec<u32> = own.iter().map(|face| face.value).collect();
            let amount = dice.roll_faces(&drawn).map_or(0, |roll| roll.total);
            let (mut faces, mut left) = (Vec::new(), own);
            for pool in dice.pools() {
                let (of_pool, behind) = left.split_at(pool.faces_rolled(left));
                left = behind;
                faces.extend(of_pool.iter().map(|face| PartFace {
                    sides: face.sides,
                    value: pool.shown(face.value),
                    fate: (face.fate != Fate::Kept).then_some(face.fate),
                    exploded: face.exploded,
                }));
            }
            parts.push(RollPart { dice: Some(dice.to_string()), faces, amount });
        }
        if self.dice.constant != 0 || parts.is_empty() {
            parts.push(RollPart { dice: None, faces: Vec::new(), amount: self.dice.constant });
        }
        parts
    }
}

impl TermSource {
    /// Rolls the term, appends its faces to `faces` and returns the total.
    fn roll<N: FnMut(u32) -> Option<u32>>(&self, next: &mut N, faces: &mut Vec<Face>) -> Option<i64> {
        match self {
            TermSource::Pool(pool) => pool.roll(next, faces),
            TermSource::Group(group) => group.roll(next, faces),
        }
    }
}

impl DiceGroup {
    /// Rolls every member, appends the faces to `faces` and returns the sum of the kept totals.
    fn roll<N: FnMut(u32) -> Option<u32>>(&self, next: &mut N, faces: &mut Vec<Face>) -> Option<i64> {
        let (mut totals, mut rolled) = (Vec::new(), Vec::new());
        for member in &self.members {
            let first = faces.len();
            let mut total = member.constant;
            for DiceTerm { times, source } in &member.terms {
                total += times * source.roll(next, faces)?;
            }
            totals.push(total);
            rolled.push(first..faces.len());
        }
        let kept = self.keep.kept(&totals);
        for (faces_of, _) in rolled.into_iter().zip(&kept).filter(|(_, kept)| !**kept) {
            let dropped = faces[faces_of].iter_mut().filter(|face| face.fate == Fate::Kept);
            dropped.for_each(|face| face.fate = Fate::Dropped);
        }
        Some(totals.iter().zip(kept).filter(|(_, kept)| *kept).map(|(total, _)| total).sum())
    }

    /// Like [`DiceGroup::roll`], without a record of the faces.
    fn total<N: FnMut(u32) -> Option<u32>>(&self, next: &mut N) -> Option<i64> {
        let mut totals = self.members.iter().map(|member| member.total_with(next)).collect::<Option<Vec<i64>>>()?;
        totals.sort_unstable();
        Some(totals[self.keep.places(totals.len() as u32)].iter().sum())
    }

    /// Formats the sums of its members in braces. Takes their faces from the front of `faces`.
    fn sums(&self, faces: &mut &[Face]) -> String {
        let sums = self.members.iter().map(|member| {
            let (of_member, rest) = faces.split_at(member.faces_rolled(faces));
            *faces = rest;
            let drawn: Vec<u32> = of_member.iter().map(|face| face.value).collect();
            // Rolled alone, a member has no face that was dropped with it.
            let alone = member.roll_faces(&drawn).map_or_else(|_| of_member.to_vec(), |roll| roll.faces);
            member.sum(&mut alone.as_slice())
        });
        let sums: Vec<String> = sums.collect();
        format!("{{{}}}", sums.join(", "))
    }
}

impl DicePool {
    /// Rolls every die, appends its faces to `faces` and returns the total.
    fn roll(&self, next: &mut impl FnMut(u32) -> Option<u32>, faces: &mut Vec<Face>) -> Option<i64> {
        let first = faces.len();
        let total = self.total(next, &mut |face| faces.push(face))?;
        let Some(keep) = self.keep else { return Some(total) };
        let dice: Vec<&mut [Face]> = faces[first..].split_inclusive_mut(Face::ends_die).collect();
        let is_kept = |face: &Face| face.fate == Fate::Kept;
        let sum =
            |die: &[Face]| die.iter().filter(|face| is_kept(face)).map(|face| i64::from(self.shown(face.value))).sum();
        let sums: Vec<i64> = dice.iter().map(|die| sum(die)).collect();
        for (die, _) in dice.into_iter().zip(keep.kept(&sums)).filter(|(_, kept)| !kept) {
            die.iter_mut().filter(|face| is_kept(face)).for_each(|face| face.fate = Fate::Dropped);
        }
        Some(total)
    }

    /// Rolls every die, passes each face to `record`, and returns the total. Marks no face as dropped.
    #[inline]
    fn total(&self, next: &mut impl FnMut(u32) -> Option<u32>, record: &mut impl FnMut(Face)) -> Option<i64> {
        if self.is_plain() {
            let sides = self.sides;
            return (0..self.count).try_fold(0, |sum, _| {
                let value = draw(sides, next)?;
                record(Face { sides, value, fate: Fate::Kept, exploded: false });
                Some(sum + i64::from(value))
            });
        }
        let Some(keep) = self.keep else {
            let mut worth = 0;
            for _ in 0..self.count {
                self.roll_die(next, &mut |face| {
                    if face.fate == Fate::Kept {
                        worth += self.worth(self.shown(face.value));
                    }
                    record(face);
                })?;
            }
            return Some(worth);
        };
        let mut few = [0; 32];
        let mut many = Vec::new();
        let sums = match few.get_mut(..self.count as usize) {
            Some(few) => few,
            None => {
                many.resize(self.count as usize, 0);
                many.as_mut_slice()
            }
        };
        for sum in sums.iter_mut() {
            *sum = self.roll_die(next, record)?;
        }
        sums.sort_unstable();
        Some(sums[keep.places(self.count)].iter().sum())
    }

    /// Rolls one die with the dice that it adds, passes each face to `record`, and returns their sum.
    #[inline]
    pub(super) fn roll_die(
        &self,
        next: &mut impl FnMut(u32) -> Option<u32>,
        record: &mut impl FnMut(Face),
    ) -> Option<i64> {
        let sides = self.sides;
        let mut sum = 0;
        for explosion in 0..=EXPLOSIONS {
            let value = self.rest(next, record)?;
            let shown = self.shown(value);
            let exploded = explosion < EXPLOSIONS && self.explodes_on(shown);
            record(Face { sides, value, fate: Fate::Kept, exploded });
            sum += i64::from(shown);
            if !exploded {
                break;
            }
        }
        Some(sum)
    }

    /// Rolls one die until it is not rerolled, and passes the earlier faces to `record`. Returns the last face.
    #[inline]
    fn rest(&self, next: &mut impl FnMut(u32) -> Option<u32>, record: &mut impl FnMut(Face)) -> Option<u32> {
        let sides = self.sides;
        let value = draw(sides, next)?;
        let (faces, patience) = match &self.reroll {
            None => return Some(value),
            Some(Reroll::Once(faces)) => (faces, 1),
            Some(Reroll::While(faces)) => (faces, REROLLS),
        };
        let mut value = value;
        for _ in 0..patience {
            if !faces.holds(self.shown(value)) {
                return Some(value);
            }
            record(Face { sides, value, fate: Fate::Rerolled, exploded: false });
            value = draw(sides, next)?;
        }
        match self.reroll {
            Some(Reroll::While(_)) if faces.holds(self.shown(value)) => None,
            _ => Some(value),
        }
    }

    /// The number of leading `faces` that belong to this pool.
    fn faces_rolled(&self, faces: &[Face]) -> usize {
        let ends = faces.iter().enumerate().filter(|(_, face)| face.ends_die());
        ends.map(|(i, _)| i + 1).nth(self.count as usize - 1).unwrap_or(faces.len())
    }
}

impl Face {
    /// True if no further face belongs to the same die.
    fn ends_die(&self) -> bool {
        self.fate != Fate::Rerolled && !self.exploded
    }
}

/// Takes one valid face from `next`. `None` if there is none.
#[inline]
fn draw(sides: u32, next: &mut impl FnMut(u32) -> Option<u32>) -> Option<u32> {
    next(sides).filter(|&value| is_face(value, sides))
}

#[inline]
fn is_face(value: u32, sides: u32) -> bool {
    (1..=sides).contains(&value)
}

/// Formats the faces of a pool as a sum, followed by those that do not count. `between`: the separator of faces that
/// are not counted as successes.
fn shown(faces: &[Face], pool: &DicePool, between: &str) -> String {
    let counts = pool.successes.is_some();
    let list = |fate: Fate, between: &str| {
        let of_fate = || faces.iter().filter(|face| face.fate == fate);
        let word = |face: &Face| {
            let value = pool.shown(face.value);
            let exploded = if face.exploded { "!" } else { "" };
            let success = if counts && fate == Fate::Kept && pool.worth(value) > 0 { "*" } else { "" };
            format!("{value}{exploded}{success}")
        };
        let mut words: Vec<String> = of_fate().take(LISTED).map(word).collect();
        let add = |(n, sum): (u64, i64), face: &Face| (n + 1, sum + pool.worth(pool.shown(face.value)));
        let (left, sum) = of_fate().skip(LISTED).fold((0, 0), add);
        if left > 0 {
            words.push(match fate {
                Fate::Kept if counts => format!("{sum} successes from {left} more"),
                Fate::Kept => format!("{sum} from {left} more"),
                _ => format!("{left} more"),
            });
        }
        words.join(between)
    };
    let mut text = list(Fate::Kept, if counts { " " } else { between });
    let notes = [("rerolled", list(Fate::Rerolled, ", ")), ("dropped", list(Fate::Dropped, ", "))];
    let notes: Vec<String> =
        notes.iter().filter(|(_, l)| !l.is_empty()).map(|(word, l)| format!("{word} {l}")).collect();
    if !notes.is_empty() {
        let _ = write!(text, " ({})", notes.join("; "));
    }
    text
}

/// A deserialized roll, before its total is checked.
#[derive(Deserialize)]
struct Record {
    dice: Dice,
    total: i64,
    faces: Vec<Face>,
}

impl TryFrom<Record> for Roll {
    type Error = String;

    fn try_from(record: Record) -> Result<Roll, String> {
        let drawn: Vec<u32> = record.faces.iter().map(|face| face.value).collect();
        let roll = record.dice.roll_faces(&drawn).map_err(|error| error.to_string())?;
        if roll.total != record.total || roll.faces != record.faces {
            return Err(format!("the faces of `{}` come to {}, not as written", roll.dice, roll.explain()));
        }
        Ok(roll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiceRng;
    use proptest::prelude::*;

    fn explained(dice: &str, faces: &[u32]) -> String {
        Dice::parse(dice).unwrap().roll_faces(faces).unwrap().explain()
    }

    fn refused(dice: &str, faces: &[u32]) -> String {
        Dice::parse(dice).unwrap().roll_faces(faces).unwrap_err().to_string()
    }

    #[test]
    fn a_total_explains_itself() {
        for (dice, faces, line) in [
            ("4d6kh3", &[5, 4, 2, 4][..], "4d6kh3 = 5 + 4 + 4 (dropped 2) = 13"),
            ("4d6dl1+2", &[1, 1, 2, 4], "4d6dl1+2 = 1 + 2 + 4 (dropped 1) + 2 = 9"),
            ("d20", &[14], "d20 = 14"),
            ("5", &[], "5"),
            ("d10-3", &[7], "d10-3 = 7 - 3 = 4"),
            ("2d6-2*d4+1", &[5, 3, 4], "2d6-2*d4+1 = [5 + 3] - 2 * 4 + 1 = 1"),
            ("-2*2d6", &[5, 3], "-2*2d6 = -2 * [5 + 3] = -16"),
            ("3d6ro<3", &[1, 2, 5, 2, 6], "3d6ro<3 = 2 + 5 + 6 (rerolled 1, 2) = 13"),
            ("2d6rr1kl1", &[1, 1, 4, 3], "2d6rr1kl1 = 3 (rerolled 1, 1; dropped 4) = 3"),
            ("2d6!", &[6, 6, 1, 4], "2d6! = 6! + 6! + 1 + 4 = 17"),
            ("2d6!kh1", &[6, 1, 5], "2d6!kh1 = 6! + 1 (dropped 5) = 7"),
            ("2d6!kl1", &[6, 1, 5], "2d6!kl1 = 5 (dropped 6!, 1) = 5"),
            ("d6ro6!>=5", &[6, 6, 5, 6, 2], "d6ro6!>=5 = 6! + 5! + 2 (rerolled 6, 6) = 13"),
            ("4d6>=5", &[6, 2, 5, 1], "4d6>=5 = 6* 2 5* 1 = 2"),
            ("4d6>=5+1", &[6, 2, 5, 1], "4d6>=5+1 = [6* 2 5* 1] + 1 = 3"),
            ("2d6!6>=5", &[6, 5, 1], "2d6!6>=5 = 6!* 5* 1 = 2"),
            ("2d6ro1=6,3", &[1, 6, 3], "2d6ro1=3,6 = 6* 3* (rerolled 1) = 2"),
            ("3d[0,0,1,5]", &[1, 4, 3], "3d[0,0,1,5] = 0 + 5 + 1 = 6"),
            ("4dF", &[1, 2, 3, 3], "4dF = -1 + 0 + 1 + 1 = 1"),
            ("4d6min2", &[1, 2, 6, 3], "4d6min2 = 2 + 2 + 6 + 3 = 13"),
            ("{2d6,d8}kh1", &[3, 4, 5], "{2d6,d8}kh1 = {3 + 4, 5} = 7"),
            ("{2d6kh1,d8,10}dh1-1", &[3, 4, 5], "{2d6kh1,d8,10}dh1-1 = {4 (dropped 3), 5, 10} - 1 = 8"),
            ("{d8!,d6!}kh1", &[8, 3, 6, 6, 1], "{d8!,d6!}kh1 = {8! + 3, 6! + 6! + 1} = 13"),
            ("2*{d6,d4}kl1+d8", &[3, 4, 5], "2*{d6,d4}kl1+d8 = 2 * {3, 4} + 5 = 11"),
            ("2d[0,0,1,5]ro0!", &[1, 3, 4, 2, 3], "2d[0,0,1,5]ro0! = 1 + 5! + 1 (rerolled 0, 0) = 7"),
        ] {
            assert_eq!(explained(dice, faces), line, "{dice}");
        }
        let many = explained("40d2", &[2; 40]);
        assert!(many.ends_with("2 + 20 from 10 more = 80"), "{many}");
    }

    #[test]
    fn of_equal_dice_those_rolled_first_are_kept() {
        let fates = |dice: &str| -> Vec<bool> {
            let roll = Dice::parse(dice).unwrap().roll_faces(&[3, 3, 3]).unwrap();
            roll.faces().iter().map(|face| face.fate == Fate::Kept).collect()
        };
        for dice in ["3d6kh2", "3d6kl2", "3d6dh1", "3d6dl1"] {
            assert_eq!(fates(dice), [true, true, false], "{dice}");
        }
    }

    #[test]
    fn faces_that_do_not_fit_are_refused() {
        assert_eq!(refused("2d6", &[5]), "`2d6` needs more faces than the 1 given: the next is a d6");
        assert_eq!(refused("2d6", &[5, 1, 1]), "`2d6` takes 2 of the 3 faces given");
        assert_eq!(refused("2d6", &[5, 7]), "face 2 of `2d6` is 7, but a d6 shows 1 to 6");
        assert_eq!(refused("d6", &[0]), "face 1 of `d6` is 0, but a d6 shows 1 to 6");
        assert_eq!(refused("d6rr1", &[1]), "`d6rr1` needs more faces than the 1 given: the next is a d6");
    }

    #[test]
    fn an_exhausted_source_and_an_endless_one_give_no_roll() {
        let dice = Dice::parse("2d6rr1").unwrap();
        assert_eq!(dice.roll_with(&mut |_| None), None);
        assert_eq!(dice.roll_with(&mut |_| Some(1)), None);
        assert_eq!(dice.total_with(&mut |_| Some(1)), None);
        assert_eq!(dice.total_with(&mut |_| Some(7)), None);
        let explodes = Dice::parse("d6!").unwrap();
        assert_eq!(explodes.total_with(&mut |_| Some(6)), Some(6_006));
    }

    #[test]
    fn a_stored_roll_must_be_consistent() {
        let roll = Dice::parse("2d6kh1").unwrap().roll_faces(&[2, 5]).unwrap();
        let text = serde_json::to_string(&roll).unwrap();
        assert!(
            text.starts_with(r#"{"dice":"2d6kh1","total":5,"faces":[{"sides":6,"value":2,"fate":"dropped""#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Roll>(&text).unwrap(), roll);
        let false_total = text.replace(r#""total":5"#, r#""total":6"#);
        assert!(serde_json::from_str::<Roll>(&false_total).is_err());
    }

    proptest! {
        #[test]
        fn the_faces_drawn_build_the_same_roll(dice in crate::tests::any_dice(), seed: u64) {
            let mut chance = DiceRng::new(seed);
            let start = chance.clone();
            let roll = dice.roll_with(&mut |sides| Some(chance.face(sides))).unwrap();
            prop_assert_eq!(&dice.roll_faces(&roll.drawn()).unwrap(), &roll);
            let mut again = start;
            prop_assert_eq!(dice.total_with(&mut |sides| Some(again.face(sides))), Some(roll.total()));
            prop_assert_eq!(again.position(), chance.position());
            let last = format!(" = {}", roll.total());
            prop_assert!(dice.terms.is_empty() || roll.explain().ends_with(&last), "{}", roll.explain());
        }
    }
}
