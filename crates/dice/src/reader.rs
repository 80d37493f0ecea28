use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::dialect;
use super::notation::{Dice, DiceGroup, DiceTerm, NotationError, Suggested, TermSource, squeezed};
use super::pool::{DicePool, FATE, FaceCondition, Faces, Keep, Reroll};

/// The longest valid expression, in characters.
const LONGEST: usize = 1_000;
/// The most dice in one expression.
const MOST_DICE: u32 = 10_000;
/// The most faces of one die.
const MOST_FACES: u32 = 1_000_000;
/// The largest constant, either sign. With the other limits it keeps every total well inside an `i64`.
const LARGEST_CONSTANT: i64 = 1_000_000_000;
/// The largest number that dice are multiplied by, either sign.
const LARGEST_FACTOR: i64 = 100_000;
/// The deepest nesting of brackets.
const DEEPEST: u32 = 20;
/// The most faces in a list of faces.
const MOST_LISTED: usize = 1_000;
/// The most rolls of a group.
const MOST_MEMBERS: usize = 20;
/// A word with at least this many letters directly after dice is no operation of another program.
const SHORTEST_WORD: usize = 5;
/// The words after dice, longer ones first if one begins with another.
const WORDS: [&str; 10] = ["kh", "kl", "dh", "dl", "ro", "rr", "min", "max", "mi", "ma"];
/// `rr` must leave at least one face in this many, so that rerolls end soon.
const LEAST_SHARE_LEFT: u64 = 100;

/// Reads an expression from left to right. The text is ASCII, so that a byte is a column.
///
/// It has many methods, since each part of the notation is read by one.
pub(super) struct NotationReader<'a> {
    text: &'a str,
    at: usize,
    /// The number of dice read so far.
    rolled: u32,
    /// The number of open brackets.
    open: u32,
    /// True if a refusal suggests corrections. Suggestions are themselves parsed, without suggestions.
    suggests: bool,
}

/// The faces of a die as written: their number, and their values unless those are 1, 2, 3...
type WrittenFaces = (u32, Option<Arc<[i32]>>);

impl Dice {
    /// Reads an expression of at most 1000 characters, 10 000 dice, 1 000 000 faces a die, constants up to
    /// 1 000 000 000 and factors up to 100 000.
    ///
    /// # Errors
    ///
    /// [`NotationError`] for anything else, with the column of the first problem and its cure.
    pub fn parse(text: &str) -> Result<Dice, NotationError> {
        NotationReader::parse(text)
    }
}

impl FromStr for Dice {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Dice, NotationError> {
        Dice::parse(text)
    }
}

