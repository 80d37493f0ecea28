//! Finds the part of a line that a message of the engine is about, since the engine gives only the line.

/// A part of a line.
#[derive(Debug, PartialEq)]
pub(super) struct SourceSpan {
    /// The column, from 1, in characters.
    pub column: u32,
    /// The length in characters.
    pub length: u32,
    /// The expression that is nil, if the message is about one.
    pub nil: Option<String>,
}

/// The operators by the engine's names.
const SIGNS: &[(&str, &str)] = &[
    ("(add)", "+"),
    ("(sub)", "-"),
    ("(mul)", "*"),
    ("(div)", "/"),
    ("(idiv)", "//"),
    ("(mod)", "%"),
    ("(pow)", "^"),
    ("concatenate", ".."),
    ("compare", "<"),
    ("compare", ">"),
];

/// Finds the part of a line that a message is about, if it is unambiguous.
pub(super) fn span_of(line: &str, message: &str) -> Option<SourceSpan> {
    let code = without_comment(line);
    if message.starts_with("attempt to index nil with") {
        let name = quoted(message).next()?;
        let at = only(words(code, name).filter(|at| code[..*at].ends_with(['.', ':'])))?;
        let from = operand_before(code, at - 1);
        return Some(span(code, from, at - 1, true));
    }
    if let Some(name) = quoted(message).find(|name| words(code, name).count() == 1) {
        let at = words(code, name).next()?;
        return Some(span(code, at, at + name.len(), false));
    }
    if message.starts_with("attempt to call a nil value") {
        let calls = code.match_indices('(').map(|(at, _)| (operand_before(code, at), at));
        let (from, to) = only(calls.filter(|(from, to)| from < to && !code[*from..*to].trim().is_empty()))?;
        return Some(span(code, from, to, true));
    }
    let about_operands = message.starts_with("attempt to perform") || message.starts_with("attempt to co");
    let signs = SIGNS.iter().filter(|(name, _)| about_operands && message.contains(name)).map(|(_, sign)| *sign);
    let places = signs.flat_map(|sign| operators(code, sign).map(move |at| (at, at + sign.len())));
    let (at, end) = only(places)?;
    let end = end + usize::from(message.contains("compare") && code[end..].starts_with('='));
    let (left, right) = (operand_before(code, at), operand_after(code, end));
    // `attempt to concatenate string with nil`, `attempt to perform arithmetic (add) on nil and number`.
    let kinds = message.rsplit(" on ").next().unwrap_or(message).rsplit(" with ").next().unwrap_or(message);
    let behind = ["concatenate ", "compare "].iter().find_map(|word| message.split_once(word));
    let kinds = behind.map_or(kinds, |(_, kinds)| kinds);
    let kinds = kinds.split([' ', '<', '>', '=']).filter(|kind| !kind.is_empty() && !matches!(*kind, "and" | "with"));
    let mut kinds: Vec<&str> = kinds.collect();
    // The engine evaluates `a > b` as `b < a`.
    if message.contains("compare") && code[at..].starts_with('>') {
        kinds.reverse();
    }
    match (kinds.first(), kinds.last()) {
        (Some(&"nil"), Some(&"nil")) => Some(span(code, left, right, false)),
        (_, Some(&"nil")) => Some(span(code, end, right, true)),
        (Some(&"nil"), _) => Some(span(code, left, at, true)),
        _ => Some(span(code, left, right, false)),
    }
}

fn span(code: &str, from: usize, to: usize, nil: bool) -> SourceSpan {
    let text = code[from..to].trim();
    let from = from + (code[from..to].len() - code[from..to].trim_start().len());
    let column = code[..from].chars().count() as u32 + 1;
    let nil = (nil && !text.is_empty()).then(|| text.to_string());
    SourceSpan { column, length: (text.chars().count() as u32).max(1), nil }
}

/// The only item of an iterator. `None` if there are several or none.
fn only<T>(mut things: impl Iterator<Item = T>) -> Option<T> {
    let first = things.next()?;
    things.next().is_none().then_some(first)
}

fn part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names in quotes in a message.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(['\'', '`', '"'])?;
            let mark = rest[at..].chars().next()?;
            let inside = &rest[at + 1..];
            let end = inside.find(mark)?;
            let name = &inside[..end];
            rest = &inside[end + 1..];
            if !name.is_empty() && name.chars().all(part) {
                return Some(name);
            }
        }
    })
}

