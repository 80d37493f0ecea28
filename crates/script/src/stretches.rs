//! Refuses compiled scripts with too much work between two safepoints.
//!
//! The engine counts loop edges, calls and returns. Between two of them, an operation on a long text can take a
//! fraction of a millisecond, and a file can have tens of thousands of them in sequence. Nothing could stop these, so
//! such a file is refused when it is read.

use super::bytecode::{CompiledFunction, FORGLOOP, words_of};

/// The most successive slow operations: arithmetic and comparison (of long texts), concatenation, built-in functions.
const MOST_IN_A_ROW: u32 = 400;

/// The reason why a script that compiles is refused, with its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsound {
    pub line: u32,
    pub message: String,
}

/// Checks every function of a compiled script.
///
/// # Errors
///
/// A function has too many successive slow operations, or code that cannot be analyzed.
pub(super) fn check(functions: &[CompiledFunction]) -> Result<(), Unsound> {
    for function in functions {
        let Some((count, at)) = longest_stretch(&function.code) else {
            return Err(Unsound { line: function.line, message: "the compiled script cannot be read".into() });
        };
        if count > MOST_IN_A_ROW {
            let message = format!(
                "more than {MOST_IN_A_ROW} operations in a row without a call or a loop; put parts into functions"
            );
            return Err(Unsound { line: function.line_of(at), message });
        }
    }
    Ok(())
}

/// The effect of an operation on the control flow and on the count.
enum StretchStep {
    /// Continues with the next instruction, and also with `jump` if it is given.
    On {
        jump: Option<i64>,
        heavy: bool,
    },
    /// Continues only at another place.
    Away(i64),
    /// A safepoint; continues with the next instruction, and also at another place if it is given.
    Safe(Option<i64>),
    End,
}

/// The largest number of slow operations between two safepoints, on any path through a function, and the place where it
/// is reached. If it exceeds the limit, the place of the first operation beyond it.
fn longest_stretch(code: &[u32]) -> Option<(u32, usize)> {
    let mut before: Vec<Option<u32>> = vec![None; code.len()];
    let mut longest = (0, 0);
    *before.first_mut()? = Some(0);
    let mut at = 0;
    while at < code.len() {
        let (step, length) = (step(code[at], i64::try_from(at).ok()?), words_of(code[at]));
        let Some(count) = before[at] else {
            // Unreachable.
            at += length;
            continue;
        };
        let mut reach = |target: i64, count: u32, back: bool| -> Option<()> {
            let target = usize::try_from(target).ok()?;
            if target <= at {
                // The backward edge of a loop is a safepoint.
                return back.then_some(());
            }
            let known = before.get_mut(target)?;
            *known = Some(known.map_or(count, |known| known.max(count)));
            Some(())
        };
        let next = i64::try_from(at + length).ok()?;
        match step {
            StretchStep::On { jump, heavy } => {
                let count = count + u32::from(heavy);
                if count > longest.0 && longest.0 <= MOST_IN_A_ROW {
                    longest = (count, at);
                }
                reach(next, count, false)?;
                if let Some(target) = jump {
                    reach(target, count, false)?;
                }
            }
            StretchStep::Away(target) => reach(target, count, false)?,
            StretchStep::Safe(target) => {
                if at + length < code.len() {
                    reach(next, 0, true)?;
                }
                if let Some(target) = target {
                    reach(target, 0, true)?;
                }
            }
            StretchStep::End => {}
        }
        at += length;
    }
    Some(longest)
}

/// Classifies an instruction.
fn step(word: u32, at: i64) -> StretchStep {
    let jump = at + i64::from(word as i32 >> 16) + 1;
    let skip = i64::from(word >> 24);
    let on = |jump: Option<i64>, heavy: bool| StretchStep::On { jump, heavy };
    match word as u8 {
        // A boolean that skips the instruction for the other one.
        3 if skip > 0 => StretchStep::Away(at + skip + 1),
        21 | 87 => StretchStep::Safe(None),
        // The instruction after a return is reached only by jumps.
        22 | 24 => StretchStep::End,
        23 => StretchStep::Away(jump),
        67 => StretchStep::Safe(Some(at + i64::from(word as i32 >> 8) + 1)),
        25..=27 | 30 | 56 | 59 | 61 | 76..=80 | 88 => on(Some(jump), false),
        28 | 29 | 31 | 32 => on(Some(jump), true),
        33..=44 | 49 | 51 | 63 | 71 | 72 | 81 | 82 => on(None, true),
        57 | FORGLOOP => StretchStep::Safe(Some(jump)),
        // A built-in function runs instead of the following call.
        60 | 68 | 73..=75 | 89 => on(Some(at + skip + 2), true),
        _ => on(None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytecode::functions;
    use super::super::compile::compiler;
    use super::*;

    fn checked(text: &str) -> Result<(), Unsound> {
        check(&functions(&compiler().compile(text).unwrap()).unwrap())
    }

    #[test]
    fn long_stretches_are_found_with_any_code_between() {
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
}