impl<'de> Deserialize<'de> for Dice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dice, D::Error> {
        let text = String::deserialize(deserializer)?;
        Dice::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl<'a> NotationReader<'a> {
    /// Parses an expression. A refusal suggests only valid expressions.
    pub fn parse(text: &str) -> Result<Dice, NotationError> {
        let read = NotationReader::new(text, true).and_then(NotationReader::expression);
        read.map_err(|error| dialect::translated(error, NotationReader::reads))
    }

    /// True if a text is a valid expression.
    pub fn reads(text: &str) -> bool {
        NotationReader::new(text, false).and_then(NotationReader::expression).is_ok()
    }

    fn new(text: &'a str, suggests: bool) -> Result<NotationReader<'a>, NotationError> {
        let reader = NotationReader { text, at: 0, rolled: 0, open: 0, suggests };
        let refuse = |column, message: String, cure: &str| {
            Err(NotationError {
                text: text.to_owned(),
                column,
                message,
                cure: cure.to_owned(),
                suggested: Suggested::Nothing,
            })
        };
        if text.chars().nth(LONGEST).is_some() {
            let message = format!("an expression has at most {LONGEST} characters");
            return refuse(LONGEST + 1, message, "roll it in parts");
        }
        if text.trim().is_empty() {
            return refuse(1, "there is nothing to roll".to_owned(), "write dice, such as `2d6+1`");
        }
        let strange = |c: char| !(c.is_ascii_graphic() || c.is_ascii_whitespace());
        if let Some((i, c)) = text.chars().enumerate().find(|&(_, c)| strange(c)) {
            let (plain, words) = match dialect::plain_of(c) {
                Some(plain) => (plain, "write plain letters, digits and signs, such as `2d6+1`"),
                None => ("", "use plain letters, digits and signs, such as `2d6+1`"),
            };
            let replaced: String =
                text.chars().map(|c| dialect::plain_of(c).map_or(c.to_string(), str::to_owned)).collect();
            let suggested = (!plain.is_empty()).then_some(replaced);
            let message = format!("`{}` is no part of the notation", c.escape_debug());
            return Err(NotationError { column: i + 1, ..reader.refused(0, message, suggested, words) });
        }
        Ok(reader)
    }

    /// Parses the whole text.
    pub fn expression(mut self) -> Result<Dice, NotationError> {
        let dice = self.sum()?;
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        // The canonical text must be valid, too: `d%` becomes `d100`, and a range of faces a list.
        if (self.text.len() > LONGEST / 2 || self.text.contains(['.', ':'])) && dice.to_string().len() > LONGEST {
            let message = format!("an expression has at most {LONGEST} characters in full");
            return Err(self.error(self.at, message, "roll it in parts".to_owned()));
        }
        Ok(dice)
    }

    /// Reads products with signs between them.
    fn sum(&mut self) -> Result<Dice, NotationError> {
        let mut dice = Dice { terms: Vec::new(), constant: 0 };
        let mut negative = self.sign().unwrap_or(false);
        loop {
            self.product(negative, &mut dice)?;
            match self.sign() {
                Some(sign) => negative = sign,
                None => return Ok(dice),
            }
        }
    }

    /// Reads a sum in brackets; the opening one is next.
    fn brackets(&mut self) -> Result<Dice, NotationError> {
        self.skip_spaces();
        let opened = self.at;
        self.at += 1;
        self.open += 1;
        if self.open > DEEPEST {
            let message = format!("at most {DEEPEST} brackets stand inside each other");
            return Err(self.error(opened, message, "write the sum out".to_owned()));
        }
        let dice = self.sum()?;
        if !self.take(b')') {
            if self.peek().is_some() {
                return Err(self.unexpected());
            }
            return Err(self.refused(
                opened,
                "this bracket is not closed".to_owned(),
                [format!("{})", self.text.trim())],
                "close it where its sum ends, as in `2*(d6+1)`",
            ));
        }
        self.open -= 1;
        if let Some(b'k' | b'd' | b'r' | b'!' | b'<' | b'>' | b'=' | b'm') = self.peek() {
            let message = "brackets hold a sum, and only dice take what follows here".to_owned();
            self.skip_spaces();
            return Err(self.error(self.at, message, "write it behind the dice, as in `(2d6kh1+1)*2`".to_owned()));
        }
        Ok(dice)
    }

    /// Parses rolls of which some are kept: `{2d6,d8}kh1`, whose brace is next, or `max(2d6,d8)` if there is a word
    /// before the bracket.
    fn group(&mut self, word: Option<&str>) -> Result<Dice, NotationError> {
        self.skip_spaces();
        let start = self.at;
        self.at += word.map_or(0, str::len);
        let close = if word.is_some() { b')' } else { b'}' };
        self.skip_spaces();
        self.at += 1;
        self.open += 1;
        if self.open > DEEPEST {
            let message = format!("at most {DEEPEST} brackets stand inside each other");
            return Err(self.error(start, message, "write the sum out".to_owned()));
        }
        let inside_start = self.at;
        let mut members = vec![self.sum()?];
        while self.take(b',') {
            members.push(self.sum()?);
        }
        let inside_end = self.at;
        if !self.take(close) {
            if self.peek().is_some() {
                return Err(self.unexpected());
            }
            let close = char::from(close);
            let end = self.text.trim();
            let closed = [format!("{end}{close}"), format!("{end}{close}kh1")];
            let message = "this group is not closed".to_owned();
            return Err(self.refused(start, message, closed, "close it behind its last roll, as in `{2d6,d8}kh1`"));
        }
        self.open -= 1;
        let count = members.len() as u32;
        self.skip_spaces();
        let behind = self.word_at(self.at).to_ascii_lowercase();
        if members.len() == 1 && (word.is_some() || !behind.is_empty()) {
            let is_pool = matches!(members[0].terms.as_slice(), [DiceTerm { times: 1, source: TermSource::Pool(_) }]);
            let keep = match word {
                Some("min") => "kl1",
                Some(_) => "kh1",
                None => "",
            };
            let inside = &self.text[inside_start..inside_end];
            let choice = squeezed(&self.text[..start], &format!("{}{keep}", inside.trim()), &self.text[self.at..]);
            let choice = choice.filter(|_| is_pool && members[0].constant == 0);
            let message = "a group compares at least two rolls".to_owned();
            let words =
                "write rolls with commas between, as in `{2d6,d8}kh1`, or keep dice of one roll, as in `4d6kh3`";
            return Err(self.refused(start, message, choice, words));
        }
        if members.len() > MOST_MEMBERS {
            let message = format!("a group has at most {MOST_MEMBERS} rolls");
            return Err(self.error(start, message, "compare fewer rolls".to_owned()));
        }
        let keep = match word {
            Some(word) => Some(if word == "min" { Keep::Lowest(1) } else { Keep::Highest(1) }),
            None => self.keep_of_group(count)?,
        };
        if let Some(b'k' | b'd' | b'r' | b'!' | b'<' | b'>' | b'=' | b'm') = self.peek() {
            self.skip_spaces();
            let message = "of a group, rolls are kept or dropped once, and nothing else is done to it".to_owned();
            return Err(self.error(self.at, message, "write it behind the dice, as in `{2d6kh1,d8!}kh1`".to_owned()));
        }
        let Some(keep) = keep else {
            if members.len() > 1 && members.iter().all(|member| member.terms.is_empty()) {
                let message = "a list of numbers is no roll".to_owned();
                let inside = self.text[inside_start..inside_end].trim();
                let die = format!("d{{{inside}}}");
                return Err(self.refused(start, message, [die], "write a die with these faces, as in `d{1,2,5}`"));
            }
            let mut sum = Dice { terms: Vec::new(), constant: 0 };
            for member in members {
                sum.terms.extend(member.terms);
                sum.constant = sum.constant.saturating_add(member.constant);
            }
            return Ok(sum);
        };
        if members.iter().all(|member| member.terms.is_empty()) {
            let mut constants: Vec<i64> = members.iter().map(|member| member.constant).collect();
            constants.sort_unstable();
            return Ok(Dice { terms: Vec::new(), constant: constants[keep.places(count)].iter().sum() });
        }
        Ok(Dice {
            terms: vec![DiceTerm { times: 1, source: TermSource::Group(DiceGroup { members, keep }) }],
            constant: 0,
        })
    }

    /// Parses which rolls of a group are kept, after its brace. `None` if all are.
    fn keep_of_group(&mut self, count: u32) -> Result<Option<Keep>, NotationError> {
        self.skip_spaces();
        let at = self.at;
        let word = self.word_at(at);
        let keep: fn(u32) -> Keep = match word.to_ascii_lowercase().as_str() {
            "" => return Ok(None),
            "kh" => Keep::Highest,
            "kl" => Keep::Lowest,
            "dh" => Keep::DropHighest,
            "dl" => Keep::DropLowest,
            _ => return Err(self.unknown_word(at, &word.to_ascii_lowercase())),
        };
        self.at = at + 2;
        self.keep(keep, count, at).map(Some)
    }

    /// Parses `+` or `-` if one is next; true for `-`.
    fn sign(&mut self) -> Option<bool> {
        let sign = match self.peek()? {
            b'+' => false,
            b'-' => true,
            _ => return None,
        };
        self.skip_spaces();
        self.at += 1;
        Some(sign)
    }

    /// Parses factors, of which one may contain dice, and adds the product to `dice`.
    fn product(&mut self, negative: bool, dice: &mut Dice) -> Result<(), NotationError> {
        self.skip_spaces();
        let start = self.at;
        let mut times: i64 = if negative { -1 } else { 1 };
        let mut held: Option<Dice> = None;
        loop {
            self.skip_spaces();
            let factor_at = self.at;
            let factor = match self.peek() {
                Some(b'(') => self.brackets()?,
                Some(b'{') => self.group(None)?,
                Some(b'm') if self.function().is_some() => self.group(self.function())?,
                Some(b'0'..=b'9') => {
                    let number = self.number();
                    if self.begins_die() {
                        self.dice(Some(number), factor_at)?
                    } else {
                        Dice { terms: Vec::new(), constant: number }
                    }
                }
                Some(b'd') if self.begins_die() => self.dice(None, factor_at)?,
                _ => return Err(self.unexpected()),
            };
            if factor.terms.is_empty() {
                if factor.constant.abs() > LARGEST_CONSTANT {
                    return Err(self.too_large(factor_at));
                }
                times = factor.constant.saturating_mul(times);
            } else if held.is_some() {
                let message = "dice are multiplied by dice".to_owned();
                return Err(self.error(factor_at, message, "multiply by a constant, as in `2*d6`".to_owned()));
            } else {
                held = Some(factor);
            }
            if !self.take(b'*') {
                break;
            }
        }
        let added = match held {
            None => times,
            Some(Dice { terms, constant }) => {
                for DiceTerm { times: own, source } in terms {
                    let term = DiceTerm { times: own.saturating_mul(times), source };
                    let alone = Dice { terms: vec![term], constant: 0 };
                    let (factor, within) = alone.largest();
                    if factor > LARGEST_FACTOR {
                        let message = format!("dice are multiplied by more than {LARGEST_FACTOR}");
                        return Err(self.error(start, message, "write a smaller factor".to_owned()));
                    }
                    if within > LARGEST_CONSTANT {
                        return Err(self.too_large(start));
                    }
                    dice.terms.extend(alone.terms);
                }
                constant.saturating_mul(times)
            }
        };
        dice.constant = dice.constant.saturating_add(added);
        if added.abs() > LARGEST_CONSTANT || dice.constant.abs() > LARGEST_CONSTANT {
            return Err(self.too_large(start));
        }
        Ok(())
    }

    /// Parses a pool whose `d` is next.
    fn dice(&mut self, count: Option<i64>, start: usize) -> Result<Dice, NotationError> {
        self.take(b'd');
        let pool = self.pool(count, start)?;
        self.rolled += pool.count;
        Ok(Dice { terms: vec![DiceTerm { times: 1, source: TermSource::Pool(pool) }], constant: 0 })
    }

    /// Parses the part of a pool after its `d`: faces and operations. `start`: the beginning of its term.
    fn pool(&mut self, count: Option<i64>, start: usize) -> Result<DicePool, NotationError> {
        let count = count.unwrap_or(1);
        if count == 0 {
            // In `0d0` both numbers are wrong.
            let faces = self.digits_at(self.at);
            let cure = match self.text[self.at..self.at + faces].parse::<i64>() {
                Ok(0) => self.rewritten(start, self.at + faces - start, "1d6"),
                _ => self.rewritten(start, self.digits_at(start), "1"),
            };
            let words = "roll at least one die, as in `1d6`";
            return Err(self.refused(start, "there is no die in it".to_owned(), [cure], words));
        }
        let room = MOST_DICE.saturating_sub(self.rolled);
        let count = match u32::try_from(count) {
            Ok(count) if count <= room => count,
            _ => {
                let message = format!("an expression has at most {MOST_DICE} dice");
                return Err(self.error(start, message, "roll fewer dice".to_owned()));
            }
        };
        let (sides, own) = match self.peek() {
            Some(close @ (b'[' | b'{')) => self.own_faces(if close == b'[' { b']' } else { b'}' })?,
            Some(b'f') => (3, Some(self.fate()?)),
            _ => (self.sides()?, None),
        };
        let (sides, own) = match own {
            // A die with 6 blanks and so on, in the notation of another program.
            Some(own) => (own.len() as u32, Some(own)),
            None => (sides, None),
        };
        let mut pool = DicePool {
            count,
            sides,
            own,
            least: None,
            most: None,
            reroll: None,
            explode: None,
            keep: None,
            successes: None,
        };
        loop {
            self.skip_spaces();
            let at = self.at;
            match self.peek() {
                Some(b'!') => self.explosion(&mut pool)?,
                Some(b'<' | b'>' | b'=') => {
                    if pool.successes.is_some() {
                        let message = "successes of a pool are counted in one way only";
                        return Err(self.twice(start, at, message, "4d6>=5"));
                    }
                    pool.successes = self.faces(&pool, false)?;
                }
                Some(c) if c.is_ascii_alphabetic() => {
                    let word = self.word_at(at).to_ascii_lowercase();
                    let known = WORDS.iter().find(|known| word == **known);
                    // Two words may be adjacent: `4d6khro1`.
                    let first = |known: &&&str| {
                        word.strip_prefix(**known).is_some_and(|rest| WORDS.iter().any(|word| rest.starts_with(word)))
                    };
                    match known.or_else(|| WORDS.iter().find(first)) {
                        Some(known) => self.operation(&mut pool, known, start)?,
                        None => return Err(self.unknown_word(at, &word)),
                    }
                }
                _ => break,
            }
        }
        self.check_end_of_explosions(start, &pool)?;
        if pool.keep.is_some() && pool.successes.is_some() {
            let message = "a pool either keeps dice or counts successes".to_owned();
            return Err(self.error(start, message, "leave out what is kept or dropped, or what is counted".to_owned()));
        }
        if (pool.least.is_some() || pool.most.is_some()) && (pool.reroll.is_some() || pool.explode.is_some()) {
            let message = "a limit for faces goes with no reroll and no explosion: programs disagree which comes first";
            let words = "list the faces that the die is to have, as in `4d[2,2,3,4,5,6]`";
            return Err(self.error(start, message.to_owned(), words.to_owned()));
        }
        Ok(pool)
    }

    /// Parses `!` and the faces after it.
    fn explosion(&mut self, pool: &mut DicePool) -> Result<(), NotationError> {
        self.skip_spaces();
        let at = self.at;
        self.at += 1;
        if pool.explode.is_some() {
            let single = self.alternatives(at, 1, &[""]);
            let message = "a pool explodes in one way only".to_owned();
            return Err(self.refused(at, message, single, "write it once, as in `3d6!`"));
        }
        if self.text.as_bytes().get(self.at) == Some(&b'=') {
            let digits = self.digits_at(self.at + 1);
            let face = &self.text[self.at + 1..self.at + 1 + digits];
            let length = 2 + digits;
            let mut choices = self.alternatives(at, length, &[&format!("!{face}")]);
            let others = [format!("<{face},>{face}"), format!("<{face}"), format!(">{face}")];
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            choices.extend(self.alternatives(at, length, &others).into_iter().take(1));
            let message = "`!=` can mean two things (explode on this face, or count every other face)".to_owned();
            let words = "write `3d6!6` to explode on 6, or `3d6<6` to count the other faces";
            return Err(self.refused(at, message, choices, words));
        }
        let sides = pool.sides;
        pool.explode = Some(match self.faces(pool, false)? {
            Some(faces) => faces,
            None => Faces([FaceCondition::Exactly(pool.shown(sides))].into()),
        });
        Ok(())
    }

    /// Parses one of [`WORDS`] and its argument. `start`: the beginning of the term.
    fn operation(&mut self, pool: &mut DicePool, word: &str, start: usize) -> Result<(), NotationError> {
        let at = self.at;
        self.at = at + word.len();
        match word {
            "ro" | "rr" => {
                if pool.reroll.is_some() {
                    return Err(self.twice(start, at, "a pool is rerolled in one way only", "4d6ro<=2"));
                }
                let Some(faces) = self.faces(pool, true)? else {
                    let lowest = pool.shown(1).to_string();
                    let choices = self.alternatives(at + 2, 0, &[&lowest]);
                    let message = "it does not say which faces to roll again".to_owned();
                    return Err(self.refused(self.at, message, choices, "name them, as in `4d6ro1`"));
                };
                if word == "rr" {
                    self.check_end_of_rerolls(at, pool, &faces)?;
                }
                pool.reroll = Some(if word == "ro" { Reroll::Once(faces) } else { Reroll::While(faces) });
            }
            "min" | "mi" | "max" | "ma" => {
                let lowest = word.starts_with("mi");
                let limit = if lowest { pool.least } else { pool.most };
                if limit.is_some() {
                    return Err(self.twice(start, at, "faces have one limit only", "4d6min2"));
                }
                let (low, high) = (pool.shown(1), pool.shown(pool.sides));
                self.skip_spaces();
                let number_at = self.at;
                let face = self.signed(low < 0);
                let face = face.and_then(|face| i32::try_from(face).ok()).filter(|face| (low..=high).contains(face));
                let Some(face) = face else {
                    let message = format!("behind `{word}` a face from {low} to {high} is missing");
                    let written = self.digits_at(number_at);
                    let choices = self.alternatives(
                        number_at,
                        written,
                        &[&(if lowest { low.max(2).min(high) } else { high - 1 }).to_string()],
                    );
                    return Err(self.refused(number_at, message, choices, "name the limit, as in `4d6min2`"));
                };
                if lowest {
                    pool.least = Some(face);
                } else {
                    pool.most = Some(face);
                }
            }
            _ => {
                let keep: fn(u32) -> Keep = match word {
                    "kh" => Keep::Highest,
                    "kl" => Keep::Lowest,
                    "dh" => Keep::DropHighest,
                    _ => Keep::DropLowest,
                };
                if pool.keep.is_some() {
                    return Err(self.twice(start, at, "dice of a pool are kept or dropped once only", "4d6kh2"));
                }
                pool.keep = Some(self.keep(keep, pool.count, at)?);
            }
        }
        Ok(())
    }

    /// Refuses an unknown word after dice. Suggests its likely meaning, or to omit it.
    fn unknown_word(&self, at: usize, word: &str) -> NotationError {
        let after = at + word.len();
        let number = self.digits_at(after);
        let Some(known) = dialect::behind_dice(word) else {
            let words =
                "write only dice and numbers, with kh, kl, dh, dl, ro, rr, min, max or an exclamation mark behind dice";
            return self.left_out(at, word, words);
        };
        let mut choices = self.alternatives(at, word.len(), known.writes);
        if choices.is_empty() && number == 0 {
            // A face or a number may be missing.
            let lowest: Vec<String> = known.writes.iter().map(|word| format!("{word}1")).collect();
            choices = self.alternatives(at, word.len(), &lowest.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if choices.is_empty() && known.leaves {
            choices = self.alternatives(at, word.len() + number, &[""]);
        }
        if choices.is_empty() && word == "d" {
            // A sign may be missing between dice.
            choices = self.alternatives(at, 0, &["+"]);
        }
        self.refused(at, format!("`{word}` {}", known.message), choices, known.words_instead)
    }

    /// Parses the part of Fate dice after the `d`, such as `F` or `F.2`: the faces of one die.
    fn fate(&mut self) -> Result<Arc<[i32]>, NotationError> {
        self.skip_spaces();
        let at = self.at;
        let word = self.word_at(at);
        self.at += 1;
        let rest = word[1..].to_ascii_lowercase();
        if !rest.is_empty() && !WORDS.iter().any(|word| rest.starts_with(word)) {
            let choices = self.alternatives(at, word.len(), &["F"]);
            let message = format!("`d{word}` is not known here");
            return Err(self.refused(at, message, choices, "write Fate dice as `4dF`"));
        }
        let rest = &self.text.as_bytes()[self.at..];
        match rest {
            [b'.', b'1', ..] => {
                self.at += 2;
                Ok([-1, 0, 0, 0, 0, 1].into())
            }
            [b'.', b'2', ..] => {
                self.at += 2;
                Ok(FATE.into())
            }
            _ => Ok(FATE.into()),
        }
    }

    /// Reads a list of faces in brackets: `[0,0,1,1,2,3]`, `{2..5}`, `{1:3,6}`.
    fn own_faces(&mut self, close: u8) -> Result<WrittenFaces, NotationError> {
        self.skip_spaces();
        let opened = self.at;
        self.at += 1;
        let mut own: Vec<i32> = Vec::new();
        loop {
            self.skip_spaces();
            let at = self.at;
            let low = self.listed_face()?;
            let mut high = low;
            if self.take(b'.') {
                while self.take(b'.') {}
                high = self.listed_face()?;
            } else if self.peek() == Some(b'-') {
                self.skip_spaces();
                let choices = self.alternatives(self.at, 1, &["..", ","]);
                let message = "between faces stands a comma, or two dots for a range".to_owned();
                return Err(self.refused(self.at, message, choices, "write a range as in `d{1..4}`"));
            }
            if high < low {
                let choices = self.alternatives(at, self.at - at, &[&format!("{high}..{low}")]);
                let message = format!("the range {low} to {high} is empty");
                return Err(self.refused(at, message, choices, "write the lower face first, as in `d{1..4}`"));
            }
            let mut times = 1;
            if self.take(b':') {
                times = match self.peek() {
                    Some(b'0'..=b'9') => self.number(),
                    _ => 0,
                };
                if times == 0 {
                    let message = "behind the colon the number of such faces is missing".to_owned();
                    return Err(self.error(self.at, message, "write it, as in `d{1:3,6}`".to_owned()));
                }
            }
            let more = (i64::from(high) - i64::from(low) + 1).saturating_mul(times);
            if more > (MOST_LISTED - own.len()) as i64 {
                let message = format!("at most {MOST_LISTED} faces are listed");
                return Err(self.error(at, message, "write dice and a constant, such as `d2000-1`".to_owned()));
            }
            own.extend((low..=high).flat_map(|face| std::iter::repeat_n(face, times as usize)));
            if self.take(close) {
                break;
            }
            if !self.take(b',') {
                let message = "the list of faces is not closed".to_owned();
                let closed = [format!("{}{}", self.text.trim(), char::from(close))];
                let words = "write commas between faces and close the list, as in `d[0,0,1]`";
                return Err(self.refused(opened, message, closed, words));
            }
        }
        own.sort_unstable();
        let sides = own.len() as u32;
        let plain = own.iter().zip(1..).all(|(face, number)| *face == number);
        Ok((sides, (!plain).then(|| own.into())))
    }

    /// Reads one face of a list.
    fn listed_face(&mut self) -> Result<i32, NotationError> {
        self.skip_spaces();
        let at = self.at;
        let Some(face) = self.signed(true) else {
            let message = "a face is missing here".to_owned();
            return Err(self.error(at, message, "list whole numbers, as in `d[0,0,1,1,2,3]`".to_owned()));
        };
        i32::try_from(face).ok().filter(|face| face.unsigned_abs() <= MOST_FACES).ok_or_else(|| {
            let message = format!("a face shows at most {MOST_FACES}");
            self.error(at, message, "write a smaller number".to_owned())
        })
    }

    /// Parses a number if one is next, with a sign if `sign` allows it.
    fn signed(&mut self, sign: bool) -> Option<i64> {
        self.skip_spaces();
        let negative = sign && self.text.as_bytes().get(self.at) == Some(&b'-');
        let digit = self.text.as_bytes().get(self.at + usize::from(negative)).is_some_and(u8::is_ascii_digit);
        if !digit {
            return None;
        }
        self.at += usize::from(negative);
        let number = self.number();
        Some(if negative { -number } else { number })
    }

    /// Parses the faces of a reroll, an explosion or a count, if they are next: conditions separated by commas.
    ///
    /// `sign`: true if a negative face is allowed without a comparison.
    fn faces(&mut self, pool: &DicePool, sign: bool) -> Result<Option<Faces>, NotationError> {
        let Some(first) = self.condition(pool, sign)? else { return Ok(None) };
        let mut conditions = vec![first];
        // In a group a comma may precede the next roll.
        while self.peek() == Some(b',') {
            let before = self.at;
            self.take(b',');
            match self.condition(pool, true)? {
                Some(more) => conditions.push(more),
                None if self.open > 0 => {
                    self.at = before;
                    break;
                }
                None => {
                    let message = "a face is missing after the comma".to_owned();
                    return Err(self.error(
                        self.at,
                        message,
                        "write one, as in `d6ro1,3`, or leave out the comma".to_owned(),
                    ));
                }
            }
        }
        conditions.sort_unstable();
        conditions.dedup();
        Ok(Some(Faces(conditions.into())))
    }

    fn sides(&mut self) -> Result<u32, NotationError> {
        self.skip_spaces();
        let at = self.at;
        match self.peek() {
            Some(b'%') => {
                self.at += 1;
                Ok(100)
            }
            Some(b'0'..=b'9') => {
                let number = self.number();
                match u32::try_from(number) {
                    Ok(0) => {
                        let faces = if self.digits_at(at) > 1 { "100" } else { "6" };
                        let choices = self.alternatives(at, self.digits_at(at), &[faces]);
                        let message = "a die has at least 1 face".to_owned();
                        Err(self.refused(at, message, choices, "write its number of faces, as in `d6`"))
                    }
                    Ok(sides) if sides <= MOST_FACES => Ok(sides),
                    _ => {
                        let message = format!("a die has at most {MOST_FACES} faces");
                        Err(self.error(at, message, "write fewer faces".to_owned()))
                    }
                }
            }
            _ => {
                let message = "a die needs its number of faces after `d`".to_owned();
                Err(self.error(at, message, "write `d6`, or `d%` for 100".to_owned()))
            }
        }
    }

    /// Parses one condition on the faces of a reroll or an explosion, if it is next.
    fn condition(&mut self, pool: &DicePool, sign: bool) -> Result<Option<FaceCondition>, NotationError> {
        self.skip_spaces();
        let at = self.at;
        let (low, high) = (pool.shown(1), pool.shown(pool.sides));
        let signed = low < 0
            && self.text[at..].strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let compare: fn(i32) -> FaceCondition = match self.peek() {
            Some(b'0'..=b'9') if !self.begins_dice() => FaceCondition::Exactly,
            Some(b'-') if sign && signed => FaceCondition::Exactly,
            Some(sign @ (b'<' | b'>' | b'=')) => {
                self.at += 1;
                match (sign, sign != b'=' && self.take(b'=')) {
                    (b'<', false) => FaceCondition::Under,
                    (b'<', true) => FaceCondition::AtMost,
                    (b'>', false) => FaceCondition::Over,
                    (b'>', true) => FaceCondition::AtLeast,
                    _ => FaceCondition::Exactly,
                }
            }
            _ => return Ok(None),
        };
        self.skip_spaces();
        let number_at = self.at;
        let Some(face) = self.signed(low < 0) else {
            if let Some(b'<' | b'>' | b'=') = self.peek() {
                let choices = self.alternatives(at, self.at + 1 - at, &["=", ">=", "<="]);
                let wanted = match &self.text[at..=self.at] {
                    "==" => "=",
                    "=>" => ">=",
                    "=<" => "<=",
                    _ => "",
                };
                let choices = choices.into_iter().zip(["=", ">=", "<="]).filter(|(_, sign)| *sign == wanted);
                let choices: Vec<String> = choices.map(|(choice, _)| choice).collect();
                let message = "this comparison is not known here".to_owned();
                return Err(self.refused(at, message, choices, "compare with one of < > = <= >=, as in `4d6>=5`"));
            }
            let message = "a face is missing after the comparison".to_owned();
            let cure = format!("write a number from {low} to {high}");
            return Err(self.error(self.at, message, cure));
        };
        let face = i32::try_from(face).unwrap_or(i32::MAX);
        let die = match &pool.own {
            None => format!("d{}", pool.sides),
            Some(_) => "die with these faces".to_owned(),
        };
        if !(low..=high).contains(&face) {
            let message = format!("a {die} has no face {}", self.shown(number_at));
            return Err(self.error(number_at, message, format!("write a number from {low} to {high}")));
        }
        let faces = compare(face);
        if pool.count_of(&Faces([faces].into())) == 0 {
            let message = format!("no face of a {die} is `{faces}`");
            let cure = "name at least one face, or leave it out".to_owned();
            return Err(self.error(at, message, cure));
        }
        Ok(Some(faces))
    }

    /// Parses the number of kept or dropped dice. `at`: the beginning of the word before it.
    fn keep(&mut self, keep: fn(u32) -> Keep, count: u32, at: usize) -> Result<Keep, NotationError> {
        self.skip_spaces();
        let number_at = self.at;
        let many = match self.peek() {
            Some(b'0'..=b'9') => u32::try_from(self.number()).unwrap_or(u32::MAX),
            _ => 1,
        };
        let drops = matches!(keep(0), Keep::DropHighest(_) | Keep::DropLowest(_));
        let (verb, most) = if drops { ("drop", count - 1) } else { ("keep", count) };
        if many == 0 {
            let message = format!("there is nothing to {verb}");
            return Err(self.error(number_at, message, "write 1 or more, or leave it out".to_owned()));
        }
        if many <= most {
            return Ok(keep(many));
        }
        if most == 0 {
            let message = "dropping the only die leaves none".to_owned();
            return Err(self.error(at, message, "roll more dice, or leave it out".to_owned()));
        }
        let dice = if count == 1 { "1 die".to_owned() } else { format!("{count} dice") };
        let message =
            format!("{} of {dice} cannot be {}", self.shown(number_at), if drops { "dropped" } else { "kept" });
        Err(self.error(number_at, message, format!("{verb} at most {most}")))
    }

    fn check_end_of_rerolls(&self, at: usize, pool: &DicePool, faces: &Faces) -> Result<(), NotationError> {
        let sides = pool.sides;
        let left = sides - pool.count_of(faces);
        let once = self.alternatives(at, 2, &["ro"]);
        let cure = || match once.first() {
            Some(once) => format!("write `{once}` to roll again once, or name fewer faces"),
            None => "name fewer faces".to_owned(),
        };
        if left == 0 {
            let die = if pool.own.is_some() { "die".to_owned() } else { format!("d{sides}") };
            let message = format!("rolling every face of a {die} again never ends");
            return Err(self.error(at, message, cure()));
        }
        if u64::from(left) * LEAST_SHARE_LEFT < u64::from(sides) {
            let message = format!("`rr` must leave 1 face in {LEAST_SHARE_LEFT}, and leaves {left} of {sides}");
            return Err(self.error(at, message, cure()));
        }
        Ok(())
    }

    fn check_end_of_explosions(&self, at: usize, pool: &DicePool) -> Result<(), NotationError> {
        if pool.explode.is_none() {
            return Ok(());
        }
        if pool.all_shown().any(|face| face < 0 && pool.explodes_on(face)) {
            let message = "faces below 0 do not explode".to_owned();
            return Err(self.error(at, message, "name the faces that explode, as in `3d6!6`".to_owned()));
        }
        let taken = |face: i32| matches!(&pool.reroll, Some(Reroll::While(faces)) if faces.holds(face));
        if pool.all_shown().any(|face| !taken(face) && !pool.explodes_on(face)) {
            return Ok(());
        }
        let die = if pool.own.is_some() { "die".to_owned() } else { format!("d{}", pool.sides) };
        let message = format!("each {die} would explode without end");
        Err(self.error(at, message, "leave at least one face that does not explode".to_owned()))
    }

    /// The next character that is no space, in lower case.
    fn peek(&self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        rest.iter().find(|c| !c.is_ascii_whitespace()).map(u8::to_ascii_lowercase)
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|c| c.is_ascii_whitespace()).count();
    }

    /// Skips `c` if it is next. Returns true if it was.
    fn take(&mut self, c: u8) -> bool {
        let next = self.peek() == Some(c);
        if next {
            self.skip_spaces();
            self.at += 1;
        }
        next
    }

    /// The letters at `at`.
    fn word_at(&self, at: usize) -> &'a str {
        let rest = &self.text[at..];
        &rest[..rest.bytes().take_while(u8::is_ascii_alphabetic).count()]
    }

    /// `max` or `min` if one is next, followed by a bracket.
    fn function(&self) -> Option<&'a str> {
        let rest = self.text[self.at..].trim_start();
        ["max", "min"].into_iter().find(|name| {
            let named = rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case(name));
            named && rest[3..].trim_start().starts_with('(')
        })
    }

