use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::document::position_in;
use super::expected::call_place;
use super::lookup::{FileLookup, PROSE_KEYS};
use super::outline::{OutlineSort, outline};
use super::target::{NameSense, is_mentioned, is_rule_id, sense_at};
use super::token::{Token, TokenKind, tokens};
use riskbreaker_script::api;

/// The sorts of words that a grammar cannot know, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SemanticSort {
    /// A word of `rb`, or a method of specs.
    Word,
    Verb,
    Kind,
    Field,
    /// A derived value, or a method of every entity.
    Method,
    Switch,
    /// The id of a card, an item, a hook, an entry of the agenda, a character, a scenario or a policy.
    Id,
    Rule,
    /// The topic of a question.
    Topic,
    /// The id of a ruleset or a layer.
    Ruleset,
    /// The title of an entity in a spec.
    Title,
}

impl SemanticSort {
    /// The token types of the protocol for them.
    pub const LEGEND: [&str; 11] = [
        "macro",
        "function",
        "class",
        "property",
        "method",
        "variable",
        "enumMember",
        "label",
        "event",
        "namespace",
        "parameter",
    ];
}

/// The semantic tokens of a script or a data file in the encoding of the protocol: five numbers each, with lines and
/// columns relative to the previous token.
pub(super) fn semantic_tokens(lookup: &FileLookup<'_>, text: &str) -> Vec<u32> {
    let names = KnownWords::of(lookup);
    if lookup.place.inside.ends_with(".toml") {
        return encoded(text, &of_data(lookup, &names, text));
    }
    let all = tokens(text);
    let code: Vec<Token> = all.iter().filter(|token| token.kind != TokenKind::Comment).copied().collect();
    let mut found: Vec<(Range<usize>, SemanticSort)> = Vec::new();
    for (index, token) in code.iter().enumerate() {
        if let Some(sort) = sort_of(lookup, &names, &code, index, text) {
            let range = if token.kind == TokenKind::Text { token.inner(text) } else { token.begin..token.end };
            found.push((range, sort));
        }
    }
    for comment in all.iter().filter(|token| token.kind == TokenKind::Comment) {
        found.extend(rules_in(text, comment.begin..comment.end).into_iter().map(|range| (range, SemanticSort::Rule)));
    }
    found.sort_by_key(|(range, _)| range.start);
    encoded(text, &found)
}

/// The meaning of names: in quotes, and as members. The same name can be both.
#[derive(Default)]
struct KnownWords {
    quoted: HashMap<String, SemanticSort>,
    members: HashMap<String, SemanticSort>,
    topics: HashSet<String>,
    rulesets: BTreeSet<String>,
}

impl KnownWords {
    fn of(lookup: &FileLookup<'_>) -> KnownWords {
        // If a name in quotes means several things, the later sort wins.
        let sorts = [
            ("field", SemanticSort::Field),
            ("switch", SemanticSort::Switch),
            ("scenario", SemanticSort::Id),
            ("cast", SemanticSort::Id),
            ("free act", SemanticSort::Id),
            ("policy", SemanticSort::Id),
            ("entry", SemanticSort::Id),
            ("hook", SemanticSort::Id),
            ("item", SemanticSort::Id),
            ("card", SemanticSort::Id),
            ("kind", SemanticSort::Kind),
        ];
        let mut known = KnownWords { rulesets: lookup.ruleset_ids(), ..KnownWords::default() };
        for book in lookup.books() {
            known.topics.extend(book.declared_topics().iter().map(|topic| topic.name.to_string()));
            known.topics.extend(book.topics());
            for (sort, of) in sorts {
                let names = match sort {
                    "policy" => book.policies().iter().map(|policy| &**policy).collect(),
                    _ => book.names_of(sort).unwrap_or_default(),
                };
                known.quoted.extend(names.into_iter().map(|name| (name.to_owned(), of)));
            }
            for kind in &book.schema().kinds {
                known.members.entry(kind.name.to_string()).or_insert(SemanticSort::Kind);
                known.members.extend(kind.derived.iter().map(|name| (name.to_string(), SemanticSort::Method)));
                known.members.extend(kind.fields.iter().map(|field| (field.name.to_string(), SemanticSort::Field)));
            }
        }
        known
    }
}

