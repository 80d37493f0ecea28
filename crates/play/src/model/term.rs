//! The terms of a number.

use serde::{Deserialize, Serialize};

use super::marked::in_one_line;

/// A term of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Term {
    /// The name of the term.
    pub label: String,
    /// The value, as text.
    pub value: String,
    /// The file that adds the term.
    pub path: String,
    /// The line in the file, from 1.
    pub line: u32,
    /// The nesting depth, from 0. The parts of a term are one deeper and precede it.
    pub depth: u32,
}

/// The label of the term that holds the number a roll needs.
pub(crate) const NEEDED: &str = "needed";

impl Term {
    /// Formats the parts of one of the numbers of a roll, as ` (Sword 5 + margin 2)`: the terms one deeper than the
    /// last term called `number`. Empty if it has no parts.
    pub(crate) fn in_short(terms: &[Term], number: &str) -> String {
        let mut own = terms.iter().skip_while(|term| term.depth > 0 || term.label != number);
        if own.next().is_none() {
            return String::new();
        }
        let parts: Vec<&Term> = own.take_while(|term| term.depth > 0).filter(|term| term.depth == 1).collect();
        let mut text = String::new();
        // A single part without a name is the number itself.
        for part in parts.iter().filter(|part| parts.len() > 1 || !part.label.is_empty()) {
            let (sign, size) = match (text.is_empty(), part.value.strip_prefix('-')) {
                (true, _) => ("", &*part.value),
                (false, Some(size)) => (" - ", size),
                (false, None) => (" + ", &*part.value),
            };
            let label = in_one_line(&part.label);
            text = format!("{text}{sign}{label}{}{size}", if label.is_empty() { "" } else { " " });
        }
        if text.is_empty() { text } else { format!(" ({text})") }
    }
}

/// Removes the parts of numbers from a line: brackets that follow a digit.
pub fn without_parts(line: &str) -> String {
    let (mut plain, mut depth, mut last) = (String::new(), 0u32, ' ');
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ' ' if depth == 0 && last.is_ascii_digit() && line[at + 1..].starts_with('(') => {
                letters.next();
                depth = 1;
            }
            '(' if depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
        if depth == 0 {
            last = letter;
        }
    }
    plain
}
