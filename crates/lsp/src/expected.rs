//! What is expected at a place of a script: the keys of a table, and the words of a text, by the call around it.

use std::collections::BTreeSet;

use gen_lsp_types::CompletionItemKind;

use super::completion::{self, names, stem_of};
use super::found_items::FoundItems;
use super::lookup::{FileLookup, PROSE_KEYS};
use super::token::{Token, TokenKind};
use super::type_text::TypeText;
use riskbreaker_check::Members;
use riskbreaker_ruleset::{Fact, ParamType, SwitchKind};
use riskbreaker_script::{api, luau_type, type_module};
use riskbreaker_spec::{EVENT_SORTS, REFUSAL_KINDS};
use riskbreaker_state::{Type, Value};

/// A place inside of the argument of a call.
#[derive(Debug, PartialEq)]
pub(super) struct CallPlace {
    /// What is called: `rb.choose`, `rb.act.hurt`, `t:play`, or `:set` of anything.
    pub callee: String,
    /// The index of the token after the name that is called.
    pub open: usize,
    /// The index of the argument.
    pub argument: usize,
    /// The keys of the tables around the place, the outermost first; `None` for an element of a list.
    pub keys: Vec<Option<String>>,
    /// The arguments before that are texts, without their quotes.
    pub texts: Vec<Option<String>>,
}

/// Returns the place after the last token. `None` if it is in no call, or in the body of a function.
pub(super) fn call_place(text: &str, tokens: &[Token]) -> Option<CallPlace> {
    let mut keys = Vec::new();
    let mut end = tokens.len();
    // A value after `name =` is that of a key.
    if let [.., name, equals] = tokens
        && equals.text(text) == "="
        && name.kind == TokenKind::Name
        && opener(text, &tokens[..tokens.len() - 2])?.1 == "{"
    {
        keys.push(Some(name.text(text).to_owned()));
        end -= 2;
    }
    loop {
        let (open, sign, commas) = opener(text, &tokens[..end])?;
        if sign == "(" {
            keys.reverse();
            let callee = callee(text, &tokens[..open])?;
            let texts = arguments(text, &tokens[open + 1..], commas);
            return Some(CallPlace { callee, open, argument: commas, keys, texts });
        }
        match tokens[..open] {
            [.., name, equals] if equals.text(text) == "=" && name.kind == TokenKind::Name => {
                keys.push(Some(name.text(text).to_owned()));
                end = open - 2;
            }
            [.., before] if matches!(before.text(text), "{" | ",") && opener(text, &tokens[..open])?.1 == "{" => {
                keys.push(None);
                end = open;
            }
            _ => end = open,
        }
    }
}

