use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The largest number of explosions of one die. A further exploding face adds no die.
pub(super) const EXPLOSIONS: u32 = 1_000;

/// The faces of a Fate die, `dF`.
pub(super) const FATE: [i32; 3] = [-1, 0, 1];

/// Dice of one type rolled together, with their operations: `4d6ro1kh3`.
///
/// The order of the operations does not depend on the notation: each die is rerolled, then explodes, and then dice are
/// kept or dropped. A die that exploded counts with all its additional dice as *one* die when dice are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DicePool {
    /// The number of dice, at least 1.
    pub count: u32,
    /// The number of faces of each die, at least 1. Faces are drawn as 1 to `sides`.
    pub sides: u32,
    /// The values of the faces in rising order, if they differ from their numbers.
    pub own: Option<Arc<[i32]>>,
    /// `min`: a lower face counts as this. `None` if there is no such limit.
    pub least: Option<i32>,
    /// `max`: a higher face counts as this. `None` if there is no such limit.
    pub most: Option<i32>,
    pub reroll: Option<Reroll>,
    /// The faces that add one more die; that die is rerolled and explodes like the first.
    pub explode: Option<Faces>,
    pub keep: Option<Keep>,
    /// The faces that count 1 each; the total is then their number, not the sum of the faces.
    pub successes: Option<Faces>,
}

/// The faces that are rolled again, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Reroll {
    /// `ro`: once; the second face counts.
    Once(Faces),
    /// `rr`: as long as the die shows such a face.
    While(Faces),
}

/// The faces that satisfy one of these conditions, at least one: `1`, `<3`, `1,>=5`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Faces(pub Box<[FaceCondition]>);

/// A set of faces without gaps: `3`, `<3`, `<=3`, `>3`, `>=3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FaceCondition {
    Exactly(i32),
    Under(i32),
    AtMost(i32),
    Over(i32),
    AtLeast(i32),
}

/// The dice of a pool that count, by the number of kept or dropped dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Keep {
    Highest(u32),
    Lowest(u32),
    DropHighest(u32),
    DropLowest(u32),
}

impl DicePool {
    /// True if every die counts with the first face that it shows.
    pub fn is_plain(&self) -> bool {
        self.is_numbered()
            && self.reroll.is_none()
            && self.explode.is_none()
            && self.keep.is_none()
            && self.successes.is_none()
    }

    /// True if every face shows its number.
    pub fn is_numbered(&self) -> bool {
        self.own.is_none() && self.least.is_none() && self.most.is_none()
    }

    /// True if a die that ends its rerolls with `face` adds one more.
    pub fn explodes_on(&self, face: i32) -> bool {
        self.explode.as_ref().is_some_and(|faces| faces.holds(face))
    }

    /// The value of the face drawn as this number from 1 to `sides`.
    #[inline]
    pub fn shown(&self, drawn: u32) -> i32 {
        let face = match &self.own {
            None => drawn as i32,
            Some(own) => own[drawn as usize - 1],
        };
        let face = self.least.map_or(face, |least| face.max(least));
        self.most.map_or(face, |most| face.min(most))
    }

    /// The values of all faces in rising order, one for each face.
    pub fn all_shown(&self) -> impl Iterator<Item = i32> + '_ {
        (1..=self.sides).map(|drawn| self.shown(drawn))
    }

    /// The amount that a die with this face adds to the total.
    pub fn worth(&self, face: i32) -> i64 {
        match &self.successes {
            None => i64::from(face),
            Some(wanted) => i64::from(wanted.holds(face)),
        }
    }

    /// The number of faces that are among `faces`.
    pub fn count_of(&self, faces: &Faces) -> u32 {
        match (self.is_numbered(), &*faces.0) {
            (true, [only]) => only.of(self.sides).len() as u32,
            _ => self.all_shown().filter(|face| faces.holds(*face)).count() as u32,
        }
    }
}

impl Faces {
    #[inline]
    pub fn holds(&self, face: i32) -> bool {
        self.0.iter().any(|condition| condition.holds(face))
    }
}

impl Reroll {
    pub fn faces(&self) -> &Faces {
        match self {
            Reroll::Once(faces) | Reroll::While(faces) => faces,
        }
    }
}