/// The meaning of a token in its ruleset; `None` if a grammar knows as much.
fn sort_of(
    lookup: &FileLookup<'_>,
    names: &KnownWords,
    code: &[Token],
    index: usize,
    text: &str,
) -> Option<SemanticSort> {
    let token = &code[index];
    let before = |back: usize| index.checked_sub(back).map_or("", |at| code[at].text(text));
    match token.kind {
        TokenKind::Text => {
            let inner = token.inner(text);
            let said = &text[inner];
            if is_rule_id(said) {
                return Some(SemanticSort::Rule);
            }
            // A text for people may consist of one word that is also an id.
            let is_prose = before(1) == "=" && PROSE_KEYS.contains(&before(2));
            if is_prose {
                return None;
            }
            if is_topic(code, index, text) && names.topics.contains(said) {
                return Some(SemanticSort::Topic);
            }
            let in_spec = lookup.place.inside.starts_with("specs/");
            if in_spec && is_title(code, index, text) {
                return Some(SemanticSort::Title);
            }
            let of_ruleset = || names.rulesets.contains(said).then_some(SemanticSort::Ruleset);
            names.quoted.get(said).copied().or_else(of_ruleset)
        }
        TokenKind::Name => {
            let name = token.text(text);
            match (before(4), before(3), before(2), before(1)) {
                ("rb", ".", "act", ".") => Some(SemanticSort::Verb),
                ("rb", ".", "switches", ".") => Some(SemanticSort::Switch),
                (_, _, "rb", ".") => api::word(name).map(|_| SemanticSort::Word),
                (_, _, "t", ":") if lookup.place.inside.starts_with("specs/") => {
                    api::spec_method(name).map(|_| SemanticSort::Word)
                }
                (_, _, library, ".") if api::library(library).is_some() => None,
                (.., ":") if api::ENTITY_METHODS.contains(&name) => Some(SemanticSort::Method),
                _ if lookup.place.inside.starts_with("specs/") && is_title(code, index, text) => {
                    Some(SemanticSort::Title)
                }
                _ if names.topics.contains(name) && is_topic_key(lookup, code, index, text) => {
                    Some(SemanticSort::Topic)
                }
                _ if is_mentioned(code, index, text) => match sense_at(code, index, text) {
                    NameSense::Verb => Some(SemanticSort::Verb),
                    NameSense::Switch => Some(SemanticSort::Switch),
                    NameSense::Any | NameSense::Fact | NameSense::Context if is_own_key(code, index, text) => None,
                    NameSense::Any | NameSense::Fact | NameSense::Context => names.members.get(name).copied(),
                },
                _ => None,
            }
        }
        TokenKind::Number | TokenKind::Comment | TokenKind::Sign => None,
    }
}

/// True for the text of a topic: `topic = "risk"`, `q.topic == "risk"`, `t:answer("risk", 2)`.
fn is_topic(code: &[Token], index: usize, text: &str) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |at| code[at].text(text));
    let named = before(1) == "=" && (before(2) == "topic" || matches!(before(2), "=" | "~") && before(3) == "topic");
    named || is_first_argument(code, index, text, &["answer", "asked", "refused_answer"])
}

/// True for the key of a table of answers by topic, or of the declared topics.
fn is_topic_key(lookup: &FileLookup<'_>, code: &[Token], index: usize, text: &str) -> bool {
    if !is_mentioned(code, index, text) || matches!(code[index.max(1) - 1].text(text), "." | ":") {
        return false;
    }
    let Some(place) = call_place(text, &code[..index]) else { return false };
    let keys: Vec<&str> = place.keys.iter().map(|key| key.as_deref().unwrap_or_default()).collect();
    match (&*place.callee, place.argument, &*keys) {
        ("rb.play", 0, ["topics"]) => true,
        ("t:play" | "t:refused" | "t:odds", 2, [])
        | ("t:turn" | "t:free", 1 | 2, [])
        | ("t:refused_because", 3, []) => lookup.place.inside.starts_with("specs/"),
        _ => false,
    }
}

/// True for the title of an entity in a spec: the first text of a method that takes one, or a key of `t:expect`.
fn is_title(code: &[Token], index: usize, text: &str) -> bool {
    const METHODS: [&str; 9] =
        ["play", "turn", "refused", "refused_because", "greyed", "enabled", "edit", "value", "odds"];
    let is_text = code[index].kind == TokenKind::Text;
    if is_text && is_first_argument(code, index, text, &METHODS) {
        return true;
    }
    let word = |at: usize| code.get(at).map_or("", |token| token.text(text));
    let before = |back: usize| index.checked_sub(back).map_or("", word);
    let is_key = !is_text && matches!(before(1), "{" | "," | ";") && word(index + 1) == "=" && word(index + 2) != "=";
    let is_quoted_key = is_text && before(1) == "[" && word(index + 1) == "]" && word(index + 2) == "=";
    let end = if is_quoted_key { index - 1 } else { index };
    (is_key || is_quoted_key)
        && call_place(text, &code[..end])
            .is_some_and(|place| place.callee == "t:expect" && place.argument == 0 && place.keys.is_empty())
}

