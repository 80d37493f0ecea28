//! Reports facts of cards, items and `cast/` files that differ from all other facts of the same name.

use std::collections::BTreeMap;

use super::data::{DataEntry, entries_of};
use super::is_from;
use super::known::Mistake;
use super::lints::{self, Lint};
use super::slip::is_slip;
use riskbreaker_dice::Dice;
use riskbreaker_ruleset::{Card, Fact, Problem, Rulebook, Stack, instead_or};
use riskbreaker_state::Value;

/// The number of facts that must agree before a different one is reported.
const AGREEING: usize = 4;

pub(super) fn findings(stack: &Stack, own: usize, rules: &Rulebook) -> Vec<Problem> {
    let mut found = odd_facts(stack, rules.items());
    found.extend(odd_facts(stack, rules.cards()));
    found.extend(odd_shapes(stack, rules.items()));
    found.extend(odd_shapes(stack, rules.cards()));
    found.extend(unasked_topics(stack, rules));
    found.retain(|problem| is_from(stack, own, &problem.path));
    found.extend(odd_names(stack, own, rules));
    found.extend(odd_types(stack, own));
    found
}

/// Returns problems of text facts: the only one that is not dice, and a misspelt text among equal ones.
fn odd_facts(stack: &Stack, cards: &[Card]) -> Vec<Problem> {
    let mut facts: BTreeMap<&str, Vec<(&Card, &str)>> = BTreeMap::new();
    for card in cards {
        for (name, fact) in &card.facts {
            if let Fact::Plain(Value::Text(text)) = fact {
                facts.entry(name).or_default().push((card, text));
            }
        }
    }
    let mut found = Vec::new();
    for (name, facts) in &facts {
        let no_dice: Vec<_> = facts.iter().filter(|(_, text)| Dice::parse(text).is_err()).collect();
        if let [(card, text)] = no_dice.as_slice()
            && facts.len() > AGREEING
            && let Err(error) = Dice::parse(text)
        {
            let message = format!("`{name}` is not dice: {error}");
            let told = (message, "write it as 5, 2d6 or 1d10+1".into());
            let place = (*name, &*format!("\"{text}\""));
            found.extend(problem(&lints::odd_fact::LINT, (stack, card), place, told));
            continue;
        }
        let times = |text: &str| facts.iter().filter(|(_, other)| *other == text).count();
        for (card, text) in facts.iter().filter(|(_, text)| times(text) == 1) {
            let near = facts.iter().map(|(_, other)| *other).filter(|other| is_slip(text, other));
            if let Some(meant) = near.max_by_key(|other| times(other)).filter(|other| times(other) >= AGREEING) {
                let message = format!("nothing else has the {name} \"{text}\"");
                let cure = format!("did you mean \"{meant}\"?");
                let place = (*name, &*format!("\"{text}\""));
                found.extend(problem(&lints::misspelt_text::LINT, (stack, card), place, (message, cure)));
            }
        }
    }
    found
}

/// Names in the sentences of a recap that are topics of no question.
fn unasked_topics(stack: &Stack, rules: &Rulebook) -> Vec<Problem> {
    let told: Vec<(&Card, &str)> =
        rules.cards().iter().flat_map(|card| card.recap.topics().map(move |topic| (card, topic))).collect();
    if told.is_empty() {
        return Vec::new();
    }
    let topics = rules.topics();
    let unasked = told.into_iter().filter(|(_, topic)| !topics.contains(*topic));
    unasked
        .filter_map(|(card, topic)| {
            let message = format!("`recap` names `{{{topic}}}`, and no question has this topic");
            let known = topics.iter().map(String::as_str).chain(["actor", "other"]);
            let cure = instead_or(topic, known, "name the topic of a question of the card, `{actor}` or `{other}`");
            let (path, said) = (card.origins.get("recap")?, format!("{{{topic}}}"));
            let line = 1 + stack.text_of(path)?.lines().position(|line| line.contains(&said))?;
            Some(lints::unknown_topic::LINT.problem(path.as_str(), message).at((line as u32, 1)).with_cure(cure))
        })
        .collect()
}

