use std::ops::Range;

use super::expected::call_place;
use super::scopes::Scopes;
use super::token::{Token, TokenKind, tokens};
use super::verb_params::VerbParams;

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
    Name(String, NameSense),
    /// A local variable of the script, by the byte of its declaration.
    Variable { name: String, declared: usize },
    /// A parameter of a verb.
    Param { verb: String, name: String },
    /// A value of an enum, by the name of its field, topic or parameter. [`target_at`] does not know which texts are one:
    /// see [`FileLookup::refined`](super::lookup::FileLookup::refined).
    Value { of: String, value: String },
}

/// The meaning of a declared name, as far as its place shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameSense {
    Any,
    Verb,
    /// A fact of cards or items.
    Fact,
    /// A member of `ctx` of a card.
    Context,
    Switch,
}

impl NameSense {
    /// True if names at places with these meanings can be the same. Verbs and facts are known by their places alone.
    pub fn can_be(self, other: NameSense) -> bool {
        let is_sure = |sense| matches!(sense, NameSense::Verb | NameSense::Fact);
        self == other || !is_sure(self) && !is_sure(other)
    }
}

/// The meaning of the name or text at the index of a token.
pub(super) fn sense_at(tokens: &[Token], index: usize, text: &str) -> NameSense {
    let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
    if before(1) == "." {
        return match (before(5), before(4), before(3), before(2)) {
            (_, _, _, "act") => NameSense::Verb,
            (_, "rb", ".", "switches") => NameSense::Switch,
            (_, _, _, "ctx") => NameSense::Context,
            ("." | "rb", "cards" | "items", ".", _) | (_, _, _, "card" | "item") => NameSense::Fact,
            _ => NameSense::Any,
        };
    }
    let is_key =
        matches!(before(1), "{" | "," | ";") && tokens.get(index + 1).is_some_and(|next| next.text(text) == "=");
    let Some(place) = call_place(text, &tokens[..index]) else { return NameSense::Any };
    let keys: Vec<&str> = place.keys.iter().map(|key| key.as_deref().unwrap_or_default()).collect();
    match (&*place.callee, place.argument, &*keys) {
        ("rb.maneuver" | "rb.item", 0, []) if is_key => NameSense::Fact,
        ("rb.play", 0, ["card" | "item"]) if is_key => NameSense::Fact,
        ("rb.play", 0, ["context"]) if is_key => NameSense::Context,
        ("rb.hook" | "rb.item", 0, ["before" | "after" | "wrap"]) | ("rb.verbs", 0, []) if is_key => NameSense::Verb,
        ("rb.fact", 1, []) if !is_key => NameSense::Fact,
        ("t:switch", 0, []) if !is_key => NameSense::Switch,
        _ => NameSense::Any,
    }
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
        return Some((NameTarget::Name(text[range.clone()].to_owned(), NameSense::Any), range));
    }
    if let Some(place) = VerbParams::of(text).at(at) {
        let target = NameTarget::Param { verb: place.verb.clone(), name: place.name.clone() };
        return Some((target, place.range.clone()));
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
            let target = match is_required {
                true => NameTarget::File(said.to_owned()),
                false => NameTarget::Name(said.to_owned(), sense_at(&tokens, index, text)),
            };
            (!said.is_empty()).then_some((target, inner))
        }
        TokenKind::Name => {
            let name = token.text(text).to_owned();
            if let Some((variable, range)) = Scopes::of(text).at(token.begin) {
                let target = NameTarget::Variable { name: variable.name.clone(), declared: variable.declared.start };
                return Some((target, range));
            }
            let target = match (before(2), before(1)) {
                ("rb", ".") => NameTarget::Word { of: "rb", name },
                ("t", ":") => NameTarget::Word { of: "t", name },
                _ if is_mentioned(&tokens, index, text) => NameTarget::Name(name, sense_at(&tokens, index, text)),
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
        let name = |name: &str| Some((NameTarget::Name(name.into(), NameSense::Any), name.to_owned()));
        assert_eq!(at("a.luau", script, "UG-1"), Some((NameTarget::Rule("TUG-1".into()), "TUG-1".into())));
        assert_eq!(at("a.luau", script, "ib/x"), Some((NameTarget::File("lib/x".into()), "lib/x".into())));
        assert_eq!(
            at("a.luau", script, "item"),
            Some((NameTarget::Word { of: "rb", name: "item".into() }, "item".into()))
        );
        assert_eq!(at("a.luau", script, "cap"), name("cap"));
        assert_eq!(at("a.luau", script, "hits"), name("hits"));
        assert_eq!(
            at("a.luau", script, "id ="),
            Some((NameTarget::Name("id".into(), NameSense::Fact), "id".to_owned()))
        );
        assert_eq!(at("a.luau", script, "local"), None);
        assert_eq!(at("a.toml", "wit = \"fox_cub\"", "ox"), name("fox_cub"));
        assert_eq!(target_at("a.luau", "", 0), None);
        let variable = NameTarget::Variable { name: "lib".into(), declared: script.find("lib =").unwrap() };
        assert_eq!(at("a.luau", script, "lib ="), Some((variable, "lib".into())));
    }

    #[test]
    fn the_place_of_a_name_shows_its_meaning() {
        let sense = |text: &str, piece: &str| match at("a.luau", text, piece) {
            Some((NameTarget::Name(_, sense), _)) => sense,
            other => panic!("{piece}: {other:?}"),
        };
        let card = "return rb.maneuver({ harm = 2, resolve = function(ctx) rb.act.hurt(ctx.foe, ctx.foe.hits) rb.fact(ctx.card, \"risk\") end })";
        assert_eq!(sense(card, "harm"), NameSense::Fact);
        assert_eq!(sense(card, "hurt"), NameSense::Verb);
        assert_eq!(sense(card, "foe,"), NameSense::Context);
        assert_eq!(sense(card, "hits"), NameSense::Any);
        assert_eq!(sense(card, "risk"), NameSense::Fact);
        assert_eq!(sense("return rb.hook({ before = { hurt = f } })", "hurt"), NameSense::Verb);
        assert_eq!(sense("return rb.play({ context = { foe = {} }, card = { harm = 1 } })", "foe"), NameSense::Context);
        assert!(NameSense::Context.can_be(NameSense::Any) && !NameSense::Fact.can_be(NameSense::Any));
    }
}