/// True for the first argument of one of these methods of specs.
fn is_first_argument(code: &[Token], index: usize, text: &str, methods: &[&str]) -> bool {
    let before = |back: usize| index.checked_sub(back).map_or("", |at| code[at].text(text));
    before(1) == "(" && methods.contains(&before(2)) && before(3) == ":" && before(4) == "t"
}

/// The words of a data file that have a meaning: the names in quotes, and the keys that are fields or switches.
fn of_data(lookup: &FileLookup<'_>, names: &KnownWords, text: &str) -> Vec<(Range<usize>, SemanticSort)> {
    let mut found: Vec<(Range<usize>, SemanticSort)> = Vec::new();
    for key in outline(&lookup.place.inside, text).into_iter().filter(|item| item.sort == OutlineSort::Key) {
        let around: Vec<&str> = key.around.iter().map(String::as_str).collect();
        let sort = match (&*lookup.place.inside, &*around) {
            (_, ["switches"]) => Some(SemanticSort::Switch),
            ("ruleset.toml", _) => None,
            _ => names.members.get(&key.name).copied().filter(|sort| *sort == SemanticSort::Field),
        };
        found.extend(sort.map(|sort| (key.range, sort)));
    }
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let is_prose = line.split('=').next().is_some_and(|key| PROSE_KEYS.contains(&key.trim()));
        let code = line.split('#').next().unwrap_or_default();
        let mut quotes = code.match_indices('"').map(|(at, _)| at);
        while let (false, Some(open), Some(close)) = (is_prose, quotes.next(), quotes.next()) {
            let said = &code[open + 1..close];
            let of_ruleset = || names.rulesets.contains(said).then_some(SemanticSort::Ruleset);
            let sort = names.quoted.get(said).copied().filter(|sort| *sort == SemanticSort::Id).or_else(of_ruleset);
            found.extend(sort.map(|sort| (begin + open + 1..begin + close, sort)));
        }
        begin += line.len();
    }
    found.sort_by_key(|(range, _)| range.start);
    found.dedup_by_key(|(range, _)| range.start);
    found
}

/// True for a key that a word of the vocabulary itself takes, such as `seat` in a question.
fn is_own_key(code: &[Token], index: usize, text: &str) -> bool {
    if code[index - 1].text(text) == "." || code[index - 1].text(text) == ":" {
        return false;
    }
    let place = call_place(text, &code[..index]);
    let asks = |word: &str| api::QUESTIONS.iter().any(|(ask, _)| *ask == word);
    place.is_some_and(|place| place.keys.is_empty() && place.callee.strip_prefix("rb.").is_some_and(asks))
}

/// The ids of rules in a comment.
fn rules_in(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let (mut found, mut begin) = (Vec::new(), within.start);
    for piece in text[within].split_inclusive(|letter| !is_part(letter)) {
        let word = piece.trim_matches(|letter| !is_part(letter) || letter == '-');
        if is_rule_id(word) {
            let at = begin + piece.find(word).unwrap_or_default();
            found.push(at..at + word.len());
        }
        begin += piece.len();
    }
    found
}

fn encoded(text: &str, found: &[(Range<usize>, SemanticSort)]) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(found.len() * 5);
    let (mut line, mut column) = (0, 0);
    // Positions are counted from the last one, so that a long text is scanned only once.
    let (mut last, mut last_at) = (position_in(text, 0), 0);
    for (range, sort) in found {
        let piece = &text[range.clone()];
        if piece.contains(['\n', '\r']) || piece.is_empty() {
            continue;
        }
        let on = position_in(&text[last_at..], range.start - last_at);
        let place = (last.line + on.line, if on.line == 0 { last.character + on.character } else { on.character });
        (last.line, last.character, last_at) = (place.0, place.1, range.start);
        let behind = if place.0 == line { place.1 - column } else { place.1 };
        numbers.extend([place.0 - line, behind, piece.encode_utf16().count() as u32, *sort as u32, 0]);
        (line, column) = place;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_in_comments() {
        let text = "-- A-1: as TUG-22 says, not --B-3-- or a-b";
        let found: Vec<&str> = rules_in(text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["A-1", "TUG-22", "B-3"]);
    }

    #[test]
    fn semantic_tokens_have_positions_relative_to_the_last_token() {
        let text = "ü a\r\n\u{1f3b2}bc d";
        let place = |piece: &str| {
            let at = text.find(piece).unwrap();
            at..at + piece.len()
        };
        let found =
            [(place("a"), SemanticSort::Kind), (place("bc"), SemanticSort::Field), (place("d"), SemanticSort::Rule)];
        assert_eq!(encoded(text, &found), [0, 2, 1, 2, 0, 1, 2, 2, 3, 0, 0, 3, 1, 7, 0]);
    }
}
