//! Reading compiled scripts for the longest stretch of work without a safepoint.
//!
//! The engine counts loop edges, calls and returns. Between two of them, an operation on a long text takes up to a fraction of
//! a millisecond, and a file has room for tens of thousands of them: so many in a row that nothing could stop them are
//! refused when the file is read.

/// Operations in a row that may take long each: arithmetic and comparison (of long texts), joining, built-in functions.
const MOST_IN_A_ROW: u32 = 400;

/// Why a script is refused, and the line where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    pub line: u32,
    pub message: String,
}

/// Checks every function of a compiled script.
///
/// # Errors
///
/// A function has too many operations in a row, or the engine's format is another one than this was written for.
pub(super) fn check(code: &[u8]) -> Result<(), TooLong> {
    let unread = || TooLong { line: 1, message: "the compiled script cannot be read".into() };
    let mut reader = Reader { bytes: code };
    check_all(&mut reader).ok_or_else(unread)?
}

fn check_all(reader: &mut Reader<'_>) -> Option<Result<(), TooLong>> {
    let version = reader.byte()?;
    if !VERSIONS.contains(&version) {
        return None;
    }
    let types = reader.byte()?;
    for _ in 0..reader.number()? {
        let length = reader.number()?;
        reader.skip(length)?;
    }
    if types == 3 {
        while reader.byte()? != 0 {
            reader.number()?;
        }
    }
    for _ in 0..reader.number()? {
        if let Err(long) = function(reader, version)? {
            return Some(Err(long));
        }
    }
    Some(Ok(()))
}

/// Versions of the format whose functions look like this.
const VERSIONS: std::ops::RangeInclusive<u8> = 4..=11;

fn function(reader: &mut Reader<'_>, version: u8) -> Option<Result<(), TooLong>> {
    // Registers, parameters, captured names, whether it takes more arguments, flags.
    reader.skip(5)?;
    let types = reader.number()?;
    reader.skip(types)?;
    let length = reader.number()?;
    let mut code = Vec::new();
    for _ in 0..length {
        code.push(reader.word()?);
    }
    for _ in 0..reader.number()? {
        constant(reader)?;
    }
    for _ in 0..reader.number()? {
        reader.number()?;
    }
    let (count, at) = longest_stretch(&code)?;
    let defined = reader.number()?;
    // Its name.
    reader.number()?;
    let mut line = u32::try_from(defined).ok()?;
    if reader.byte()? != 0 {
        let gap = reader.byte()?;
        let intervals = (length.checked_sub(1)? >> gap) + 1;
        let offsets = reader.take(length)?;
        let mut base = 0_u32;
        let offset = offsets.iter().take(at + 1).fold(0_u8, |sum, step| sum.wrapping_add(*step));
        for interval in 0..intervals {
            let step = reader.word()?;
            if interval <= at >> gap {
                base = base.wrapping_add(step);
            }
        }
        line = base.wrapping_add(u32::from(offset));
    }
    if reader.byte()? != 0 {
        for _ in 0..reader.number()? {
            for _ in 0..3 {
                reader.number()?;
            }
            reader.byte()?;
        }
        for _ in 0..reader.number()? {
            reader.number()?;
        }
    }
    if version >= 11 {
        for _ in 0..reader.number()? {
            reader.byte()?;
            reader.number()?;
        }
    }
    if count <= MOST_IN_A_ROW {
        return Some(Ok(()));
    }
    let message =
        format!("more than {MOST_IN_A_ROW} operations in a row without a call or a loop; put parts into functions");
    Some(Err(TooLong { line, message }))
}

fn constant(reader: &mut Reader<'_>) -> Option<()> {
    match reader.byte()? {
        0 => {}
        1 => reader.skip(1)?,
        2 => reader.skip(8)?,
        3 | 6 => drop(reader.number()?),
        4 => reader.skip(4)?,
        5 => {
            for _ in 0..reader.number()? {
                reader.number()?;
            }
        }
        7 => reader.skip(16)?,
        8 => {
            for _ in 0..reader.number()? {
                reader.number()?;
                reader.skip(4)?;
            }
        }
        9 => {
            reader.skip(1)?;
            reader.number()?;
        }
        11 => reader.skip(32)?,
        _ => return None,
    }
    Some(())
}

/// What an operation means for the longest stretch.
enum Step {
    /// It goes on to the next instruction, and to a later one where one is given.
    On {
        jump: Option<i64>,
        heavy: bool,
    },
    /// It goes on elsewhere only.
    Away(i64),
    /// A safepoint; it goes on to the next instruction, and elsewhere.
    Safe(Option<i64>),
    End,
}

