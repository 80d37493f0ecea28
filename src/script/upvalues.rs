//! Which functions of a file assign to variables that they have captured, read from the compiled file.
//!
//! A function that is still there after loading and assigns to a captured variable (an *upvalue*) keeps something from one
//! call to the next, where no save, undo or replay reaches. Variables of one call stay free: a function inside the call may
//! assign to them, since neither outlives it. So it is the functions that are left after loading that are asked for here.

use std::collections::BTreeMap;

/// A function of a file that assigns to captured variables, or makes functions that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigner {
    /// The line where the function begins.
    pub line: u32,
    pub parameters: u8,
    pub captured: u8,
    pub assigned: Vec<Assigned>,
}

/// An assignment to a captured variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub line: u32,
    /// What the variable is called, if the file was compiled with names.
    pub name: Option<String>,
}

/// Operations, as the engine numbers them.
const SETUPVAL: u8 = 10;
const NEWCLOSURE: u8 = 19;
const DUPCLOSURE: u8 = 64;
const CAPTURE: u8 = 70;
/// Operations with a second word behind them.
const TWO_WORDS: [u8; 30] = [
    7, 8, 12, 15, 16, 20, 27, 28, 29, 30, 31, 32, 53, 55, 58, 60, 66, 74, 75, 77, 78, 79, 80, 83, 84, 85, 86, 87, 88,
    90,
];
/// How [`CAPTURE`] says that a variable captured by the function around is handed on.
const OF_UPVALUE: u8 = 2;

/// The versions of the engine's format that are read here.
const VERSIONS: std::ops::RangeInclusive<u8> = 4..=14;

/// From this version on, counts of calls stand behind each function; from the other on, its size stands before it.
const WITH_FEEDBACK: u8 = 11;
const SIZED: u8 = 12;