/// The innermost open bracket or brace at the end of the tokens, and the commas after it. `None` at the top of a file
/// and in the body of a function.
fn opener<'t>(text: &'t str, tokens: &[Token]) -> Option<(usize, &'t str, usize)> {
    let (mut brackets, mut blocks, mut commas) = (0usize, 0usize, 0);
    for (index, token) in tokens.iter().enumerate().rev() {
        let word = token.text(text);
        match (token.kind, word) {
            (TokenKind::Name, "end" | "until") => blocks += 1,
            (TokenKind::Name, "function" | "do" | "repeat") => blocks = blocks.checked_sub(1)?,
            (TokenKind::Name, "if") if !is_expression(text, &tokens[..index]) => blocks = blocks.checked_sub(1)?,
            _ if blocks > 0 => {}
            (TokenKind::Sign, ")" | "]" | "}") => brackets += 1,
            (TokenKind::Sign, "(" | "{" | "[") if brackets > 0 => brackets -= 1,
            (TokenKind::Sign, "(" | "{") => return Some((index, word, commas)),
            (TokenKind::Sign, "[") => return None,
            (TokenKind::Sign, ",") if brackets == 0 => commas += 1,
            (TokenKind::Name, "local" | "return") if brackets == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether an `if` after these tokens is an expression, which has no `end`.
pub(super) fn is_expression(text: &str, before: &[Token]) -> bool {
    let Some(last) = before.last() else { return false };
    let word = last.text(text);
    match last.kind {
        TokenKind::Sign => !matches!(word, ")" | "]" | "}" | ";"),
        TokenKind::Name => matches!(word, "return" | "and" | "or" | "not"),
        TokenKind::Text | TokenKind::Number | TokenKind::Comment => false,
    }
}

/// The name that is called before an open bracket.
fn callee(text: &str, tokens: &[Token]) -> Option<String> {
    let word = |back: usize| tokens.len().checked_sub(back).map_or("", |at| tokens[at].text(text));
    let name = tokens.last().filter(|last| last.kind == TokenKind::Name)?.text(text);
    Some(match (word(5), word(4), word(3), word(2)) {
        ("rb", ".", "act", ".") => format!("rb.act.{name}"),
        (_, _, "rb", ".") => format!("rb.{name}"),
        (_, _, "t", ":") => format!("t:{name}"),
        (_, _, _, ":") => format!(":{name}"),
        _ => return None,
    })
}

/// The first arguments after an open bracket that are only a text.
fn arguments(text: &str, tokens: &[Token], count: usize) -> Vec<Option<String>> {
    let (mut found, mut depth, mut current) = (Vec::new(), 0usize, Vec::new());
    for token in tokens {
        match token.text(text) {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                found.push(only_text(text, &current));
                current.clear();
                continue;
            }
            _ => {}
        }
        current.push(*token);
    }
    found.truncate(count);
    found
}

fn only_text(text: &str, tokens: &[Token]) -> Option<String> {
    let [only] = tokens else { return None };
    (only.kind == TokenKind::Text).then(|| text[only.inner(text)].to_owned())
}

/// Adds the keys that a table takes after its last token, if a key is possible there.
pub(super) fn keys(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) {
    let is_key_place = tokens.last().is_some_and(|last| matches!(last.text(text), "{" | "," | ";"));
    let Some(place) = call_place(text, tokens).filter(|_| is_key_place) else { return };
    if opener(text, tokens).is_none_or(|(_, sign, _)| sign != "{") {
        return;
    }
    let first = place.texts.first().and_then(Option::as_deref);
    match (&*place.callee, place.argument, place.keys.as_slice()) {
        ("t:play", 2, []) | ("t:turn", 1, []) => return topics(lookup, found),
        ("t:expect", 0, [Some(_)]) => {
            for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
                for field in &kind.fields {
                    found.add(&field.name, CompletionItemKind::Field, luau_type(&field.ty), "");
                }
                kind.derived.iter().for_each(|name| found.add(name, CompletionItemKind::Method, "derived value", ""));
            }
            return;
        }
        ("t:happened", 1, []) => {
            let fields =
                EVENT_SORTS.iter().filter(|(sort, _)| first == Some(sort)).flat_map(|(_, fields)| fields.iter());
            fields.for_each(|name| found.add(name, CompletionItemKind::Field, "event", ""));
            return;
        }
        ("rb.attach", 2, []) => {
            let data = lookup.books().filter_map(|book| book.hook_data(first?)).flatten();
            data.for_each(|param| found.add(&param.name, CompletionItemKind::Field, param.ty.to_string(), &param.text));
            return;
        }
        ("rb.relate", 3, []) => {
            let kinds = lookup.books().flat_map(|book| &book.schema().kinds);
            for field in kinds.filter(|kind| first == Some(&*kind.name)).flat_map(|kind| &kind.fields) {
                found.add(&field.name, CompletionItemKind::Field, luau_type(&field.ty), "");
            }
            return;
        }
        _ => {}
    }
    let Some((types, ty)) = type_at(lookup, &place) else { return };
    for (name, ty) in types.keys(&ty) {
        found.add(&name, CompletionItemKind::Field, ty, "");
    }
}

/// The keys that the table around the token at an index has already.
pub(super) fn written_keys<'t>(text: &'t str, tokens: &[Token], index: usize) -> Vec<&'t str> {
    let Some((open, "{", _)) = opener(text, &tokens[..index]) else { return Vec::new() };
    let (mut found, mut depth) = (Vec::new(), 0usize);
    for (at, token) in tokens.iter().enumerate().skip(open + 1) {
        let next = tokens.get(at + 1).map_or("", |token| token.text(text));
        match token.text(text) {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" if depth == 0 => break,
            ")" | "}" | "]" => depth -= 1,
            key if depth == 0 && next == "=" && matches!(tokens[at - 1].text(text), "{" | "," | ";") => found.push(key),
            _ => {}
        }
    }
    found
}