/// The largest number of heavy operations between two safepoints, on any way through a function, and where it is reached:
/// at the first that is too many, where there are more.
fn longest_stretch(code: &[u32]) -> Option<(u32, usize)> {
    let mut before: Vec<Option<u32>> = vec![None; code.len()];
    let mut longest = (0, 0);
    *before.first_mut()? = Some(0);
    let mut at = 0;
    while at < code.len() {
        let (step, length) = step(code[at], i64::try_from(at).ok()?);
        let Some(count) = before[at] else {
            // Nothing leads here.
            at += length;
            continue;
        };
        let mut reach = |target: i64, count: u32, back: bool| -> Option<()> {
            let target = usize::try_from(target).ok()?;
            if target <= at {
                // The way back of a loop is a safepoint.
                return back.then_some(());
            }
            let known = before.get_mut(target)?;
            *known = Some(known.map_or(count, |known| known.max(count)));
            Some(())
        };
        let next = i64::try_from(at + length).ok()?;
        match step {
            Step::On { jump, heavy } => {
                let count = count + u32::from(heavy);
                if count > longest.0 && longest.0 <= MOST_IN_A_ROW {
                    longest = (count, at);
                }
                reach(next, count, false)?;
                if let Some(target) = jump {
                    reach(target, count, false)?;
                }
            }
            Step::Away(target) => reach(target, count, false)?,
            Step::Safe(target) => {
                if at + length < code.len() {
                    reach(next, 0, true)?;
                }
                if let Some(target) = target {
                    reach(target, 0, true)?;
                }
            }
            Step::End => {}
        }
        at += length;
    }
    Some(longest)
}

/// What an instruction does, and how many words it takes.
fn step(word: u32, at: i64) -> (Step, usize) {
    let jump = at + i64::from(word as i32 >> 16) + 1;
    let skip = i64::from(word >> 24);
    let on = |jump: Option<i64>, heavy: bool| Step::On { jump, heavy };
    match word as u8 {
        // A boolean that skips what gives the other one.
        3 if skip > 0 => (Step::Away(at + skip + 1), 1),
        7 | 8 | 12 | 15 | 16 | 20 | 53 | 55 | 66 | 83 | 84 | 85 | 86 | 90 => (on(None, false), 2),
        21 => (Step::Safe(None), 1),
        87 => (Step::Safe(None), 2),
        22 => (Step::End, 1),
        23 => (Step::Away(jump), 1),
        // What follows is reached by other ways only.
        24 => (Step::End, 1),
        67 => (Step::Safe(Some(at + i64::from(word as i32 >> 8) + 1)), 1),
        25 | 26 | 56 | 59 | 61 | 76 => (on(Some(jump), false), 1),
        27 | 30 | 77..=80 | 88 => (on(Some(jump), false), 2),
        28 | 29 | 31 | 32 => (on(Some(jump), true), 2),
        33..=44 | 49 | 51 | 63 | 71 | 72 | 81 | 82 => (on(None, true), 1),
        57 => (Step::Safe(Some(jump)), 1),
        58 => (Step::Safe(Some(jump)), 2),
        // A built-in function runs in place of the call that follows.
        68 | 73 | 89 => (on(Some(at + skip + 2), true), 1),
        60 | 74 | 75 => (on(Some(at + skip + 2), true), 2),
        _ => (on(None, false), 1),
    }
}

/// The bytes of a compiled script that are left to read.
struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(|_| ())
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// A number of seven bits a byte.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return usize::try_from(number).ok();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::compiler;
    use super::*;

    fn checked(text: &str) -> Result<(), TooLong> {
        check(&compiler().compile(text).unwrap())
    }

    #[test]
    fn long_stretches_are_found_whatever_stands_between() {
        let many = |line: &str| format!("local s, t, f, r = ...\n{}", format!("{line}\n").repeat(1_000));
        for line in [
            "r = s + 1",
            "r = -s",
            "r = s < t",
            "r = s .. t",
            "r = s // t",
            "r = math.abs(s)",
            "if r then f() end r = s + 1",
            "if s < t then f() end",
            "if r then r = 1 - s else r = 2 * s end",
            "if r then for i = 1, 2 do end end r = s % 7",
            "do local r = { s * 2, s * 3 } end",
        ] {
            let found = checked(&many(line)).expect_err(line);
            assert!(found.message.contains("in a row"), "{line}: {found:?}");
            assert!((150..420).contains(&found.line), "{line}: {found:?}");
        }
    }

    #[test]
    fn ordinary_scripts_pass() {
        let many = |line: &str| format!("local s, t, f, r = ...\n{}", format!("{line}\n").repeat(1_000));
        for line in
            ["f(s + 1)", "for i = s, t do r = s < t end", "r = { 1, 2, a = 3 }", "r = s == t", "r = s and t or f"]
        {
            assert_eq!(checked(&many(line)), Ok(()), "{line}");
        }
        let branches = format!("local s = ...\nif s < 0 then s += 1\n{}end", "elseif f then s += 1\n".repeat(300));
        assert_eq!(checked(&branches), Ok(()));
    }

    #[test]
    fn damaged_code_is_refused() {
        let code =
            compiler().compile("local a = ... for i = 1, a do print(a + i, 'x', { b = 1 }) end return a").unwrap();
        assert_eq!(check(&code), Ok(()));
        for length in 0..code.len() - 1 {
            let _ = check(&code[..length]);
        }
        assert!(check(&code[..code.len() / 2]).is_err());
        assert!(check(b"\xff").is_err());
    }
}