    /// True if `d` or `dF` is next, and no other word that begins with it.
    fn begins_die(&self) -> bool {
        let rest = self.text[self.at..].trim_start();
        let word = self.word_at(self.text.len() - rest.len()).to_ascii_lowercase();
        word == "d" || word.starts_with("df")
    }

    /// True if a number of dice is next, as after the comma of `{4d6>=5,2d8}kh1`.
    fn begins_dice(&self) -> bool {
        let rest = self.text[self.at..].trim_start();
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        self.open > 0 && behind.starts_with(['d', 'D']) && !behind[1..].starts_with(['h', 'l', 'H', 'L'])
    }

    /// Parses the next digits. A number beyond an `i64` is read as the largest one.
    fn number(&mut self) -> i64 {
        self.skip_spaces();
        let digits = self.digits_at(self.at);
        let number = self.text[self.at..self.at + digits].parse().unwrap_or(i64::MAX);
        self.at += digits;
        number
    }

    fn digits_at(&self, at: usize) -> usize {
        self.text.as_bytes()[at..].iter().take_while(|c| c.is_ascii_digit()).count()
    }

    /// The number at `at` as written, or its length if it is very long.
    fn shown(&self, at: usize) -> String {
        match self.digits_at(at) {
            digits @ 0..=12 => self.text[at..at + digits].to_owned(),
            digits => format!("a number of {digits} digits"),
        }
    }