/// The type of a place by the declared type of what is called.
fn type_at(lookup: &FileLookup<'_>, place: &CallPlace) -> Option<(TypeText, String)> {
    let types = TypeText(type_module(lookup.books().next()?, &lookup.derived_types()));
    let function = match place.callee.split_once('.') {
        Some(("rb", name)) => match name.strip_prefix("act.") {
            Some(verb) => types.keys("Verbs").into_iter().find(|(name, _)| name == verb)?.1,
            None => api::word(name)?.ty.to_owned(),
        },
        _ => format!("({}) -> ()", api::spec_method(place.callee.strip_prefix("t:")?)?.ty.0),
    };
    let first = place.texts.first().and_then(Option::as_deref);
    let mut ty = types.parameters(&function, first).get(place.argument)?.clone();
    for key in &place.keys {
        ty = match key {
            Some(key) => types.keys(&ty).into_iter().find(|(name, _)| name == key)?.1,
            None => types.element(&ty)?,
        };
    }
    Some((types, ty))
}

pub(super) fn topics(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for param in lookup.books().flat_map(|book| book.declared_topics()) {
        found.add(&param.name, CompletionItemKind::Value, format!("topic: {}", param.ty), &param.text);
    }
    for topic in lookup.books().flat_map(|book| book.topics()).filter(|topic| !topic.is_empty()) {
        found.add(&topic, CompletionItemKind::Value, "topic", "");
    }
}

/// Adds the words that a text can be at the end of the tokens, which are those before the text.
pub(super) fn words(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) {
    compared(lookup, text, tokens, found);
    if tokens.last().is_some_and(|last| last.text(text) == "return") && lookup.place.inside.starts_with("policies/") {
        let topics = lookup.books().flat_map(|book| book.topics()).collect::<BTreeSet<String>>();
        return topics.iter().chain([&"card".to_owned()]).for_each(|topic| answers(lookup, topic, found));
    }
    let Some(place) = call_place(text, tokens).filter(|_| found.is_empty()) else { return };
    if place.callee.starts_with("t:") {
        return of_spec(lookup, &place, found);
    }
    let first = place.texts.first().and_then(Option::as_deref);
    match (&*place.callee, place.argument, place.keys.as_slice()) {
        (_, _, [.., Some(key)]) if key == "topic" => topics(lookup, found),
        (_, _, [.., Some(key)]) if key == "seat" => seats(lookup, found),
        (_, _, [.., Some(key)]) if key == "audience" => audiences(lookup, found),
        ("rb.spec" | "rb.cases", 1, []) => rule_ids(lookup, found),
        ("rb.maneuver" | "rb.item" | "rb.hook" | "rb.policy", 0, [Some(key)]) if key == "id" => {
            found.add(stem_of(&lookup.place.inside), CompletionItemKind::Value, "the name of the file", "");
        }
        ("rb.policy", 0, [Some(key)]) if key == "base" => policies(lookup, found),
        ("rb.maneuver" | "rb.item", 0, [Some(fact)]) => values_of_fact(lookup, &place, fact, found),
        (":set", 1, []) => first.into_iter().for_each(|field| values_of(lookup, field, found)),
        (":set" | ":add" | ":shift" | ":reaches", 0, []) => fields_of(lookup, text, tokens, &place, found),
        ("rb.fact", 1, []) => {
            let facts = lookup.books().flat_map(|book| &book.declarations().card_facts);
            facts.for_each(|(name, ty)| found.add(name, CompletionItemKind::Field, ty, ""));
        }
        ("rb.lasts", 1, [Some(key)]) if key == "moment" => names(lookup, &["entry"], found),
        ("rb.agenda", 0, [Some(key)]) if key == "what" => names(lookup, &["entry"], found),
        ("rb.spawn", 1, [Some(field)]) => values_of(lookup, field, found),
        ("rb.whisper", 0, []) => audiences(lookup, found),
        ("rb.open", 1, []) => names(lookup, &["card"], found),
        _ => {
            if let Some((types, ty)) = type_at(lookup, &place) {
                types.words(&ty).iter().for_each(|word| found.add(word, CompletionItemKind::Value, "", ""));
            }
        }
    }
}

