//! Finds the functions of a compiled file that assign to captured variables (*upvalues*).
//!
//! A function that exists after loading and assigns to an upvalue keeps a value between calls. No save, undo or replay
//! covers that value. Local variables of one call are no problem: neither they nor the functions inside the call
//! outlive it. So only functions that exist after loading are checked.

use std::collections::BTreeMap;

use super::bytecode::{CAPTURE, CompiledFunction, DUPCLOSURE, NEWCLOSURE, SETUPVAL, words_of};

/// A function of a file that assigns to captured variables, or creates functions that do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigner {
    /// The line at which the function begins.
    pub line: u32,
    pub parameters: u8,
    pub captured: u8,
    pub assigned: Vec<Assigned>,
}

impl Assigner {
    /// Identifies it among the functions of its file.
    pub fn signature(&self) -> (u32, u8, u8) {
        (self.line, self.parameters, self.captured)
    }
}

/// An assignment to a captured variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub line: u32,
    /// The name of the variable, if the file was compiled with names.
    pub name: Option<String>,
}

/// The capture mode of [`CAPTURE`] for a variable captured by the enclosing function.
const OF_UPVALUE: u8 = 2;

/// The functions of a compiled file that assign to captured variables. `None` if the code cannot be analyzed.
pub(super) fn assigners(functions: &[CompiledFunction]) -> Option<Vec<Assigner>> {
    let uses: Vec<CaptureUses> = functions.iter().map(CaptureUses::of).collect::<Option<_>>()?;
    let mut assigned = vec![None; functions.len()];
    for at in 0..functions.len() {
        assign(at, functions, &uses, &mut assigned, 0)?;
    }
    let found = functions.iter().zip(assigned).filter_map(|(function, assigned)| {
        let assigned: Vec<Assigned> = assigned?.into_values().collect();
        let CompiledFunction { line, parameters, captured, .. } = *function;
        (!assigned.is_empty()).then_some(Assigner { line, parameters, captured, assigned })
    });
    Some(found.collect())
}

/// Assignments by the index of the captured variable.
type ByPlace = BTreeMap<u8, Assigned>;

/// The deepest nesting of functions.
const DEEPEST: usize = 250;

/// Computes the captured variables to which a function and its inner functions assign.
fn assign(
    at: usize,
    functions: &[CompiledFunction],
    uses: &[CaptureUses],
    known: &mut [Option<ByPlace>],
    depth: usize,
) -> Option<ByPlace> {
    if let Some(known) = known.get(at)? {
        return Some(known.clone());
    }
    if depth > DEEPEST {
        return None;
    }
    let name = |place: u8| functions[at].names.get(place as usize).cloned();
    let mut found: ByPlace = BTreeMap::new();
    for (place, line) in &uses[at].assigns {
        found.entry(*place).or_insert(Assigned { line: *line, name: name(*place) });
    }
    for (inner, handed_on) in &uses[at].makes {
        let inner = assign(*inner as usize, functions, uses, known, depth + 1)?;
        for (place, assigned) in inner {
            if let Some(Some(own)) = handed_on.get(place as usize) {
                found.entry(*own).or_insert(assigned);
            }
        }
    }
    known[at] = Some(found.clone());
    Some(found)
}

/// The use of captured variables by a function.
struct CaptureUses {
    /// Indices of captured variables that it assigns to, with the line.
    assigns: Vec<(u8, u32)>,
    /// Functions that it creates, by number; for each variable that they capture, its index here if it is itself
    /// captured.
    makes: Vec<(u32, Vec<Option<u8>>)>,
}

impl CaptureUses {
    fn of(function: &CompiledFunction) -> Option<CaptureUses> {
        let mut uses = CaptureUses { assigns: Vec::new(), makes: Vec::new() };
        let mut at = 0;
        while let Some(word) = function.code.get(at) {
            let [op, a, b, _] = word.to_le_bytes();
            let operand = word >> 16;
            match op {
                SETUPVAL => uses.assigns.push((b, function.line_of(at))),
                NEWCLOSURE => uses.makes.push((*function.inner.get(operand as usize)?, Vec::new())),
                DUPCLOSURE => uses.makes.push((*function.shared.get(&operand)?, Vec::new())),
                CAPTURE => {
                    let (_, handed_on) = uses.makes.last_mut()?;
                    handed_on.push((a == OF_UPVALUE).then_some(b));
                }
                _ => {}
            }
            at += words_of(*word);
        }
        Some(uses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::functions;
    use crate::compile::compiler;

    fn of(text: &str) -> Vec<(u32, Vec<(u32, String)>)> {
        let code = compiler().set_debug_level(2).compile(text).unwrap();
        let found = assigners(&functions(&code).unwrap()).unwrap();
        let assigned = |of: Assigner| of.assigned.into_iter().map(|one| (one.line, one.name.unwrap())).collect();
        found.into_iter().map(|of| (of.line, assigned(of))).collect()
    }

    #[test]
    fn a_function_that_assigns_to_an_upvalue_is_found() {
        let text = "local n = 0\nlocal function count()\n\tn += 1\n\treturn n\nend\nreturn { count = count }";
        assert_eq!(of(text), [(2, vec![(3, "n".to_owned())])]);
    }

    #[test]
    fn an_outer_function_is_found_and_own_locals_are_free() {
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
        // A function with every type of instruction: if one had the wrong length, the assignment at the end would not
        // be found.
        let text = "local kept\nlocal g = {}\nreturn function(a, b, ...)\n\tlocal t = { x = a, y = b, ... }\n\tif a == b and a < b or \
                    a == nil or a == 'x' or b == 3 or a == true then t.x = t.y .. 'z' end\n\tfor i = 1, 3 do t[i] = math.max(i, a) end\n\t\
                    for k, v in t do g.k = v end\n\tfor _, v in ipairs(t) do t:m(v) end\n\tlocal f = function() return t end\n\tkept = f\nend";
        assert_eq!(of(text), [(3, vec![(10, "kept".to_owned())])]);
    }
}
