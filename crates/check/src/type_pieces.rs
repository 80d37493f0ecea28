//! Takes the text of a Luau type to pieces.

/// The byte of the bracket that closes the one opened before the text.
pub fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' | '[' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits a type at marks outside of brackets and texts, and trims the pieces. Empty pieces are left out.
pub fn pieces_of_type(text: &str, mark: char) -> Vec<&str> {
    let (mut found, mut depth, mut from, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ if letter == mark && depth == 0 => {
                found.push(text[from..at].trim());
                from = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found.retain(|piece| !piece.is_empty());
    found
}