/// The places of a name in a line as a whole word.
fn words<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(name).map(|(at, _)| at).filter(move |at| {
        !code[..*at].chars().next_back().is_some_and(part) && !code[at + name.len()..].chars().next().is_some_and(part)
    })
}

/// The places of an operator outside texts, without longer operators that contain it.
fn operators<'a>(code: &'a str, sign: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(sign).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (code[..*at].chars().next_back(), code[at + sign.len()..].chars().next());
        let doubled = |near: Option<char>| near.is_some_and(|near| sign.starts_with(near));
        let arrow = sign == "-" && after == Some('>');
        let inside = code[..*at].matches('"').count() % 2 == 1;
        !doubled(before) && !doubled(after) && !arrow && !inside
    })
}

/// Removes a comment from the end of a line.
fn without_comment(line: &str) -> &str {
    let mut from = 0;
    while let Some(at) = line[from..].find("--").map(|at| from + at) {
        if line[..at].matches('"').count().is_multiple_of(2) && line[..at].matches('\'').count().is_multiple_of(2) {
            return &line[..at];
        }
        from = at + 2;
    }
    line
}

/// The beginning of the operand that ends at a place: names, dots and paired brackets.
fn operand_before(code: &str, end: usize) -> usize {
    let text = code[..end].trim_end();
    let mut depth = 0;
    let mut from = text.len();
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '.' | ':' | '"' | '\'' => {}
            letter if part(letter) => {}
            _ => break,
        }
        from = at;
    }
    from
}

/// The end of the operand that begins at a place.
fn operand_after(code: &str, begin: usize) -> usize {
    let text = &code[begin..];
    let mut depth = 0;
    let mut begun = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ' ' if !begun => continue,
            '.' | ':' | '"' | '\'' | '#' => {}
            letter if part(letter) => {}
            _ => return begin + at,
        }
        begun = true;
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, message: &str) -> Option<String> {
        let span = span_of(line, message)?;
        Some(line.chars().skip(span.column as usize - 1).take(span.length as usize).collect())
    }

    #[test]
    fn an_unambiguous_place_is_marked() {
        for (line, message, wanted) in [
            ("local n = ctx.foe.harm + 1", "attempt to perform arithmetic (add) on nil and number", "ctx.foe.harm"),
            ("local n = 1 + self:wits(2)", "attempt to perform arithmetic (add) on number and nil", "self:wits(2)"),
            ("return ctx.target.name", "attempt to index nil with 'name'", "ctx.target"),
            ("if harm < limit then", "attempt to compare nil < number", "harm"),
            ("if harm > 1 then", "attempt to compare number < nil", "harm"),
            ("if ctx.harm >= 12 then", "attempt to compare number <= nil", "ctx.harm"),
            ("if 12 >= ctx.harm then", "attempt to compare nil <= number", "ctx.harm"),
            ("if ctx.harm <= 12 then", "attempt to compare nil <= number", "ctx.harm"),
            ("rb.say(\"a\" .. ctx.word)", "attempt to concatenate string with nil", "ctx.word"),
            ("ctx.actor:set(\"harmm\", 2)", "a character has no field `harmm`", "harmm"),
            ("\tstrike(ctx)", "attempt to call a nil value", "strike"),
            ("é = a.b.c", "attempt to index nil with 'c'", "a.b"),
        ] {
            assert_eq!(marked(line, message).as_deref(), Some(wanted), "{line}");
        }
    }

    #[test]
    fn an_ambiguous_place_is_not_marked() {
        for (line, message) in [
            ("return a.name .. b.name", "attempt to index nil with 'name'"),
            ("return a + b + c", "attempt to perform arithmetic (add) on nil and number"),
            ("f(g(x))", "attempt to call a nil value"),
            ("", "attempt to call a nil value"),
        ] {
            assert_eq!(span_of(line, message), None, "{line}");
        }
    }

    #[test]
    fn odd_lines_do_no_harm() {
        for line in ["", "(", ")))", "\"", "'", "--", "+", "é+", "a.", "`{`"] {
            for message in
                ["attempt to index nil with 'a'", "attempt to perform arithmetic (add) on nil and nil", "''", "`"]
            {
                span_of(line, message);
            }
        }
    }
}