/// Adds the words that a text can be in a call of a method of specs.
fn of_spec(lookup: &FileLookup<'_>, place: &CallPlace, found: &mut FoundItems) {
    let text_at = |at: usize| place.texts.get(at).and_then(Option::as_deref);
    match (&place.callee[2..], place.argument, place.keys.as_slice()) {
        ("answer" | "asked" | "refused_answer", 0, []) => topics(lookup, found),
        ("answer", 1, []) => text_at(0).into_iter().for_each(|topic| answers(lookup, topic, found)),
        ("play", 2, [Some(topic)]) | ("turn", 1, [Some(topic)]) | ("free", 2, [Some(topic)]) => {
            answers(lookup, topic, found);
        }
        ("expect", 0, [Some(_), Some(field)]) => values_of(lookup, field, found),
        ("expect", 0, [Some(_)]) | ("odds", 3, [Some(_)]) => {
            ["unchanged", "gone"].iter().for_each(|word| found.add(word, CompletionItemKind::Value, "", ""));
        }
        ("switch", 1, []) => text_at(0).into_iter().for_each(|switch| of_switch(lookup, switch, found)),
        ("seat", 1, []) => policies(lookup, found),
        ("seat" | "free" | "closed" | "undo" | "undo_refused" | "sees" | "hidden", 0, []) => seats(lookup, found),
        ("play" | "turn" | "greyed" | "enabled" | "refused" | "refused_because" | "odds" | "value" | "edit", 0, []) => {
            people(lookup, found);
        }
        ("play" | "greyed" | "enabled" | "refused" | "refused_because" | "odds", 1, []) => {
            names(lookup, &["card"], found)
        }
        ("value" | "edit", 1, []) => {
            completion::fields_of(lookup, None, found);
            if place.callee == "t:value" {
                let kinds = lookup.books().flat_map(|book| &book.schema().kinds);
                let derived = kinds.flat_map(|kind| &kind.derived);
                derived.for_each(|name| found.add(name, CompletionItemKind::Method, "derived value", ""));
            }
        }
        ("edit", 2, []) => text_at(1).into_iter().for_each(|field| values_of(lookup, field, found)),
        ("given" | "given_refused", 0, []) => names(lookup, &["scenario"], found),
        ("given", 1, []) | ("rules" | "rules_refused", 0, []) => {
            lookup.ruleset_ids().iter().for_each(|id| found.add(id, CompletionItemKind::Module, "ruleset", ""));
        }
        ("free" | "closed", 1, []) => names(lookup, &["free act"], found),
        ("run", 0, []) => names(lookup, &["entry"], found),
        ("titles", 0, []) => names(lookup, &["kind"], found),
        ("breach", 1, []) => rule_ids(lookup, found),
        ("happened", 0, []) => {
            EVENT_SORTS.iter().for_each(|(sort, _)| found.add(sort, CompletionItemKind::EnumMember, "event", ""));
        }
        ("refused" | "refused_because" | "refused_answer" | "closed", _, [Some(key)]) if key == "kind" => {
            REFUSAL_KINDS.iter().for_each(|(kind, _)| found.add(kind, CompletionItemKind::EnumMember, "refusal", ""));
        }
        _ => {}
    }
}

