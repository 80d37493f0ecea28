//! Places in the files of a ruleset.

use riskbreaker_ruleset::{Problem, Stack};

/// Whether a path belongs to one of the parts of a stack, from a part on.
pub(crate) fn is_from(stack: &Stack, own: usize, path: &str) -> bool {
    stack.parts()[own..].iter().any(|part| path.starts_with(&format!("{}/", part.id())))
}

pub(crate) fn is_in_folder(path: &str, folder: &str) -> bool {
    path.split_once('/').is_some_and(|(first, _)| first == folder)
}

/// Returns the first line, from a given one on, that contains a word; the given line if none does.
pub(crate) fn line_from(stack: &Stack, path: &str, line: u32, word: &str) -> u32 {
    let Some(text) = stack.text_of(path) else { return line };
    let on = text.lines().skip(line as usize - 1).position(|text| text.contains(word));
    line + on.unwrap_or_default() as u32
}

/// Gives a problem that has only a line a column: that of a name in its message, with its length, or the start of the
/// line's text.
pub(crate) fn place(problem: &mut Problem, text: &str) {
    let (Some(line), None) = (problem.line, problem.column) else { return };
    let Some(text) = text.lines().nth(line as usize - 1) else { return };
    let names = problem.message.split('`').skip(1).step_by(2).filter(|name| !name.is_empty());
    let named = names.filter_map(|name| Some((text.find(name)?, name.chars().count() as u32))).next();
    let (at, length) = named.unzip();
    let at = at.unwrap_or_else(|| text.len() - text.trim_start().len());
    problem.column = Some(text[..at].chars().count() as u32 + 1);
    problem.length = length;
}

/// The folders of data files that the host reads without a script.
pub(crate) const DATA_PLACES: &[&str] = &["cast", "scenarios"];

/// Splits a text of a data file into its parts: `M5: Sword, Knockdown; KD 3` has four.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', ':', ',', '=']).map(str::trim).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_to_pieces() {
        assert_eq!(pieces("M5: Sword, Push; KD 3").collect::<Vec<_>>(), ["M5", "Sword", "Push", "KD 3"]);
    }
}
