//! Reads compiled files of the script engine: their functions with code, lines and names.
//!
//! All checks of compiled code use this reader, so that they accept the same versions of the format.

use std::collections::BTreeMap;

/// The supported versions of the engine's format.
const VERSIONS: std::ops::RangeInclusive<u8> = 4..=14;
/// From this version on, each function is followed by counts of calls; from `SIZED` on, it is preceded by its size.
const WITH_FEEDBACK: u8 = 11;
const SIZED: u8 = 12;
/// From this version of the types on, names of userdata types precede the functions.
const TYPES_WITH_NAMES: u8 = 3;

/// A function of a compiled file.
#[derive(Debug)]
pub(super) struct CompiledFunction {
    /// The line at which it begins.
    pub line: u32,
    pub parameters: u8,
    /// The number of captured variables.
    pub captured: u8,
    /// Instructions, with their additional words.
    pub code: Vec<u32>,
    /// The functions that it creates, by number in the file: `inner` by index for [`NEWCLOSURE`], `shared` by constant
    /// for [`DUPCLOSURE`].
    pub inner: Vec<u32>,
    pub shared: BTreeMap<u32, u32>,
    /// Names of the captured variables, if the file was compiled with names.
    pub names: Vec<String>,
    lines: Vec<u32>,
}

/// Opcodes of the engine.
pub(super) const SETUPVAL: u8 = 10;
pub(super) const NEWCLOSURE: u8 = 19;
pub(super) const FORGLOOP: u8 = 58;
pub(super) const DUPCLOSURE: u8 = 64;
pub(super) const CAPTURE: u8 = 70;
/// Opcodes with an additional word.
const TWO_WORDS: [u8; 30] = [
    7, 8, 12, 15, 16, 20, 27, 28, 29, 30, 31, 32, 53, 55, 58, 60, 66, 74, 75, 77, 78, 79, 80, 83, 84, 85, 86, 87, 88,
    90,
];

/// The number of words of an instruction.
pub(super) fn words_of(instruction: u32) -> usize {
    if TWO_WORDS.contains(&(instruction as u8)) { 2 } else { 1 }
}

/// Reads the functions of a compiled file. `None` if it has another format.
pub(super) fn functions(code: &[u8]) -> Option<Vec<CompiledFunction>> {
    let mut reader = BytecodeReader { bytes: code };
    let version = reader.byte()?;
    if !VERSIONS.contains(&version) {
        return None;
    }
    let types = reader.byte()?;
    let mut strings = Vec::new();
    for _ in 0..reader.number()? {
        let length = reader.number()? as usize;
        strings.push(String::from_utf8_lossy(reader.take(length)?).into_owned());
    }
    if types == TYPES_WITH_NAMES {
        while reader.byte()? != 0 {
            reader.number()?;
        }
    }
    let mut functions = Vec::new();
    for _ in 0..reader.number()? {
        if version >= SIZED {
            let size = reader.number()? as usize;
            functions.push(BytecodeReader { bytes: reader.take(size)? }.function(&strings)?);
            continue;
        }
        functions.push(reader.function(&strings)?);
        if version >= WITH_FEEDBACK {
            for _ in 0..reader.number()? {
                reader.byte()?;
                reader.number()?;
            }
        }
    }
    Some(functions)
}

impl CompiledFunction {
    /// The line of an instruction; that of the function if lines are unknown.
    pub fn line_of(&self, at: usize) -> u32 {
        self.lines.get(at).copied().unwrap_or(self.line)
    }
}

/// The unread bytes of a compiled script.
struct BytecodeReader<'b> {
    bytes: &'b [u8],
}