/// Adds the answers to the questions of a topic that are known: the words of its declared type, or the cards.
fn answers(lookup: &FileLookup<'_>, topic: &str, found: &mut FoundItems) {
    if topic == "card" {
        names(lookup, &["card"], found);
    }
    for param in lookup.books().filter_map(|book| book.declared_topic(topic)) {
        if let ParamType::Value(Type::Enum(values)) = &param.ty {
            values.iter().for_each(|value| found.add(value, CompletionItemKind::EnumMember, topic, &param.text));
        }
    }
}

/// Adds the values of a fact on other cards or items, and those that its type names.
fn values_of_fact(lookup: &FileLookup<'_>, place: &CallPlace, fact: &str, found: &mut FoundItems) {
    if PROSE_KEYS.contains(&fact) {
        return;
    }
    if let Some((types, ty)) = type_at(lookup, place) {
        types.words(&ty).iter().for_each(|word| found.add(word, CompletionItemKind::Value, fact, ""));
    }
    for book in lookup.books() {
        let cards = if place.callee == "rb.item" { book.items() } else { book.cards() };
        for value in cards.iter().filter_map(|card| card.facts.get(fact)) {
            if let Fact::Plain(Value::Text(value)) = value {
                found.add(value, CompletionItemKind::Value, format!("fact `{fact}`"), "");
            }
        }
    }
}

/// Adds the titles of the entities in `cast/` and `scenarios/`.
fn people(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    fn titled(value: &Value, titles: &[&str], found: &mut FoundItems) {
        match value {
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    match value {
                        Value::Text(title) if titles.contains(&&**key) => {
                            found.add(title, CompletionItemKind::Value, "entity", "");
                        }
                        _ => titled(value, titles, found),
                    }
                }
            }
            Value::List(list) => list.iter().for_each(|value| titled(value, titles, found)),
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Ratio(..) | Value::Text(_) | Value::Entity(_) => {}
        }
    }
    for book in lookup.books() {
        let kinds = book.schema().kinds.iter();
        let titles: Vec<&str> = kinds.filter_map(|kind| Some(&*kind.field(kind.title?).name)).collect();
        book.cast().values().for_each(|value| titled(value, &titles, found));
        for tables in book.scenarios().values() {
            // The title of the scenario itself names no entity.
            if let Value::Map(tables) = tables {
                tables.values().for_each(|value| titled(value, &titles, found));
            }
        }
    }
}

/// Adds the ids of all rules, with their sentences.
pub(super) fn rule_ids(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for (id, sentence) in lookup.rule_sentences() {
        found.add(&id, CompletionItemKind::Reference, "rule", &sentence);
    }
}

pub(super) fn seats(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for (seat, title) in lookup.books().flat_map(|book| book.seats()) {
        found.add(seat, CompletionItemKind::Value, "seat", title);
    }
}

fn audiences(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    seats(lookup, found);
    ["everybody", "nobody", "gm"].iter().for_each(|who| found.add(who, CompletionItemKind::Value, "audience", ""));
}

/// Adds what a member can be that is compared with the text: `q.topic == "..."`, `actor.stance ~= "..."`.
fn compared(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) {
    let word = |back: usize| tokens.len().checked_sub(back).map_or("", |at| tokens[at].text(text));
    if word(1) != "=" || !matches!(word(2), "=" | "~") || word(4) != "." {
        return;
    }
    match (word(5), word(3)) {
        ("switches", name) => of_switch(lookup, name, found),
        (_, "topic") => topics(lookup, found),
        (_, "hook") => {
            for name in lookup.books().flat_map(|book| book.names_of("hook").unwrap_or_default()) {
                found.add(name, CompletionItemKind::Value, "hook", "");
            }
        }
        (_, "kind") => {
            api::QUESTIONS.iter().for_each(|(ask, _)| found.add(ask, CompletionItemKind::Value, "question", ""));
            for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
                found.add(&kind.name, CompletionItemKind::Value, "kind", "");
            }
        }
        (_, field) => values_of(lookup, field, found),
    }
    if word(3) == "seat" && found.is_empty() {
        seats(lookup, found);
    }
}

