use std::fmt;

use serde::{Serialize, Serializer};

use super::pool::{DicePool, Keep};

/// A dice expression: a sum of dice and constants, such as `2d6+1` or `4d6kh3 - 2*d4`.
///
/// ```
/// use riskbreaker_dice::Dice;
///
/// let dice = Dice::parse("4D6 kh3 + 1 + d%")?;
/// assert_eq!(dice.to_string(), "4d6kh3+d100+1");
/// assert_eq!(Dice::parse("2d8-1")?.simple(), Some((2, 8, -1)));
///
/// let unclear = Dice::parse("4d6r1").unwrap_err();
/// assert!(unclear.to_string().ends_with("write `4d6ro1` or `4d6rr1`"));
/// # Ok::<(), riskbreaker_dice::NotationError>(())
/// ```
///
/// | written | means |
/// |---|---|
/// | `3d6`, `d6`, `d%` | three dice with faces 1 to 6; one; one with 100 faces |
/// | `dF`, `4dF` | a Fate die, which shows -1, 0 or 1; four |
/// | `d[0,0,1,1,2,3]`, `d{2..5}`, `d{1:3,6}` | a die with faces of its own: each listed, 2 to 5, three 1 and a 6 |
/// | `+`, `-`, `2*d6`, `2*(d6+1)` | sum, difference, dice or a sum in brackets times a constant |
/// | `kh2`, `kl2`, `dh2`, `dl2` | keep the 2 highest, the 2 lowest; drop the 2 highest, the 2 lowest; 1 if no number |
/// | `4d6min2`, `d20max15` | a face below 2 counts as 2; one above 15 counts as 15 |
/// | `{2d6,d12}kh1`, `max(2d6,d12)` | roll all and keep the highest total; `min(...)` the lowest |
/// | `ro1`, `ro<3`, `ro1,>=9` | roll a die that shows such a face again, once |
/// | `rr1` | roll it again as long as it shows such a face |
/// | `!`, `!>=9` | a die that shows its highest face, or such a face, adds one more; at most 1000 for each die |
/// | `10d6>=5`, `4d6=1,6` | the number of dice that show such a face, instead of their sum |
///
/// The order of the modifiers does not matter: a die is rerolled first, then explodes; keeping, dropping and counting come
/// last. A die and the dice that it adds by exploding are kept or dropped as one die, by the sum of their faces. When
/// successes are counted, each of these faces counts. Upper case and spaces are accepted.
///
/// Two expressions are equal if they ask for the same dice in the same order. [`Display`](fmt::Display) gives the one
/// canonical text, which parses to the same expression; serde writes that text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dice {
    pub(super) terms: Vec<DiceTerm>,
    pub(super) constant: i64,
}

/// A pool or a group, with its factor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DiceTerm {
    pub times: i64,
    pub source: TermSource,
}

/// The dice of a term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum TermSource {
    Pool(DicePool),
    Group(DiceGroup),
}

/// Rolls of which some are kept, by their totals: `{2d6,d12}kh1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DiceGroup {
    /// The compared rolls, at least two; one of them may be a constant.
    pub members: Vec<Dice>,
    pub keep: Keep,
}

/// The reason why a text is no dice expression: the place, the problem, and the correction.
///
/// It shows as one line: ``column 4: `r` alone can mean two things; write `4d6ro1` or `4d6rr1` ``.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}; {cure}")]
#[non_exhaustive]
pub struct NotationError {
    /// The whole text.
    pub text: String,
    /// The place of the problem, in characters from 1.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The correction, as a clause such as ``write `3d6` ``; never empty. Each text in backticks is an expression.
    pub cure: String,
    pub(super) suggested: Suggested,
}

/// The kind of correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suggested {
    /// Advice without a text to write.
    Nothing,
    /// The text without its unknown part.
    LeavingOut,
    /// A possible meaning of the text.
    Meaning,
}

impl Dice {
    /// The number of dice in the expression, without those that a roll adds.
    #[doc(hidden)]
    pub fn count(&self) -> usize {
        self.pools().iter().map(|pool| pool.count as usize).sum()
    }