impl<'b> BytecodeReader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a number in groups of seven bits.
    fn number(&mut self) -> Option<u32> {
        let mut number: u64 = 0;
        for shift in (0..).step_by(7).take(10) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte & 128 == 0 {
                return Some(number as u32);
            }
        }
        None
    }

    fn function(&mut self, strings: &[String]) -> Option<CompiledFunction> {
        // The header has the registers first, and flags at its end.
        let [_, parameters, captured, _, _] = self.take(5)?.try_into().ok()?;
        let types = self.number()? as usize;
        self.take(types)?;
        let code: Vec<u32> = (0..self.number()?).map(|_| self.word()).collect::<Option<_>>()?;
        let mut shared = BTreeMap::new();
        for constant in 0..self.number()? {
            if let Some(function) = self.constant()? {
                shared.insert(constant, function);
            }
        }
        let inner: Vec<u32> = (0..self.number()?).map(|_| self.number()).collect::<Option<_>>()?;
        let line = self.number()?;
        self.number()?;
        let lines = if self.byte()? == 0 { Vec::new() } else { self.lines(code.len())? };
        let names = if self.byte()? == 0 { Vec::new() } else { self.names(strings)? };
        Some(CompiledFunction { line, parameters, captured, code, inner, shared, names, lines })
    }

    /// Reads a constant. Returns the number of its function, if it is one.
    fn constant(&mut self) -> Option<Option<u32>> {
        match self.byte()? {
            0 => {}
            1 => drop(self.take(1)?),
            2 => drop(self.take(8)?),
            3 => drop(self.number()?),
            4 => drop(self.take(4)?),
            5 => {
                for _ in 0..self.number()? {
                    self.number()?;
                }
            }
            6 => return Some(Some(self.number()?)),
            7 => drop(self.take(16)?),
            8 => {
                for _ in 0..self.number()? {
                    self.number()?;
                    self.take(4)?;
                }
            }
            9 => {
                self.byte()?;
                self.number()?;
            }
            11 => drop(self.take(32)?),
            _ => return None,
        }
        Some(None)
    }

    /// Reads the line of each word of code.
    fn lines(&mut self, words: usize) -> Option<Vec<u32>> {
        let gap = u32::from(self.byte()?);
        let mut offset = 0_u8;
        let offsets: Vec<u8> = self
            .take(words)?
            .iter()
            .map(|delta| {
                offset = offset.wrapping_add(*delta);
                offset
            })
            .collect();
        let intervals = (words.checked_sub(1)? >> gap) + 1;
        let mut line = 0_u32;
        let mut bases = Vec::new();
        for _ in 0..intervals {
            line = line.wrapping_add(self.word()?);
            bases.push(line);
        }
        Some(offsets.iter().enumerate().map(|(at, offset)| bases[at >> gap].wrapping_add(u32::from(*offset))).collect())
    }

    /// Reads the names of the captured variables and skips those of locals.
    fn names(&mut self, strings: &[String]) -> Option<Vec<String>> {
        for _ in 0..self.number()? {
            self.number()?;
            self.number()?;
            self.number()?;
            self.byte()?;
        }
        let name = |place: u32| strings.get((place as usize).wrapping_sub(1)).cloned().unwrap_or_default();
        (0..self.number()?).map(|_| self.number().map(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compiler;

    #[test]
    fn bytes_that_are_no_compiled_file_are_refused() {
        assert!(functions(&[]).is_none());
        assert!(functions(&[0, 1, 2]).is_none());
        assert!(functions(b"\xff").is_none());
        let code =
            compiler().compile("local a = ... for i = 1, a do print(a + i, 'x', { b = 1 }) end return a").unwrap();
        assert!(functions(&code).is_some());
        assert!((0..code.len() - 1).all(|end| functions(&code[..end]).is_none()));
    }

    #[test]
    fn lines_are_those_of_the_text() {
        let code = compiler().compile("local a = ...\n\nreturn function()\n\treturn a\nend").unwrap();
        let found = functions(&code).unwrap();
        assert_eq!(found.iter().map(|function| function.line).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(found[0].line_of(0), 4);
        assert_eq!(found[0].line_of(found[0].code.len()), 3);
    }
}