/// Adds the words of a field that is an enum in some kind.
pub(super) fn values_of(lookup: &FileLookup<'_>, field: &str, found: &mut FoundItems) {
    for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
        let declared = kind.fields.iter().find(|known| *known.name == *field);
        if let Some(Type::Enum(values)) = declared.map(|declared| &declared.ty) {
            for value in values {
                found.add(value, CompletionItemKind::EnumMember, format!("{field} of {}", kind.name), "");
            }
        }
    }
}

pub(super) fn of_switch(lookup: &FileLookup<'_>, name: &str, found: &mut FoundItems) {
    for switch in lookup.books().filter_map(|book| book.switch(name)) {
        if let SwitchKind::Choice { values } = &switch.kind {
            values.iter().for_each(|value| found.add(value, CompletionItemKind::EnumMember, "switch", &switch.text));
        }
    }
}

pub(super) fn policies(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for policy in lookup.books().flat_map(|book| book.policies()) {
        found.add(policy, CompletionItemKind::Value, "policy", "");
    }
}

/// Adds the fields of the entity before the colon; of all kinds, if its kind is not known. A sum takes only numbers.
fn fields_of(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], place: &CallPlace, found: &mut FoundItems) {
    let before = &tokens[..place.open - 1];
    let members = lookup.members_before(text, before);
    let of = if let Some(Members::Entity(kind)) = members { kind } else { None };
    for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
        if of.as_ref().is_some_and(|of| **of != *kind.name) {
            continue;
        }
        for field in &kind.fields {
            if place.callee == ":set" || matches!(field.ty, Type::Int { .. } | Type::Ratio) {
                let detail = format!("{}: {}", kind.name, luau_type(&field.ty));
                found.add(&field.name, CompletionItemKind::Field, detail, "");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::code;
    use super::*;

    fn place(text: &str) -> Option<(String, usize, String)> {
        let place = call_place(text, &code(text))?;
        let keys: Vec<String> = place.keys.into_iter().map(|key| key.unwrap_or_else(|| "[]".into())).collect();
        Some((place.callee, place.argument, keys.join("/")))
    }

    #[test]
    fn a_place_is_known_by_the_call_and_the_tables_around_it() {
        let at = |callee: &str, argument, keys: &str| Some((callee.to_owned(), argument, keys.to_owned()));
        assert_eq!(place("rb.maneuver({ id = 'a', "), at("rb.maneuver", 0, ""));
        assert_eq!(place("rb.hook({ before = { "), at("rb.hook", 0, "before"));
        assert_eq!(place("rb.choose({ topic = "), at("rb.choose", 0, "topic"));
        assert_eq!(place("rb.all({ { ask = "), at("rb.all", 0, "[]/ask"));
        assert_eq!(place("t:play('Ann', "), at("t:play", 1, ""));
        assert_eq!(place("t:expect({ Bob = { harm = "), at("t:expect", 0, "Bob/harm"));
        assert_eq!(
            place("rb.play({ start = function() if a then b() end end, context = { "),
            at("rb.play", 0, "context")
        );
        assert_eq!(place("rb.play({ value = function() return if a then 1 else 2 end, "), at("rb.play", 0, ""));
        assert_eq!(place("rb.play({ start = function() local x = { "), None);
        assert_eq!(place("actor:set('pose', "), at(":set", 1, ""));
        assert_eq!(place("f({ "), None);
        let text = "rb.each('foe', { ";
        assert_eq!(call_place(text, &code(text)).unwrap().texts, [Some("foe".to_owned())]);
    }
}