impl FaceCondition {
    #[inline]
    pub fn holds(self, face: i32) -> bool {
        match self {
            FaceCondition::Exactly(n) => face == n,
            FaceCondition::Under(n) => face < n,
            FaceCondition::AtMost(n) => face <= n,
            FaceCondition::Over(n) => face > n,
            FaceCondition::AtLeast(n) => face >= n,
        }
    }

    /// The faces of a die with faces 1 to `sides` that satisfy the condition; such a set has no gaps.
    pub fn of(self, sides: u32) -> Range<i32> {
        let end = sides as i32 + 1;
        let (from, to) = match self {
            FaceCondition::Exactly(n) => (n, n.saturating_add(1)),
            FaceCondition::Under(n) => (1, n),
            FaceCondition::AtMost(n) => (1, n.saturating_add(1)),
            FaceCondition::Over(n) => (n.saturating_add(1), end),
            FaceCondition::AtLeast(n) => (n, end),
        };
        from.clamp(1, end)..to.clamp(1, end)
    }
}

impl Keep {
    /// The indices of the kept dice, of `count` dice sorted from lowest to highest.
    pub fn places(self, count: u32) -> Range<usize> {
        let (from, to) = match self {
            Keep::Highest(n) => (count - n, count),
            Keep::Lowest(n) => (0, n),
            Keep::DropHighest(n) => (0, count - n),
            Keep::DropLowest(n) => (n, count),
        };
        from as usize..to as usize
    }

    /// True for each kept die, by their sums in the order rolled. Of dice with the same sum, those rolled first are
    /// kept.
    pub fn kept(self, sums: &[i64]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..sums.len()).collect();
        if !self.prefers_low() {
            order.reverse();
        }
        order.sort_by_key(|at| sums[*at]);
        let mut kept = vec![false; sums.len()];
        for at in &order[self.places(sums.len() as u32)] {
            kept[*at] = true;
        }
        kept
    }

    /// True if the low dice are kept.
    pub fn prefers_low(self) -> bool {
        matches!(self, Keep::Lowest(_) | Keep::DropHighest(_))
    }
}

impl fmt::Display for DicePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        match &self.own {
            None => write!(f, "d{}", self.sides)?,
            Some(own) if **own == FATE => write!(f, "dF")?,
            Some(own) => {
                let own: Vec<String> = own.iter().map(i32::to_string).collect();
                write!(f, "d[{}]", own.join(","))?;
            }
        }
        for (word, limit) in [("min", self.least), ("max", self.most)] {
            if let Some(limit) = limit {
                write!(f, "{word}{limit}")?;
            }
        }
        if let Some(reroll) = &self.reroll {
            write!(f, "{reroll}")?;
        }
        match &self.explode {
            // A comparison after a bare `!` would be read as the exploding faces.
            Some(faces) if self.successes.is_some() => write!(f, "!{faces}")?,
            Some(faces) if *faces.0 == [FaceCondition::Exactly(self.shown(self.sides))] => write!(f, "!")?,
            Some(faces) => write!(f, "!{faces}")?,
            None => {}
        }
        if let Some(keep) = self.keep {
            write!(f, "{keep}")?;
        }
        match &self.successes {
            Some(faces) if matches!(faces.0[0], FaceCondition::Exactly(_)) => write!(f, "={faces}"),
            Some(faces) => write!(f, "{faces}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Faces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, condition) in self.0.iter().enumerate() {
            write!(f, "{}{condition}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for Reroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reroll::Once(faces) => write!(f, "ro{faces}"),
            Reroll::While(faces) => write!(f, "rr{faces}"),
        }
    }
}

impl fmt::Display for FaceCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaceCondition::Exactly(n) => write!(f, "{n}"),
            FaceCondition::Under(n) => write!(f, "<{n}"),
            FaceCondition::AtMost(n) => write!(f, "<={n}"),
            FaceCondition::Over(n) => write!(f, ">{n}"),
            FaceCondition::AtLeast(n) => write!(f, ">={n}"),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Highest(n) => write!(f, "kh{n}"),
            Keep::Lowest(n) => write!(f, "kl{n}"),
            Keep::DropHighest(n) => write!(f, "dh{n}"),
            Keep::DropLowest(n) => write!(f, "dl{n}"),
        }
    }
}