    /// The term around `at`, without spaces, with `length` characters at `at` replaced by `by`.
    fn rewritten(&self, at: usize, length: usize, by: &str) -> String {
        let is_sign = |c: char| c == '+' || c == '-';
        let start = self.text[..at].rfind(is_sign).map_or(0, |i| i + 1);
        let end = self.text[at + length..].find(is_sign).map_or(self.text.len(), |i| at + length + i);
        squeezed(&self.text[start..at], by, &self.text[at + length..end]).unwrap_or_default()
    }

    /// The whole text, without spaces, with `length` characters at `at` replaced by `by`.
    fn whole(&self, at: usize, length: usize, by: &str) -> String {
        squeezed(&self.text[..at], by, &self.text[at + length..]).unwrap_or_default()
    }

    /// The valid texts among: the term around `at`, or else the whole text, with `length` characters at `at` replaced
    /// by one of these.
    fn alternatives(&self, at: usize, length: usize, by: &[&str]) -> Vec<String> {
        if !self.suggests {
            return Vec::new();
        }
        let readable = |by: &&str| {
            let choices = [self.rewritten(at, length, by), self.whole(at, length, by)];
            choices.into_iter().find(|choice| NotationReader::reads(choice))
        };
        by.iter().filter_map(readable).collect()
    }