    /// Every pool in the order of rolling, including those in groups.
    pub(super) fn pools(&self) -> Vec<&DicePool> {
        fn of_term(term: &DiceTerm) -> Vec<&DicePool> {
            match &term.source {
                TermSource::Pool(pool) => vec![pool],
                TermSource::Group(group) => group.members.iter().flat_map(Dice::pools).collect(),
            }
        }
        self.terms.iter().flat_map(of_term).collect()
    }

    /// The largest factor and the largest constant, including those in groups; both without sign.
    pub(super) fn largest(&self) -> (i64, i64) {
        let mut largest = (1, self.constant.abs());
        for DiceTerm { times, source } in &self.terms {
            let inside = match source {
                TermSource::Pool(_) => (1, 0),
                TermSource::Group(group) => group.members.iter().fold((1, 0), |(factor, constant), member| {
                    let (other, more) = member.largest();
                    (factor.max(other), constant.max(more))
                }),
            };
            let times = times.saturating_abs();
            largest.0 = largest.0.max(inside.0.saturating_mul(times));
            largest.1 = largest.1.max(inside.1.saturating_mul(times));
        }
        largest
    }

    /// The count, faces and added constant of an expression that is only `NdS+m`; `None` for any other.
    #[inline]
    pub fn simple(&self) -> Option<(u32, u32, i64)> {
        match self.terms.as_slice() {
            [DiceTerm { times: 1, source: TermSource::Pool(pool) }] if pool.is_plain() => {
                Some((pool.count, pool.sides, self.constant))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            match (term.times < 0, i) {
                (true, _) => write!(f, "-")?,
                (false, 0) => {}
                (false, _) => write!(f, "+")?,
            }
            if term.times.abs() != 1 {
                write!(f, "{}*", term.times.abs())?;
            }
            match &term.source {
                TermSource::Pool(pool) => write!(f, "{pool}")?,
                TermSource::Group(DiceGroup { members, keep }) => {
                    let members: Vec<String> = members.iter().map(Dice::to_string).collect();
                    write!(f, "{{{}}}{keep}", members.join(","))?;
                }
            }
        }
        match self.constant {
            constant if self.terms.is_empty() => write!(f, "{constant}"),
            0 => Ok(()),
            constant => write!(f, "{constant:+}"),
        }
    }
}

impl Serialize for Dice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Three pieces of a text as one, without spaces; `None` if two numbers would become one.
pub(super) fn squeezed(before: &str, by: &str, after: &str) -> Option<String> {
    let ends = |text: &str| text.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let begins = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let joined = |text: &str| {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        words.windows(2).any(|pair| ends(pair[0]) && begins(pair[1]))
    };
    let emptied = by.trim().is_empty() && ends(before) && begins(after) && !(before.is_empty() || after.is_empty());
    if emptied || joined(before) || joined(by) || joined(after) {
        return None;
    }
    Some([before, by, after].concat().split_ascii_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        Dice::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_string()
    }

    #[test]
    fn an_expression_has_one_canonical_text() {
        for (written, shown) in [
            ("1d6", "d6"),
            (" 2 D 6 + 1 ", "2d6+1"),
            ("+d%", "d100"),
            ("4d6KH3", "4d6kh3"),
            ("2d20kh", "2d20kh1"),
            ("4d6dl", "4d6dl1"),
            ("1+2d6+3-d4", "2d6-d4+4"),
            ("2d6+1-1", "2d6"),
            ("-d6*2*3", "-6*d6"),
            ("0*d6", "0*d6"),
            ("3*4", "12"),
            ("-7", "-7"),
            ("d6kh1!ro=1", "d6ro1!kh1"),
            ("3d10!10", "3d10!"),
            ("3d10 ! >= 9", "3d10!>=9"),
            ("d8rr<3", "d8rr<3"),
            ("10000d1000000", "10000d1000000"),
            ("(2d6+1)*2", "2*2d6+2"),
            ("10-(d6-(d4-1))", "-d6+d4+9"),
            ("2*3*(d6)", "6*d6"),
            ("( (4) ) * (2d8)", "4*2d8"),
            ("10 D6 >= 5", "10d6>=5"),
            ("4d6=6, 1", "4d6=1,6"),
            ("6d6>=5!", "6d6!6>=5"),
            ("6d6!>=5", "6d6!>=5"),
            ("d6ro3,1,1", "d6ro1,3"),
            ("3d[3, 0,0 ,1]", "3d[0,0,1,3]"),
            ("d{1,2,3}", "d3"),
            ("d[0,5]!", "d[0,5]!"),
            ("007d06", "7d6"),
            ("4df", "4dF"),
            ("dF.2kh1", "dFkh1"),
            ("4dF.1", "4d[-1,0,0,0,0,1]"),
            ("d{-1..1}", "dF"),
            ("d{1..4}", "d4"),
            ("2d{0..2, 5:2}", "2d[0,1,2,5,5]"),
            ("d[-3,-3]ro-3", "d[-3,-3]ro-3"),
            ("4dFro-1>=0", "4dFro-1>=0"),
            ("4d6 min 2", "4d6min2"),
            ("4d6mi2ma5kh3", "4d6min2max5kh3"),
            ("4d6kh3min2", "4d6min2kh3"),
            ("{4d6, 3d8}kh1", "{4d6,3d8}kh1"),
            ("{d6,d8,d10}dl", "{d6,d8,d10}dl1"),
            ("max(d20, 10)", "{d20,10}kh1"),
            ("2*min(d6+1,2d4)-1", "2*{d6+1,2d4}kl1-1"),
            ("{2d6,d8}", "2d6+d8"),
            ("max(3,7)", "7"),
            ("{{d4,d6}kl1,d8}kh1", "{{d4,d6}kl1,d8}kh1"),
        ] {
            assert_eq!(canonical(written), shown, "{written}");
            assert_eq!(canonical(shown), shown);
        }
    }

    #[test]
    fn simple_dice_are_recognized() {
        let simple = |text| Dice::parse(text).unwrap().simple();
        assert_eq!(simple("d10"), Some((1, 10, 0)));
        assert_eq!(simple("2+3d12-4"), Some((3, 12, -2)));
        for other in
            ["5", "d6+d8", "2*d6", "-d6", "2d6kh1", "d6!", "d6ro1", "2d6>=5", "d[0,1]", "dF", "d6min2", "max(d6,d8)"]
        {
            assert_eq!(simple(other), None, "{other}");
        }
    }

    #[test]
    fn serde_writes_the_canonical_text() {
        let dice = Dice::parse("4d6 kh3").unwrap();
        assert_eq!(serde_json::to_string(&dice).unwrap(), "\"4d6kh3\"");
        assert_eq!(serde_json::from_str::<Dice>("\"4D6kh3\"").unwrap(), dice);
        assert!(serde_json::from_str::<Dice>("\"4d6k3\"").unwrap_err().to_string().starts_with("column 4"));
    }

    proptest! {
        #[test]
        fn the_canonical_text_parses_to_the_same_expression(dice in crate::tests::any_dice()) {
            prop_assert_eq!(&Dice::parse(&dice.to_string()).unwrap(), &dice);
        }

        #[test]
        fn spaces_and_capitals_between_words_change_nothing(dice in crate::tests::any_dice()) {
            let words = ["+", "-", "*", "!", "kh", "kl", "dh", "dl", "ro", "rr", ",", ">=", "["];
            let spaced = words.iter().fold(dice.to_string(), |text, word| {
                text.replace(word, &format!(" {} ", word.to_uppercase()))
            });
            prop_assert_eq!(&Dice::parse(&spaced).unwrap(), &dice, "{}", spaced);
        }

        #[test]
        fn no_text_panics_and_refusals_are_one_line(
            text in "[ 0-9dDkKhlro!%<>=+*()\\[\\],a-]{0,24}|\\PC{0,12}|[0-9]{0,30}d[0-9]{0,3}[kdr!][hlor]?[<>=0-9]{0,4}"
        ) {
            match Dice::parse(&text) {
                Ok(dice) => prop_assert_eq!(&Dice::parse(&dice.to_string()).unwrap(), &dice),
                Err(error) => {
                    prop_assert!(error.column >= 1 && error.column <= text.chars().count().max(1) + 1);
                    prop_assert!(!error.cure.is_empty() && error.to_string().lines().count() == 1, "{}", error);
                }
            }
        }
    }
}
