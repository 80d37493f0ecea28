//! Finds the lines of declarations in a file.

use std::ops::Range;

use riskbreaker_ruleset::{Stack, find_whole};

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

/// The bytes of the value that a line assigns to a key: a table, or a call.
pub(super) fn assigned_value(text: &str, line: u32, key: &str) -> Option<Range<usize>> {
    let line = text.split_inclusive('\n').nth(line.checked_sub(1)? as usize)?;
    let value = assigned(line, key)?;
    let begin = value.as_ptr() as usize - text.as_ptr() as usize;
    let name = text[begin..].find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.')))?;
    match text[begin + name..].chars().next()? {
        '{' if name == 0 => Some(begin..closing(text, begin)?),
        '(' => Some(begin..closing(text, begin + name)?),
        _ => None,
    }
}

/// The bytes of the first call of a function by its full name.
pub(super) fn call_of(text: &str, function: &str) -> Option<Range<usize>> {
    let begin = find_whole(text, &format!("{function}("))?;
    Some(begin..closing(text, begin + function.len())?)
}

/// The byte behind the bracket that closes the one at a place. Brackets in texts and comments do not count.
fn closing(text: &str, opened: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut quoted: Option<char> = None;
    let mut letters = text[opened..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (quoted, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(mark), letter) => quoted = Some(mark).filter(|_| letter != mark && letter != '\n'),
            (None, '"' | '\'' | '`') => quoted = Some(letter),
            (None, '-') if letters.peek().is_some_and(|(_, next)| *next == '-') => {
                while letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
            }
            (None, '(' | '{' | '[') => depth += 1,
            (None, ')' | '}' | ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(opened + at + letter.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
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
