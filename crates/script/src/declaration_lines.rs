//! Finds the lines of declarations in a file.

use riskbreaker_ruleset::Stack;

/// The line of a file that assigns a key, or else the first that contains it.
pub(super) fn line_of(stack: &Stack, path: &str, key: &str) -> Option<u32> {
    let lines: Vec<&str> = stack.text_of(path)?.lines().collect();
    let assigns = lines.iter().position(|line| assigned(line, key).is_some());
    let at = assigns.or_else(|| lines.iter().position(|line| mentions(line, key).next().is_some()))?;
    Some(at as u32 + 1)
}

/// The line of a file that assigns the last key of a path (`unit/fields/reach`), within the tables of the path, since
/// several kinds may have fields of one name. The line of the innermost table if that does not assign the key.
pub(super) fn line_at(stack: &Stack, file: &str, path: &str) -> Option<u32> {
    let (tables, key) = path.rsplit_once('/').unwrap_or(("", path));
    let lines: Vec<&str> = stack.text_of(file)?.lines().collect();
    let (mut inside, mut opened) = (0..lines.len(), None);
    for table in tables.split('/').filter(|table| !table.is_empty()) {
        let opens = |at: &usize| assigned(lines[*at], table).is_some_and(|value| value.starts_with('{'));
        let Some(first) = inside.clone().find(opens) else { return line_of(stack, file, key) };
        inside = first..table_end(&lines, first);
        opened = Some(first as u32 + 1);
    }
    if opened.is_none() {
        return line_of(stack, file, key);
    }
    let assigns = inside.clone().find(|at| assigned(lines[*at], key).is_some());
    assigns.map(|at| at as u32 + 1).or(opened)
}

/// The line after the table that begins in a line. Its closing bracket has the same indentation, or is in the same
/// line.
fn table_end(lines: &[&str], first: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    if lines[first].matches('{').count() <= lines[first].matches('}').count() {
        return first + 1;
    }
    let closes = |line: &&str| line.trim_start().starts_with('}') && indent(line) <= indent(lines[first]);
    lines[first + 1..].iter().position(closes).map_or(lines.len(), |at| first + 1 + at)
}

/// The value that a line assigns to a key. `None` if it assigns none.
fn assigned<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    mentions(line, key).find_map(|behind| {
        let value = behind.trim_start_matches(['"', ']', ' ']).strip_prefix('=')?;
        (!value.starts_with('=')).then(|| value.trim_start())
    })
}

/// The text after each mention of a key in a line, unless the line is a comment.
fn mentions<'l>(line: &'l str, key: &str) -> impl Iterator<Item = &'l str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let code = if line.trim_start().starts_with("--") { "" } else { line };
    code.match_indices(key).filter_map(move |(at, found)| {
        let (before, behind) = (&code[..at], &code[at + found.len()..]);
        (!before.ends_with(word) && !behind.starts_with(word)).then_some(behind)
    })
}