/// Reads a compiled file: the functions that assign to captured variables. `None` if it has another format.
pub(super) fn assigners(code: &[u8]) -> Option<Vec<Assigner>> {
    let mut reader = Reader { bytes: code };
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
    if types == 3 {
        while reader.byte()? != 0 {
            reader.number()?;
        }
    }
    let mut functions = Vec::new();
    for _ in 0..reader.number()? {
        if version >= SIZED {
            let size = reader.number()? as usize;
            functions.push(Reader { bytes: reader.take(size)? }.function(&strings)?);
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
    let mut assigned = vec![None; functions.len()];
    for at in 0..functions.len() {
        assign(at, &functions, &mut assigned, 0)?;
    }
    let found = functions.iter().zip(assigned).filter_map(|(function, assigned)| {
        let assigned: Vec<Assigned> = assigned?.into_values().collect();
        let Function { line, parameters, captured, .. } = *function;
        (!assigned.is_empty()).then_some(Assigner { line, parameters, captured, assigned })
    });
    Some(found.collect())
}

/// Assignments by the place of the captured variable.
type ByPlace = BTreeMap<u8, Assigned>;

/// Functions are nested less deep than this.
const DEEPEST: usize = 250;

/// Works out what a function and those inside it assign of the variables that it has captured.
fn assign(at: usize, functions: &[Function], known: &mut [Option<ByPlace>], depth: usize) -> Option<ByPlace> {
    if let Some(known) = known.get(at)? {
        return Some(known.clone());
    }
    if depth > DEEPEST {
        return None;
    }
    let function = &functions[at];
    let name = |place: u8| function.names.get(place as usize).cloned();
    let mut found: ByPlace = BTreeMap::new();
    for (place, line) in &function.assigns {
        found.entry(*place).or_insert(Assigned { line: *line, name: name(*place) });
    }
    for (inner, handed_on) in &function.makes {
        let inner = assign(*inner as usize, functions, known, depth + 1)?;
        for (place, assigned) in inner {
            if let Some(Some(own)) = handed_on.get(place as usize) {
                found.entry(*own).or_insert(assigned);
            }
        }
    }
    known[at] = Some(found.clone());
    Some(found)
}

/// A function as it is compiled, as far as it matters here.
struct Function {
    line: u32,
    parameters: u8,
    captured: u8,
    /// Places of captured variables that it assigns to, with the line.
    assigns: Vec<(u8, u32)>,
    /// Functions that it makes, by number; for each variable that they capture the place in this one, if it is captured here.
    makes: Vec<(u32, Vec<Option<u8>>)>,
    /// Names of the captured variables, if they are there.
    names: Vec<String>,
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
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

    /// A number in groups of seven bits.
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

    fn function(&mut self, strings: &[String]) -> Option<Function> {
        let [_, parameters, captured, _, _] = self.take(5)?.try_into().ok()?;
        let types = self.number()? as usize;
        self.take(types)?;
        let code: Vec<u32> = (0..self.number()?).map(|_| self.word()).collect::<Option<_>>()?;
        let mut closures = BTreeMap::new();
        for constant in 0..self.number()? {
            if let Some(function) = self.constant()? {
                closures.insert(constant, function);
            }
        }
        let inner: Vec<u32> = (0..self.number()?).map(|_| self.number()).collect::<Option<_>>()?;
        let line = self.number()?;
        self.number()?;
        let lines = if self.byte()? == 0 { Vec::new() } else { self.lines(code.len())? };
        let names = if self.byte()? == 0 { Vec::new() } else { self.names(strings)? };
        let mut function = Function { line, parameters, captured, assigns: Vec::new(), makes: Vec::new(), names };
        let mut at = 0;
        while let Some(word) = code.get(at) {
            let [op, a, b, _] = word.to_le_bytes();
            let operand = word >> 16;
            match op {
                SETUPVAL => function.assigns.push((b, lines.get(at).copied().unwrap_or(line))),
                NEWCLOSURE => function.makes.push((*inner.get(operand as usize)?, Vec::new())),
                DUPCLOSURE => function.makes.push((*closures.get(&operand)?, Vec::new())),
                CAPTURE => {
                    let (_, handed_on) = function.makes.last_mut()?;
                    handed_on.push((a == OF_UPVALUE).then_some(b));
                }
                _ => {}
            }
            at += if TWO_WORDS.contains(&op) { 2 } else { 1 };
        }
        Some(function)
    }

    /// Reads a constant; gives the number of its function, if it is one.
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

    /// The line of each word of code.
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

    /// The names of the captured variables; those of locals are passed over.
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
    use crate::script::sandbox::compiler;

    fn of(text: &str) -> Vec<(u32, Vec<(u32, String)>)> {
        let code = compiler().set_debug_level(2).compile(text).unwrap();
        let found = assigners(&code).unwrap();
        let assigned = |of: Assigner| of.assigned.into_iter().map(|one| (one.line, one.name.unwrap())).collect();
        found.into_iter().map(|of| (of.line, assigned(of))).collect()
    }

    #[test]
    fn a_function_that_assigns_to_what_it_has_captured_is_found() {
        let text = "local n = 0\nlocal function count()\n\tn += 1\n\treturn n\nend\nreturn { count = count }";
        assert_eq!(of(text), [(2, vec![(3, "n".to_owned())])]);
    }

    #[test]
    fn so_is_the_one_around_it_and_a_local_of_its_own_is_free() {
        let text = "local known\nreturn function(list)\n\tlocal best = 0\n\tlocal function look(one)\n\t\tbest = one\n\t\t\
                    known = one\n\tend\n\tfor _, one in list do\n\t\tlook(one)\n\tend\n\treturn best\nend";
        let (known, best) = ((6, "known".to_owned()), (5, "best".to_owned()));
        assert_eq!(of(text), [(4, vec![best, known.clone()]), (2, vec![known])]);
    }

    #[test]
    fn functions_that_only_read_are_not_found() {
        let text = "local t = { 1, two = 2, [3] = { x = 1 } }\nlocal big = 12345678.5\nlocal function f(a: number)\n\treturn t[a] or big\nend\n\
                    return function() local x = 1; x += f(x); return x end";
        assert_eq!(of(text), []);
    }

    #[test]
    fn the_operations_are_numbered_as_the_engine_does() {
        // A function of each sort of instruction: were a word misread, the assignment at its end would not be found.
        let text = "local kept\nlocal g = {}\nreturn function(a, b, ...)\n\tlocal t = { x = a, y = b, ... }\n\tif a == b and a < b or \
                    a == nil or a == 'x' or b == 3 or a == true then t.x = t.y .. 'z' end\n\tfor i = 1, 3 do t[i] = math.max(i, a) end\n\t\
                    for k, v in t do g.k = v end\n\tfor _, v in ipairs(t) do t:m(v) end\n\tlocal f = function() return t end\n\tkept = f\nend";
        assert_eq!(of(text), [(3, vec![(10, "kept".to_owned())])]);
    }

    #[test]
    fn bytes_that_are_no_compiled_file_are_refused() {
        assert_eq!(assigners(&[]), None);
        assert_eq!(assigners(&[0, 1, 2]), None);
        let code = compiler().compile("return function() end").unwrap();
        assert!((0..code.len() - 1).all(|end| assigners(&code[..end]).is_none_or(|found| found.is_empty())));
    }
}