/// Returns problems of table facts: the only list among tables with names, or the only table with names among lists.
fn odd_shapes(stack: &Stack, cards: &[Card]) -> Vec<Problem> {
    let mut facts: BTreeMap<&str, Vec<(&Card, bool)>> = BTreeMap::new();
    for card in cards {
        for (name, fact) in &card.facts {
            match fact {
                Fact::Plain(Value::List(list)) if !list.is_empty() => facts.entry(name).or_default().push((card, true)),
                Fact::Plain(Value::Map(_)) => facts.entry(name).or_default().push((card, false)),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    for (name, facts) in &facts {
        for list in [true, false] {
            let odd: Vec<_> = facts.iter().filter(|(_, is_list)| *is_list == list).collect();
            let [(card, _)] = odd.as_slice() else { continue };
            if facts.len() > AGREEING {
                let (here, others) =
                    if list { ("a list", "a table with names") } else { ("a table with names", "a list") };
                let message = format!("`{name}` is {here}, and everywhere else it is {others}");
                let cure =
                    if list { "give each value its name: { name = value }" } else { "write a list: { one, two }" };
                let told = (message, cure.into());
                found.extend(problem(&lints::odd_fact::LINT, (stack, card), (name, "="), told));
            }
        }
    }
    found
}

/// Returns a problem at the line where a card states a fact.
fn problem(
    lint: &Lint,
    (stack, card): (&Stack, &Card),
    (name, said): (&str, &str),
    (message, cure): Mistake,
) -> Option<Problem> {
    let path = card.origins.get(name)?;
    let says = |line: &str| line.trim_start().starts_with(name) && line.contains(said);
    let line = 1 + stack.text_of(path)?.lines().position(says)?;
    Some(lint.problem(path.as_str(), message).at((line as u32, 1)).with_cure(cure))
}

/// A text in a file of `cast/`, with its path, line and column.
struct InCast {
    text: String,
    path: String,
    at: (u32, u32),
}

/// Returns a problem for the only name under a key of `cast/` that is not the id of an item or a card, if all others
/// are.
fn odd_names(stack: &Stack, own: usize, rules: &Rulebook) -> Vec<Problem> {
    let mut said: BTreeMap<String, Vec<InCast>> = BTreeMap::new();
    for (_, (_, source)) in stack.files_in("cast") {
        for DataEntry { key, value, at, .. } in entries_of(source).into_iter().filter(|entry| entry.at_top) {
            if let Some(text) = value.as_text() {
                let in_cast = InCast { text: text.to_string(), path: source.path.clone(), at };
                said.entry(key).or_default().push(in_cast);
            }
        }
    }
    let ids = |cards: &[Card]| cards.iter().map(|card| card.id.to_string()).collect::<Vec<_>>();
    let sorts = [("item", ids(rules.items())), ("card", ids(rules.cards()))];
    let mut found = Vec::new();
    for (key, said) in &said {
        for (sort, ids) in &sorts {
            let odd: Vec<_> = said.iter().filter(|name| !ids.contains(&name.text)).collect();
            let [InCast { text, path, at }] = odd.as_slice() else { continue };
            if said.len() <= AGREEING || !is_from(stack, own, path) {
                continue;
            }
            let otherwise = format!("all others under `{key}` are ids of {sort}s");
            let cure = instead_or(text, ids.iter().map(String::as_str), otherwise);
            let message = format!("there is no {sort} `{text}`");
            found.push(lints::unknown_name::LINT.problem(path.as_str(), message).at(*at).with_cure(cure));
        }
    }
    found
}

/// Returns a problem for the only value under a key of `cast/` with another type: a number in quotes among numbers, or
/// a word for yes or no among truth values.
///
/// Other texts may be right: `"unlimited"`, dice, a fraction.
fn odd_types(stack: &Stack, own: usize) -> Vec<Problem> {
    let mut said: BTreeMap<String, Vec<(&str, DataEntry)>> = BTreeMap::new();
    for (_, (_, source)) in stack.files_in("cast") {
        for entry in entries_of(source).into_iter().filter(|entry| entry.at_top && !entry.listed) {
            said.entry(entry.key.clone()).or_default().push((source.path.as_str(), entry));
        }
    }
    let mut found = Vec::new();
    for (key, said) in &said {
        for number in [true, false] {
            let sort = if number { "a number" } else { "true or false" };
            let fits = |value: &Value| if number { value.as_int().is_some() } else { matches!(value, Value::Bool(_)) };
            let odd: Vec<_> = said.iter().filter(|(_, entry)| !fits(&entry.value)).collect();
            let [(path, DataEntry { value, at, .. })] = odd.as_slice() else { continue };
            let is_meant = match value.as_text() {
                Some(text) if number => text.trim().parse::<i64>().is_ok(),
                Some(text) => ["true", "false", "yes", "no"].contains(&text.trim().to_lowercase().as_str()),
                None => number || matches!(value, Value::Int(0 | 1)),
            };
            if said.len() <= AGREEING || !is_from(stack, own, path) || !is_meant {
                continue;
            }
            let message = format!("`{key}` is not {sort}, as it is in every other file of cast/");
            let cure = format!("write {sort}, without quotes");
            found.push(lints::odd_fact::LINT.problem(*path, message).at(*at).with_cure(cure));
        }
    }
    found
}
