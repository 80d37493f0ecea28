//! The values of enums in scripts and data: where a text is the value of a field, an answer or a parameter.

use std::ops::Range;

use super::target::code;
use super::token::{Token, TokenKind};

/// A text with the name that it is a value of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldValue {
    /// The name of the field, of the topic or of the parameter.
    pub of: String,
    /// The bytes of the text, without its quotes.
    pub range: Range<usize>,
    /// True if the text is written in `rb.enum`.
    pub is_declared: bool,
}

/// The name that the text at the index of a token is a value of: in `x.NAME == "value"`, `NAME = "value"`,
/// `x:set("NAME", "value")` and `NAME = rb.enum({ "value" })`.
pub(super) fn field_value(text: &str, tokens: &[Token], index: usize) -> Option<FieldValue> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text(text));
    let before = |back: usize| index.checked_sub(back).map_or("", word);
    let token = tokens.get(index).filter(|token| token.kind == TokenKind::Text)?;
    let range = token.inner(text);
    let found = |of: &str, is_declared| Some(FieldValue { of: of.to_owned(), range: range.clone(), is_declared });
    let is_name = |at: usize| tokens.get(at).is_some_and(|token| token.kind == TokenKind::Name);
    // `==`, `~=` and `=` are signs of one letter each.
    if before(1) == "=" && matches!(before(2), "=" | "~") && index >= 5 && is_name(index - 3) && before(4) == "." {
        return found(before(3), false);
    }
    if before(1) == "=" && index >= 2 && is_name(index - 2) && matches!(before(3), "{" | "," | ";") {
        return found(before(2), false);
    }
    if before(1) == "," && before(3) == "(" && before(4) == "set" && before(5) == ":" {
        let named = tokens[index - 2];
        return (named.kind == TokenKind::Text).then(|| &text[named.inner(text)]).and_then(|of| found(of, false));
    }
    if matches!((word(index + 1), word(index + 2)), ("=" | "~", "=")) && is_name(index + 3) {
        let mut at = index + 3;
        while word(at + 1) == "." && is_name(at + 2) {
            at += 2;
        }
        return if at > index + 3 { found(word(at), false) } else { None };
    }
    let mut open = index.checked_sub(1)?;
    while open > 0 && tokens[open].kind != TokenKind::Sign || word(open) == "," {
        open = open.checked_sub(1)?;
    }
    let is_enum = word(open) == "{" && open >= 4 && word(open - 1) == "(" && word(open - 2) == "enum";
    if !is_enum || word(open - 4) != "rb" {
        return None;
    }
    let owner = |back: usize| open.checked_sub(back).map_or("", word);
    match owner(5) {
        "=" => found(owner(6), true),
        "," if owner(7) == "{" => {
            let named = tokens[open - 6];
            (named.kind == TokenKind::Text).then(|| &text[named.inner(text)]).and_then(|of| found(of, true))
        }
        // A topic or a member with more than its type: `risk = { rb.enum({ "low" }) }`.
        "{" if owner(6) == "=" => found(owner(7), true),
        _ => None,
    }
}

/// The texts in a data file that are values of keys on their line.
pub(super) fn values_of_data(text: &str) -> Vec<FieldValue> {
    let mut found = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        for (quote, _) in line.match_indices('"') {
            let key = line[..quote].trim_end().strip_suffix('=').map(str::trim_end);
            let of = key.map(|key| &key[key.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()..]);
            let end = line[quote + 1..].find('"');
            if let (Some(of), Some(end)) = (of.filter(|of| !of.is_empty()), end) {
                let range = begin + quote + 1..begin + quote + 1 + end;
                found.push(FieldValue { of: of.to_owned(), range, is_declared: false });
            }
        }
        begin += line.len();
    }
    found
}

/// The value of a name in a file at a byte.
pub(super) fn value_at(inside: &str, text: &str, at: usize) -> Option<FieldValue> {
    let is_at = |value: &FieldValue| value.range.start <= at && at <= value.range.end;
    if inside.ends_with(".toml") {
        return values_of_data(text).into_iter().find(is_at);
    }
    let tokens = code(text);
    let index =
        tokens.iter().position(|token| token.kind == TokenKind::Text && token.begin <= at && at <= token.end)?;
    field_value(text, &tokens, index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_value_of_the_name_beside_it() {
        let of = |text: &str| {
            let at = text.find("mail").unwrap();
            value_at("a.luau", text, at).map(|value| (value.of, value.is_declared))
        };
        let sure = |name: &str| Some((name.to_owned(), false));
        let declared = |name: &str| Some((name.to_owned(), true));
        assert_eq!(of("if e.foe.type == \"mail\" then"), sure("type"));
        assert_eq!(of("if e.type ~= \"mail\" then"), sure("type"));
        assert_eq!(of("if \"mail\" == e.foe.type then"), sure("type"));
        assert_eq!(of("f({ x = 1, type = \"mail\" })"), sure("type"));
        assert_eq!(of("e:set(\"type\", \"mail\")"), sure("type"));
        assert_eq!(of("type = rb.enum({ \"none\", \"mail\" }, hidden)"), declared("type"));
        assert_eq!(of("{ \"type\", rb.enum({ \"mail\" }) }"), declared("type"));
        assert_eq!(of("type = { rb.enum({ \"mail\" }), text = \"x\" }"), declared("type"));
        for other in ["f(\"mail\")", "local x = \"mail\"", "f({ \"mail\" })", "x == \"mail\"", "\"mail\""] {
            assert_eq!(of(other), None, "{other}");
        }
        let data = "units = [{ type = \"mail\", x = \"mail\" }]\ntype = \"mail\"\n";
        let all: Vec<String> = values_of_data(data).into_iter().map(|value| value.of).collect();
        assert_eq!(all, ["type", "x", "type"]);
    }
}
