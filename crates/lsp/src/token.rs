//! Splits a script into tokens. It accepts text that does not parse, as is usual while somebody types.

use std::ops::Range;

/// The keywords of Luau.
pub(super) const KEYWORDS: [&str; 21] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "until", "while",
];

/// True for a word that no variable and no field can have as its name.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name,
    /// A text with its quotes.
    Text,
    Number,
    Comment,
    Sign,
}

/// A token of a script with its byte range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub begin: usize,
    pub end: usize,
}

impl Token {
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.begin..self.end]
    }

    /// The byte range between the quotes of a text, or between the brackets of a long one.
    pub fn inner(&self, text: &str) -> Range<usize> {
        let whole = self.text(text);
        let quotes = match whole.as_bytes().first() {
            Some(b'[') => 2 + whole[1..].bytes().take_while(|byte| *byte == b'=').count(),
            _ => 1,
        };
        let begin = (self.begin + quotes).min(self.end);
        let closed = whole.len() >= 2 * quotes && whole.as_bytes()[whole.len() - 1] == closing(whole.as_bytes()[0]);
        begin..if closed { self.end - quotes } else { self.end }.max(begin)
    }
}

fn closing(open: u8) -> u8 {
    if open == b'[' { b']' } else { open }
}

/// All tokens of a script, including comments.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    // For each open interpolated text, the number of open braces inside it.
    let mut within: Vec<usize> = Vec::new();
    while at < bytes.len() {
        let byte = bytes[at];
        let (kind, end) = match byte {
            b'`' | b'}' if byte == b'`' || within.last() == Some(&0) => {
                if byte == b'}' {
                    within.pop();
                }
                let end = piece_end(bytes, at);
                if bytes[end - 1] == b'{' && end > at + 1 {
                    within.push(0);
                }
                (TokenKind::Text, end)
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                let end = long_end(bytes, at + 2).unwrap_or_else(|| line_end(bytes, at));
                (TokenKind::Comment, end)
            }
            b'"' | b'\'' => (TokenKind::Text, quoted_end(bytes, at)),
            b'[' if long_end(bytes, at).is_some() => (TokenKind::Text, long_end(bytes, at).unwrap_or(bytes.len())),
            b'0'..=b'9' => (TokenKind::Number, word_end(bytes, at)),
            _ if byte == b'_' || byte.is_ascii_alphabetic() => (TokenKind::Name, word_end(bytes, at)),
            _ => {
                match (byte, within.last_mut()) {
                    (b'{', Some(depth)) => *depth += 1,
                    (b'}', Some(depth)) => *depth -= 1,
                    _ => {}
                }
                (TokenKind::Sign, at + text[at..].chars().next().map_or(1, char::len_utf8))
            }
        };
        found.push(Token { kind, begin: at, end });
        at = end;
    }
    found
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().take_while(|byte| **byte == b'_' || byte.is_ascii_alphanumeric()).count();
    at + length
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// The end of a text in quotes. An unclosed text ends with its line.
fn quoted_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'\n' => return end,
            byte if *byte == bytes[at] => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

/// The end of a piece of an interpolated text: after the brace that opens an expression, or after the closing
/// backquote.
fn piece_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'`' | b'{' => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

/// The end of `[[...]]` or `[==[...]==]` that begins at a byte; `None` if none begins there.
fn long_end(bytes: &[u8], at: usize) -> Option<usize> {
    let signs = bytes.get(at + 1..)?.iter().take_while(|byte| **byte == b'=').count();
    if bytes.get(at) != Some(&b'[') || bytes.get(at + 1 + signs) != Some(&b'[') {
        return None;
    }
    let close = [&b"]"[..], &vec![b'='; signs], &b"]"[..]].concat();
    let begin = at + 2 + signs;
    let length = bytes[begin..].windows(close.len()).position(|window| *window == close);
    Some(length.map_or(bytes.len(), |length| begin + length + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text(text)).collect()
    }

    #[test]
    fn an_unfinished_script_is_split_into_tokens() {
        assert_eq!(
            words("rb.each(\"fo\\\"e\", 1.5)"),
            ["rb", ".", "each", "(", "\"fo\\\"e\"", ",", "1", ".", "5", ")"]
        );
        assert_eq!(words("a--[[b\nc]]d -- e\nf"), ["a", "--[[b\nc]]", "d", "-- e", "f"]);
        assert_eq!(words("x = \"open\ny = [==[a]]\n]==]"), ["x", "=", "\"open", "y", "=", "[==[a]]\n]==]"]);
        assert_eq!(words("a[b] `x\n{y}` ü \\"), ["a", "[", "b", "]", "`x\n{", "y", "}`", "ü", "\\"]);
        assert_eq!(words("`a{f({ `b{c}` })}d` e"), ["`a{", "f", "(", "{", "`b{", "c", "}`", "}", ")", "}d`", "e"]);
        for open in ["\"", "[[", "--[[", "`\\", "'\\", "--", "[=", "\"\\"] {
            assert!(!words(open).is_empty(), "{open}");
        }
    }

    #[test]
    fn the_inner_of_a_text_has_no_quotes() {
        for (text, inner) in
            [("\"ab\"", "ab"), ("\"ab", "ab"), ("[[ab]]", "ab"), ("[=[ab]=]", "ab"), ("\"", ""), ("[[", "")]
        {
            let [token] = tokens(text)[..] else { panic!("{text}") };
            assert_eq!(&text[token.inner(text)], inner, "{text}");
        }
    }
}
