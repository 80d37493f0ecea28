use std::sync::Arc;

use super::notation::{Dice, NotationError, Term};
use super::pool::{Condition, Faces, Keep, Pool, Reroll};

/// The longest expression that is read, in characters.
const LONGEST: usize = 1_000;
/// The most dice in one expression.
const MOST_DICE: u32 = 10_000;
/// The most faces of one die.
const MOST_FACES: u32 = 1_000_000;
/// The largest constant, either sign. With the other limits it keeps every total well inside an `i64`.
const LARGEST_CONSTANT: i64 = 1_000_000_000;
/// The largest number that dice are multiplied by, either sign.
const LARGEST_FACTOR: i64 = 100_000;
/// The most brackets inside each other.
const DEEPEST: u32 = 20;
/// One face in so many has to be left by `rr`, so that a die comes to rest soon.
const LEAST_SHARE_LEFT: u64 = 100;

/// Reads an expression from left to right. The text is ASCII, so that a byte is a column.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Dice that were read so far.
    rolled: u32,
    /// Brackets that are open.
    open: u32,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Result<Reader<'a>, NotationError> {
        let refuse = |column, message: String, cure: &str| {
            Err(NotationError { text: text.to_owned(), column, message, cure: cure.to_owned() })
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
            let cure = match c {
                '\u{2010}'..='\u{2015}' | '\u{2212}' => "write `-`",
                '\u{d7}' | '\u{b7}' | '\u{22c5}' => "write `*`",
                '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{feff}' => "write a plain space, or nothing",
                '\u{2264}' => "write `<=`",
                '\u{2265}' => "write `>=`",
                _ => "use plain letters, digits and signs, such as `2d6+1`",
            };
            return refuse(i + 1, format!("`{}` is no part of the notation", c.escape_debug()), cure);
        }
        Ok(Reader { text, at: 0, rolled: 0, open: 0 })
    }

    /// Reads the whole text.
    pub fn expression(mut self) -> Result<Dice, NotationError> {
        let dice = self.sum()?;
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        // The canonical text has to be readable, too, and `d%` becomes `d100`.
        if self.text.len() > LONGEST / 2 && dice.to_string().len() > LONGEST {
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
            return Err(self.error(opened, "this bracket is not closed".to_owned(), "write `)` at its end".to_owned()));
        }
        self.open -= 1;
        if let Some(b'k' | b'd' | b'r' | b'!' | b'<' | b'>' | b'=') = self.peek() {
            let message = "brackets hold a sum, and only dice take what follows here".to_owned();
            self.skip_spaces();
            return Err(self.error(self.at, message, "write it behind the dice, as in `(2d6kh1+1)*2`".to_owned()));
        }
        Ok(dice)
    }

    /// Reads `+` or `-` if one is next; true for `-`.
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

    /// Reads factors, of which one may hold dice, and adds them to `dice`.
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
                Some(b'0'..=b'9') => {
                    let number = self.number();
                    if self.peek() == Some(b'd') {
                        self.dice(Some(number), factor_at)?
                    } else {
                        Dice { terms: Vec::new(), constant: number }
                    }
                }
                Some(b'd') => self.dice(None, factor_at)?,
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
                for Term { times: own, pool } in terms {
                    let times = own.saturating_mul(times);
                    if times.abs() > LARGEST_FACTOR {
                        let message = format!("dice are multiplied by more than {LARGEST_FACTOR}");
                        return Err(self.error(start, message, "write a smaller factor".to_owned()));
                    }
                    dice.terms.push(Term { times, pool });
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

    /// Reads a pool whose `d` is next.
    fn dice(&mut self, count: Option<i64>, start: usize) -> Result<Dice, NotationError> {
        self.take(b'd');
        let pool = self.pool(count, start)?;
        self.rolled += pool.count;
        Ok(Dice { terms: vec![Term { times: 1, pool }], constant: 0 })
    }

    /// Reads what follows the `d` of a pool: its faces and what is done to it. `start` is where its term began.
    fn pool(&mut self, count: Option<i64>, start: usize) -> Result<Pool, NotationError> {
        let count = count.unwrap_or(1);
        if count == 0 {
            // Of `0d0` both numbers are wrong.
            let faces = self.digits_at(self.at);
            let cure = match self.text[self.at..self.at + faces].parse::<i64>() {
                Ok(0) => self.rewritten(start, self.at + faces - start, "1d6"),
                _ => self.rewritten(start, self.digits_at(start), "1"),
            };
            return Err(self.error(start, "there is no die in it".to_owned(), format!("write `{cure}`")));
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
            _ => (self.sides()?, None),
        };
        let mut pool = Pool { count, sides, own, reroll: None, explode: None, keep: None, successes: None };
        loop {
            self.skip_spaces();
            let at = self.at;
            match self.peek() {
                Some(b'!') => {
                    self.at += 1;
                    if pool.explode.is_some() {
                        return Err(self.twice(at, "a pool explodes in one way only", "!"));
                    }
                    let faces = match self.faces(&pool)? {
                        Some(faces) => faces,
                        None => Faces([Condition::Exactly(pool.shown(sides))].into()),
                    };
                    pool.explode = Some(faces);
                }
                Some(b'<' | b'>' | b'=') => {
                    if pool.successes.is_some() {
                        return Err(self.twice(at, "successes of a pool are counted in one way only", ">=5"));
                    }
                    pool.successes = self.faces(&pool)?;
                }
                Some(b'r') => {
                    let once = match self.letter_after(at) {
                        Some(b'o') => true,
                        Some(b'r') => false,
                        _ => {
                            return Err(self.bare(at, "r", "roll again once or as long as needed", ["ro", "rr"]));
                        }
                    };
                    self.at = at + 2;
                    if pool.reroll.is_some() {
                        return Err(self.twice(at, "a pool is rerolled in one way only", "ro<=2"));
                    }
                    let Some(faces) = self.faces(&pool)? else {
                        let cure = format!("write `{}`", self.rewritten(at + 2, 0, "1"));
                        return Err(self.error(self.at, "it does not say which faces to roll again".to_owned(), cure));
                    };
                    if !once {
                        self.check_end_of_rerolls(at, &pool, &faces)?;
                    }
                    pool.reroll = Some(if once { Reroll::Once(faces) } else { Reroll::While(faces) });
                }
                Some(letter @ (b'k' | b'd')) => {
                    let keep: fn(u32) -> Keep = match (letter, self.letter_after(at)) {
                        (b'k', Some(b'h')) => Keep::Highest,
                        (b'k', Some(b'l')) => Keep::Lowest,
                        (b'd', Some(b'h')) => Keep::DropHighest,
                        (b'd', Some(b'l')) => Keep::DropLowest,
                        (b'k', _) => {
                            return Err(self.bare(at, "k", "keep the highest or the lowest", ["kh", "kl"]));
                        }
                        _ => {
                            return Err(self.bare(at, "d", "drop the highest or the lowest", ["dh", "dl"]));
                        }
                    };
                    self.at = at + 2;
                    if pool.keep.is_some() {
                        return Err(self.twice(at, "dice of a pool are kept or dropped once only", "kh2"));
                    }
                    pool.keep = Some(self.keep(keep, count, at)?);
                }
                _ => break,
            }
        }
        self.check_end_of_explosions(start, &pool)?;
        if pool.keep.is_some() && pool.successes.is_some() {
            let message = "a pool either keeps dice or counts successes".to_owned();
            return Err(self.error(start, message, "leave out kh, kl, dh or dl, or what is counted".to_owned()));
        }
        Ok(pool)
    }

    /// Reads a list of faces in brackets, `[0,0,1,1,2,3]`: how many there are, and the list unless it is 1, 2, 3...
    #[allow(clippy::type_complexity)] // two values of a pool
    fn own_faces(&mut self, close: u8) -> Result<(u32, Option<Arc<[u32]>>), NotationError> {
        self.skip_spaces();
        let opened = self.at;
        self.at += 1;
        let mut own: Vec<u32> = Vec::new();
        loop {
            self.skip_spaces();
            let at = self.at;
            let Some(b'0'..=b'9') = self.peek() else {
                let message = "a face is missing here".to_owned();
                return Err(self.error(at, message, "list whole numbers from 0 on, as in `d[0,0,1,1,2,3]`".to_owned()));
            };
            match u32::try_from(self.number()) {
                Ok(face) if face <= MOST_FACES => own.push(face),
                _ => {
                    let message = format!("a face shows at most {MOST_FACES}");
                    return Err(self.error(at, message, "write a smaller number".to_owned()));
                }
            }
            if self.take(close) {
                break;
            }
            if !self.take(b',') {
                let message = "the list of faces is not closed".to_owned();
                let cure = format!("write `,` between faces and `{}` at the end", char::from(close));
                return Err(self.error(opened, message, cure));
            }
        }
        own.sort_unstable();
        let sides = own.len() as u32;
        let plain = own.iter().zip(1..).all(|(face, number)| *face == number);
        Ok((sides, (!plain).then(|| own.into())))
    }

    /// Reads the faces that a reroll, an explosion or a count is for, if they are next: conditions with commas between.
    fn faces(&mut self, pool: &Pool) -> Result<Option<Faces>, NotationError> {
        let Some(first) = self.condition(pool)? else { return Ok(None) };
        let mut conditions = vec![first];
        while self.take(b',') {
            match self.condition(pool)? {
                Some(more) => conditions.push(more),
                None => {
                    let message = "a face is missing after the comma".to_owned();
                    return Err(self.error(
                        self.at,
                        message,
                        "write one, as in `ro1,3`, or leave out the comma".to_owned(),
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
                        let cure = format!("write `{}`", self.rewritten(at, self.digits_at(at), "6"));
                        Err(self.error(at, "a die has at least 1 face".to_owned(), cure))
                    }
                    Ok(sides) if sides <= MOST_FACES => Ok(sides),
                    _ => {
                        let message = format!("a die has at most {MOST_FACES} faces");
                        Err(self.error(at, message, "write fewer faces".to_owned()))
                    }
                }
            }
            Some(b'f') => {
                let message = "`dF` is not known here".to_owned();
                Err(self.error(at, message, "write `d3-2` for one such die, `4d3-8` for four".to_owned()))
            }
            _ => {
                let message = "a die needs its number of faces after `d`".to_owned();
                Err(self.error(at, message, "write `d6`, or `d%` for 100".to_owned()))
            }
        }
    }

    /// Reads the faces that a reroll or an explosion is for, if they are next.
    fn condition(&mut self, pool: &Pool) -> Result<Option<Condition>, NotationError> {
        self.skip_spaces();
        let at = self.at;
        let compare: fn(u32) -> Condition = match self.peek() {
            Some(b'0'..=b'9') => Condition::Exactly,
            Some(sign @ (b'<' | b'>' | b'=')) => {
                self.at += 1;
                match (sign, sign != b'=' && self.take(b'=')) {
                    (b'<', false) => Condition::Under,
                    (b'<', true) => Condition::AtMost,
                    (b'>', false) => Condition::Over,
                    (b'>', true) => Condition::AtLeast,
                    _ => Condition::Exactly,
                }
            }
            _ => return Ok(None),
        };
        let (low, high) = (pool.shown(1), pool.shown(pool.sides));
        let Some(b'0'..=b'9') = self.peek() else {
            let message = "a face is missing after the comparison".to_owned();
            let cure = format!("write a number from {low} to {high}");
            return Err(self.error(self.at, message, cure));
        };
        self.skip_spaces();
        let number_at = self.at;
        let face = u32::try_from(self.number()).unwrap_or(u32::MAX);
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

    /// Reads how many dice are kept or dropped; `at` is where the word for it began.
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

    fn check_end_of_rerolls(&self, at: usize, pool: &Pool, faces: &Faces) -> Result<(), NotationError> {
        let sides = pool.sides;
        let left = sides - pool.count_of(faces);
        let cure = || format!("write `{}` to roll again once, or name fewer faces", Reroll::Once(faces.clone()));
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

    fn check_end_of_explosions(&self, at: usize, pool: &Pool) -> Result<(), NotationError> {
        if pool.explode.is_none() {
            return Ok(());
        }
        let taken = |face: u32| matches!(&pool.reroll, Some(Reroll::While(faces)) if faces.holds(face));
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

    /// Reads `c` if it is next.
    fn take(&mut self, c: u8) -> bool {
        let next = self.peek() == Some(c);
        if next {
            self.skip_spaces();
            self.at += 1;
        }
        next
    }

    /// The character right behind `at`, in lower case.
    fn letter_after(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at + 1).map(u8::to_ascii_lowercase)
    }

    /// Reads the digits that are next; what is beyond an `i64` is read as its largest number.
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

    /// The number at `at` as it was written, or its length if it is very long.
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
        let term = format!("{}{by}{}", &self.text[start..at], &self.text[at + length..end]);
        term.split_ascii_whitespace().collect()
    }

    fn error(&self, at: usize, message: String, cure: String) -> NotationError {
        NotationError { text: self.text.to_owned(), column: at + 1, message, cure }
    }

    fn bare(&self, at: usize, word: &str, doubt: &str, choices: [&str; 2]) -> NotationError {
        let [first, second] = choices.map(|choice| self.rewritten(at, 1, choice));
        let message = format!("`{word}` alone can mean two things ({doubt})");
        self.error(at, message, format!("write `{first}` or `{second}`"))
    }

    fn twice(&self, at: usize, message: &str, example: &str) -> NotationError {
        self.error(at, message.to_owned(), format!("write it once, such as `{example}`"))
    }

    fn too_large(&self, at: usize) -> NotationError {
        let message = format!("a constant is at most {LARGEST_CONSTANT}");
        self.error(at, message, "write a smaller number".to_owned())
    }

    /// Says what is wrong with the next character, where a number, dice or the end could stand.
    fn unexpected(&mut self) -> NotationError {
        self.skip_spaces();
        let Some(&c) = self.text.as_bytes().get(self.at) else {
            let message = "the expression breaks off".to_owned();
            return self.error(self.text.trim_end().len(), message, "end it with a number or dice".to_owned());
        };
        let c = char::from(c);
        let (message, cure) = match c {
            '(' => ("a sign is missing before this bracket".to_owned(), "write `*` before it, as in `2*(d6+1)`"),
            ')' if self.open > 0 => {
                ("a number or dice should stand before this bracket".to_owned(), "write a sum in it, as in `2*(d6+1)`")
            }
            ')' => ("no bracket is open here".to_owned(), "leave it out, or write `(` before the sum"),
            '[' | ']' | '{' | '}' => (
                format!("`{c}` is not known here"),
                "write faces of a die behind its `d`, as in `d[0,0,1]`, sums in `(` and `)`",
            ),
            '/' => ("there is no division".to_owned(), "divide the total afterwards"),
            'x' | 'X' => (format!("`{c}` is not known here"), "write `*` to multiply"),
            '0'..='9' => ("two numbers stand side by side".to_owned(), "put `+`, `-`, `*` or `d` between them"),
            '+' | '-' | '*' => {
                (format!("a number or dice should stand before `{c}`"), "write one sign only, as in `2d6+1`")
            }
            '.' | ',' => (format!("`{c}` is not known here: numbers are whole"), "write a whole number"),
            '`' => ("a backtick is not known here".to_owned(), "leave it out"),
            _ if c.is_ascii_alphabetic() => {
                (format!("`{c}` is not known here"), "write `d` for dice and kh, kl, dh, dl, ro, rr or ! behind them")
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
    fn a_refusal_says_where_and_what_to_write() {
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
            (
                "2d6 please",
                "column 5: `p` is not known here; write `d` for dice and kh, kl, dh, dl, ro, rr or ! behind them",
            ),
            ("2d6 3", "column 5: two numbers stand side by side; put `+`, `-`, `*` or `d` between them"),
            ("2d6+", "column 5: the expression breaks off; end it with a number or dice"),
            ("2d6++1", "column 5: a number or dice should stand before `+`; write one sign only, as in `2d6+1`"),
            ("d", "column 2: a die needs its number of faces after `d`; write `d6`, or `d%` for 100"),
            ("4dF", "column 3: `dF` is not known here; write `d3-2` for one such die, `4d3-8` for four"),
            (
                "d6rr<=6",
                "column 3: rolling every face of a d6 again never ends; write `ro<=6` to roll again once, or name fewer faces",
            ),
            (
                "d1000rr<1000",
                "column 6: `rr` must leave 1 face in 100, and leaves 1 of 1000; write `ro<1000` to roll again once, or name fewer faces",
            ),
            (
                "d1rr1",
                "column 3: rolling every face of a d1 again never ends; write `ro1` to roll again once, or name fewer faces",
            ),
            ("d6!>=1", "column 1: each d6 would explode without end; leave at least one face that does not explode"),
            ("2+d6rr<6!", "column 3: each d6 would explode without end; leave at least one face that does not explode"),
            ("d6ro7", "column 5: a d6 has no face 7; write a number from 1 to 6"),
            ("d6ro<1", "column 5: no face of a d6 is `<1`; name at least one face, or leave it out"),
            ("d6ro", "column 5: it does not say which faces to roll again; write `d6ro1`"),
            ("d6!>", "column 5: a face is missing after the comparison; write a number from 1 to 6"),
            ("d6!!", "column 4: a pool explodes in one way only; write it once, such as `!`"),
            ("d6ro1rr2", "column 6: a pool is rerolled in one way only; write it once, such as `ro<=2`"),
            ("4d6kh3dl1", "column 7: dice of a pool are kept or dropped once only; write it once, such as `kh2`"),
            ("4d6kh5", "column 6: 5 of 4 dice cannot be kept; keep at most 4"),
            ("4d6dl4", "column 6: 4 of 4 dice cannot be dropped; drop at most 3"),
            ("4d6kh0", "column 6: there is nothing to keep; write 1 or more, or leave it out"),
            ("d6dl", "column 3: dropping the only die leaves none; roll more dice, or leave it out"),
            ("(2d6", "column 1: this bracket is not closed; write `)` at its end"),
            ("2d6)", "column 4: no bracket is open here; leave it out, or write `(` before the sum"),
            ("2(d6)", "column 2: a sign is missing before this bracket; write `*` before it, as in `2*(d6+1)`"),
            (
                "2*()",
                "column 4: a number or dice should stand before this bracket; write a sum in it, as in `2*(d6+1)`",
            ),
            (
                "(d6+d8)kh1",
                "column 8: brackets hold a sum, and only dice take what follows here; write it behind the dice, as in `(2d6kh1+1)*2`",
            ),
            ("(d6)*(d8)", "column 6: dice are multiplied by dice; multiply by a constant, as in `2*d6`"),
            ("50000*(3*d6)", "column 1: dice are multiplied by more than 100000; write a smaller factor"),
            ("(6000d6)+(5000d6)", "column 11: an expression has at most 10000 dice; roll fewer dice"),
            ("d[0,,1]", "column 5: a face is missing here; list whole numbers from 0 on, as in `d[0,0,1,1,2,3]`"),
            ("d[]", "column 3: a face is missing here; list whole numbers from 0 on, as in `d[0,0,1,1,2,3]`"),
            ("d[0,1", "column 2: the list of faces is not closed; write `,` between faces and `]` at the end"),
            ("d[-1,0,1]", "column 3: a face is missing here; list whole numbers from 0 on, as in `d[0,0,1,1,2,3]`"),
            ("d[0,5]!3", "column 8: no face of a die with these faces is `3`; name at least one face, or leave it out"),
            (
                "d[2,2]rr2",
                "column 7: rolling every face of a die again never ends; write `ro2` to roll again once, or name fewer faces",
            ),
            ("4d6>=5<=2", "column 7: successes of a pool are counted in one way only; write it once, such as `>=5`"),
            (
                "4d6kh3>=5",
                "column 1: a pool either keeps dice or counts successes; leave out kh, kl, dh or dl, or what is counted",
            ),
            ("4d6>=7", "column 6: a d6 has no face 7; write a number from 1 to 6"),
            ("d6ro1,", "column 7: a face is missing after the comma; write one, as in `ro1,3`, or leave out the comma"),
            (
                "d6rr1,>=2",
                "column 3: rolling every face of a d6 again never ends; write `ro1,>=2` to roll again once, or name fewer faces",
            ),
            ("2d6/2", "column 4: there is no division; divide the total afterwards"),
            ("2d6x2", "column 4: `x` is not known here; write `*` to multiply"),
            ("d6*d6", "column 4: dice are multiplied by dice; multiply by a constant, as in `2*d6`"),
            ("1.5", "column 2: `.` is not known here: numbers are whole; write a whole number"),
            ("1000000001", "column 1: a constant is at most 1000000000; write a smaller number"),
            ("d6+99999*99999", "column 4: a constant is at most 1000000000; write a smaller number"),
            ("1000000000+1", "column 12: a constant is at most 1000000000; write a smaller number"),
            ("100001*d6", "column 1: dice are multiplied by more than 100000; write a smaller factor"),
            ("2d6\u{2212}1", "column 4: `\u{2212}` is no part of the notation; write `-`"),
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
    fn a_long_text_is_refused_unread() {
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