    /// A refusal that suggests the valid texts among `writes`, or else gives the advice `words`.
    fn refused(
        &self,
        at: usize,
        message: String,
        writes: impl IntoIterator<Item = String>,
        words: &str,
    ) -> NotationError {
        let writes = writes.into_iter().filter(|_| self.suggests);
        match dialect::cure(writes, NotationReader::reads) {
            Some(cure) => NotationError { suggested: Suggested::Meaning, ..self.error(at, message, cure) },
            None => self.error(at, message, words.to_owned()),
        }
    }

    /// A refusal of an unknown word. If only words follow, as in `2d6 fire damage`, it suggests the text before them; a
    /// short word directly after dice is an operation of another program instead.
    fn left_out(&self, at: usize, word: &str, words: &str) -> NotationError {
        let message = format!("`{word}` is not known here");
        let (before, rest) = self.text.split_at(at);
        let only_words = rest.bytes().all(|c| c.is_ascii_alphabetic() || c.is_ascii_whitespace());
        let apart = before.ends_with(|c: char| c.is_ascii_whitespace()) || word.len() >= SHORTEST_WORD;
        let dice = before.contains(['d', 'D']);
        let choice = (only_words && apart && dice).then(|| self.whole(at, rest.len(), ""));
        let mut error = self.refused(at, message, choice, words);
        if error.suggested == Suggested::Meaning {
            error.suggested = Suggested::LeavingOut;
        }
        error
    }

