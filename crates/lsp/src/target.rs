use std::ops::Range;

use super::token::{Token, TokenKind, tokens};

/// The name at a position of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NameTarget {
    /// A word of the vocabulary, such as `rb.each`, or a method of specs, such as `t:dice`.
    Word { of: &'static str, name: String },
    /// The id of a rule.
    Rule(String),
    /// A file that a script requires.
    File(String),
    /// The name of something that a ruleset declares: in a text, as a member, or as a key.
    Name(String),
}

/// True if a word has the form of a rule id, such as `TUG-1` or `RB1-A-22`.
pub(super) fn is_rule_id(word: &str) -> bool {
    word.contains('-')
        && word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word.ends_with(|letter: char| letter.is_ascii_alphanumeric())
        && word.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '-')
}

/// The byte range of the word around a position. `part` is true for the characters of words.
fn word_around(text: &str, within: Range<usize>, at: usize, part: impl Fn(char) -> bool) -> Option<Range<usize>> {
    if at < within.start || at > within.end || !text.is_char_boundary(at) {
        return None;
    }
    let before: usize =
        text[within.start..at].chars().rev().take_while(|letter| part(*letter)).map(char::len_utf8).sum();
    let after: usize = text[at..within.end].chars().take_while(|letter| part(*letter)).map(char::len_utf8).sum();
    (before + after > 0).then(|| at - before..at + after)
}

fn rule_at(text: &str, within: Range<usize>, at: usize) -> Option<(NameTarget, Range<usize>)> {
    let range = word_around(text, within, at, |letter| letter.is_ascii_alphanumeric() || letter == '-')?;
    let word = &text[range.clone()];
    is_rule_id(word).then(|| (NameTarget::Rule(word.to_owned()), range.clone()))
}

/// The name at a byte of a file, with its byte range.
pub(super) fn target_at(inside: &str, text: &str, at: usize) -> Option<(NameTarget, Range<usize>)> {
    let rule = rule_at(text, 0..text.len(), at);
    if rule.is_some() {
        return rule;
    }
    if !(inside.ends_with(".luau") || inside.ends_with(".lua")) {
        let range = word_around(text, 0..text.len(), at, |letter| letter.is_alphanumeric() || letter == '_')?;
        return Some((NameTarget::Name(text[range.clone()].to_owned()), range));
    }
    let tokens: Vec<Token> = code(text);
    let index =
        tokens.iter().position(|token| token.begin <= at && at <= token.end && token.kind != TokenKind::Sign)?;
    let token = tokens[index];
    let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
    match token.kind {
        TokenKind::Text => {
            let inner = token.inner(text);
            let said = &text[inner.clone()];
            let is_required = before(1) == "require" || before(2) == "require";
            let target =
                if is_required { NameTarget::File(said.to_owned()) } else { NameTarget::Name(said.to_owned()) };
            (!said.is_empty()).then_some((target, inner))
        }
        TokenKind::Name => {
            let name = token.text(text).to_owned();
            let target = match (before(2), before(1)) {
                ("rb", ".") => NameTarget::Word { of: "rb", name },
                ("t", ":") => NameTarget::Word { of: "t", name },
                _ if is_mentioned(&tokens, index, text) => NameTarget::Name(name),
                _ => return None,
            };
            Some((target, token.begin..token.end))
        }
        _ => None,
    }
}

/// The tokens of a script without its comments.
pub(super) fn code(text: &str) -> Vec<Token> {
    let mut tokens = tokens(text);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    tokens
}

/// True if a name is a member or a key of a table, so that a ruleset may declare it.
pub(super) fn is_mentioned(tokens: &[Token], index: usize, text: &str) -> bool {
    let before = index.checked_sub(1).map_or("", |at| tokens[at].text(text));
    let after = tokens.get(index + 1).map_or("", |token| token.text(text));
    let doubled =
        tokens.get(index + 2).is_some_and(|next| next.text(text) == "=" && next.begin == tokens[index + 1].end);
    let is_member = matches!(before, "." | ":") && index.checked_sub(2).is_none_or(|at| tokens[at].text(text) != ".");
    is_member || (matches!(before, "{" | "," | ";") && after == "=" && !doubled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(inside: &str, text: &str, piece: &str) -> Option<(NameTarget, String)> {
        let (target, range) = target_at(inside, text, text.find(piece).unwrap())?;
        Some((target, text[range].to_owned()))
    }

    #[test]
    fn a_position_names_a_word_a_rule_a_file_or_a_declared_name() {
        let script = "-- by TUG-1\nlocal lib = require(\"lib/x\")\nreturn rb.item({ id = \"cap\", f = function(e) return e.foe.hits end })";
        let name = |name: &str| Some((NameTarget::Name(name.into()), name.to_owned()));
        assert_eq!(at("a.luau", script, "UG-1"), Some((NameTarget::Rule("TUG-1".into()), "TUG-1".into())));
        assert_eq!(at("a.luau", script, "ib/x"), Some((NameTarget::File("lib/x".into()), "lib/x".into())));
        assert_eq!(
            at("a.luau", script, "item"),
            Some((NameTarget::Word { of: "rb", name: "item".into() }, "item".into()))
        );
        assert_eq!(at("a.luau", script, "cap"), name("cap"));
        assert_eq!(at("a.luau", script, "hits"), name("hits"));
        assert_eq!(at("a.luau", script, "id ="), name("id"));
        assert_eq!(at("a.luau", script, "local"), None);
        assert_eq!(at("a.toml", "wit = \"fox_cub\"", "ox"), name("fox_cub"));
        assert_eq!(target_at("a.luau", "", 0), None);
    }
}