    fn error(&self, at: usize, message: String, cure: String) -> NotationError {
        NotationError { text: self.text.to_owned(), column: at + 1, message, cure, suggested: Suggested::Nothing }
    }

    /// Refuses a repeated operation. Suggests the term without the second.
    fn twice(&self, start: usize, at: usize, message: &str, example: &str) -> NotationError {
        let first: String = self.text[start..at].split_ascii_whitespace().collect();
        self.refused(at, message.to_owned(), [first], &format!("write it once, as in `{example}`"))
    }

    fn too_large(&self, at: usize) -> NotationError {
        let message = format!("a constant is at most {LARGEST_CONSTANT}");
        self.error(at, message, "write a smaller number".to_owned())
    }

    /// Refuses the next character, where a number, dice or the end is expected.
    fn unexpected(&mut self) -> NotationError {
        self.skip_spaces();
        let Some(&c) = self.text.as_bytes().get(self.at) else {
            let message = "the expression breaks off".to_owned();
            return self.error(self.text.trim_end().len(), message, "end it with a number or dice".to_owned());
        };
        let c = char::from(c);
        let (message, cure) = match c {
            '(' => {
                let choices = self.alternatives(self.at, 0, &["*"]);
                let message = "a sign is missing before this bracket".to_owned();
                return self.refused(self.at, message, choices, "write a star before it, as in `2*(d6+1)`");
            }
            ')' if self.open > 0 => {
                ("a number or dice should stand before this bracket".to_owned(), "write a sum in it, as in `2*(d6+1)`")
            }
            ')' => ("no bracket is open here".to_owned(), "leave it out, or open it before the sum, as in `2*(d6+1)`"),
            '[' | ']' | '{' | '}' => (
                format!("`{c}` is not known here"),
                "write faces of a die behind its d, as in `d[0,0,1]`, and sums in round brackets, as in `2*(d6+1)`",
            ),
            '/' => ("there is no division".to_owned(), "divide the total afterwards"),
            '^' => ("there are no powers".to_owned(), "write a product, such as `2*d6`"),
            '0'..='9' => ("two numbers stand side by side".to_owned(), "put a sign between them, as in `2d6+3`"),
            '+' | '-' | '*' => {
                (format!("a number or dice should stand before `{c}`"), "write one sign only, as in `2d6+1`")
            }
            '<' | '>' | '=' | '!' => (
                "only dice are compared with faces and explode".to_owned(),
                "write it right behind the dice, as in `4d6>=5`",
            ),
            '.' | ',' => (
                format!("`{c}` is not known here: numbers are whole, and one total is rolled"),
                "write a sum, such as `2d6+1`",
            ),
            '`' => ("a backtick is not known here".to_owned(), "leave it out"),
            _ if c.is_ascii_alphabetic() => {
                let word = self.word_at(self.at);
                let words = "write only dice and numbers, such as `2d6+1`";
                return self.left_out(self.at, word, words);
            }
            _ => (format!("`{c}` is not known here"), "write a sum of dice and numbers, such as `2d6+1`"),
        };
        self.error(self.at, message, cure.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Dice::parse(text).map(|dice| dice.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn a_refusal_has_a_place_and_a_correction() {
        for (text, said) in [
            (
                "4d6r1",
                "column 4: `r` alone can mean two things (roll again once or as long as needed); write `4d6ro1` or `4d6rr1`",
            ),
            (
                "1 + 4d6 k3",
                "column 9: `k` alone can mean two things (keep the highest or the lowest); write `4d6kh3` or `4d6kl3`",
            ),
            (
                "4d6d1-1",
                "column 4: `d` alone can mean two things (drop the highest or the lowest); write `4d6dh1` or `4d6dl1`",
            ),
            ("0d6", "column 1: there is no die in it; write `1d6`"),
            ("2+0d00kh1-1", "column 3: there is no die in it; write `1d6kh1`"),
            ("3d0", "column 3: a die has at least 1 face; write `3d6`"),
            ("999999999d6", "column 1: an expression has at most 10000 dice; roll fewer dice"),
            ("5000d6+5001d6", "column 8: an expression has at most 10000 dice; roll fewer dice"),
            ("99999999999999999999d6", "column 1: an expression has at most 10000 dice; roll fewer dice"),
            ("d1000001", "column 2: a die has at most 1000000 faces; write fewer faces"),
            ("", "column 1: there is nothing to roll; write dice, such as `2d6+1`"),
            (" \n", "column 1: there is nothing to roll; write dice, such as `2d6+1`"),
            ("2d6 please", "column 5: `please` is not known here; write `2d6`"),
            ("2d6 3", "column 5: two numbers stand side by side; put a sign between them, as in `2d6+3`"),
            ("2d6+", "column 5: the expression breaks off; end it with a number or dice"),
            ("2d6++1", "column 5: a number or dice should stand before `+`; write one sign only, as in `2d6+1`"),
            ("d", "column 2: a die needs its number of faces after `d`; write `d6`, or `d%` for 100"),
            (
                "d6rr<=6",
                "column 3: rolling every face of a d6 again never ends; write `d6ro<=6` to roll again once, or name fewer faces",
            ),
            (
                "d1000rr<1000",
                "column 6: `rr` must leave 1 face in 100, and leaves 1 of 1000; write `d1000ro<1000` to roll again once, or name fewer faces",
            ),
            (
                "d1rr1",
                "column 3: rolling every face of a d1 again never ends; write `d1ro1` to roll again once, or name fewer faces",
            ),
            ("d6!>=1", "column 1: each d6 would explode without end; leave at least one face that does not explode"),
            ("2+d6rr<6!", "column 3: each d6 would explode without end; leave at least one face that does not explode"),
            ("d6ro7", "column 5: a d6 has no face 7; write a number from 1 to 6"),
            ("d6ro<1", "column 5: no face of a d6 is `<1`; name at least one face, or leave it out"),
            ("d6ro", "column 5: it does not say which faces to roll again; write `d6ro1`"),
            ("d6!>", "column 5: a face is missing after the comparison; write a number from 1 to 6"),
            ("d6!!", "column 4: a pool explodes in one way only; write `d6!`"),
            ("d6ro1rr2", "column 6: a pool is rerolled in one way only; write `d6ro1`"),
            ("4d6kh3dl1", "column 7: dice of a pool are kept or dropped once only; write `4d6kh3`"),
            ("4d6kh5", "column 6: 5 of 4 dice cannot be kept; keep at most 4"),
            ("4d6dl4", "column 6: 4 of 4 dice cannot be dropped; drop at most 3"),
            ("4d6kh0", "column 6: there is nothing to keep; write 1 or more, or leave it out"),
            ("d6dl", "column 3: dropping the only die leaves none; roll more dice, or leave it out"),
            ("(2d6", "column 1: this bracket is not closed; write `(2d6)`"),
            ("2d6)", "column 4: no bracket is open here; leave it out, or open it before the sum, as in `2*(d6+1)`"),
            ("2(d6)", "column 2: a sign is missing before this bracket; write `2*(d6)`"),
            (
                "2*()",
                "column 4: a number or dice should stand before this bracket; write a sum in it, as in `2*(d6+1)`",
            ),
            (
                "(d6+1)kh1",
                "column 7: brackets hold a sum, and only dice take what follows here; write it behind the dice, as in `(2d6kh1+1)*2`",
            ),
            (
                "(d6+d8)kh1",
                "column 8: some programs keep single dice of this sum, and others its total; write `{d6,d8}kh1`",
            ),
            ("(d6)*(d8)", "column 6: dice are multiplied by dice; multiply by a constant, as in `2*d6`"),
            ("50000*(3*d6)", "column 1: dice are multiplied by more than 100000; write a smaller factor"),
            ("(6000d6)+(5000d6)", "column 11: an expression has at most 10000 dice; roll fewer dice"),
            ("d[0,,1]", "column 5: a face is missing here; list whole numbers, as in `d[0,0,1,1,2,3]`"),
            ("d[]", "column 3: a face is missing here; list whole numbers, as in `d[0,0,1,1,2,3]`"),
            ("d[0,1", "column 2: the list of faces is not closed; write `d[0,1]`"),
            ("d[0,5]!3", "column 8: no face of a die with these faces is `3`; name at least one face, or leave it out"),
            (
                "d[2,2]rr2",
                "column 7: rolling every face of a die again never ends; write `d[2,2]ro2` to roll again once, or name fewer faces",
            ),
            ("4d6>=5<=2", "column 7: successes of a pool are counted in one way only; write `4d6>=5`"),
            (
                "4d6kh3>=5",
                "column 1: a pool either keeps dice or counts successes; leave out what is kept or dropped, or what is counted",
            ),
            ("4d6>=7", "column 6: a d6 has no face 7; write a number from 1 to 6"),
            (
                "d6ro1,",
                "column 7: a face is missing after the comma; write one, as in `d6ro1,3`, or leave out the comma",
            ),
            (
                "d6rr1,>=2",
                "column 3: rolling every face of a d6 again never ends; write `d6ro1,>=2` to roll again once, or name fewer faces",
            ),
            ("2d6/2", "column 4: there is no division; divide the total afterwards"),
            ("2d6x2", "column 4: `x` can mean two things (multiply, or explode); write `2d6*2` or `2d6!2`"),
            ("d6*d6", "column 4: dice are multiplied by dice; multiply by a constant, as in `2*d6`"),
            (
                "1.5",
                "column 2: `.` is not known here: numbers are whole, and one total is rolled; write a sum, such as `2d6+1`",
            ),
            ("1000000001", "column 1: a constant is at most 1000000000; write a smaller number"),
            ("d6+99999*99999", "column 4: a constant is at most 1000000000; write a smaller number"),
            ("1000000000+1", "column 12: a constant is at most 1000000000; write a smaller number"),
            ("100001*d6", "column 1: dice are multiplied by more than 100000; write a smaller factor"),
            ("2d6\u{2212}1", "column 4: `\u{2212}` is no part of the notation; write `2d6-1`"),
            (
                "\u{fc}d6",
                "column 1: `\u{fc}` is no part of the notation; use plain letters, digits and signs, such as `2d6+1`",
            ),
            (
                "d6\u{7}",
                "column 3: `\\u{7}` is no part of the notation; use plain letters, digits and signs, such as `2d6+1`",
            ),
        ] {
            assert_eq!(refusal(text), said, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_refused_without_parsing() {
        assert!(Dice::parse(&format!("d6{}", "+1".repeat(499))).is_ok());
        let error = Dice::parse(&"(".repeat(100_000)).unwrap_err();
        assert_eq!((error.column, error.message.as_str()), (1_001, "an expression has at most 1000 characters"));
        let grows = format!("d%{}", "+d%".repeat(300));
        let said = "an expression has at most 1000 characters in full; roll it in parts";
        assert_eq!(refusal(&grows), format!("column 903: {said}"));
        let digits = format!("4d6kh{}", "9".repeat(900));
        assert_eq!(refusal(&digits), "column 6: a number of 900 digits of 4 dice cannot be kept; keep at most 4");
    }
}
