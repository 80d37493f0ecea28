//! Reports facts of cards, items and `cast/` files that differ from all other facts of the same name.

use std::collections::BTreeMap;

use crate::data_words::{DataEntry, DataKey, entries_of, keys_of_tables};
use crate::fact::{AGREEING, problem};
use crate::lint::Lint;
use crate::lints::odd_fact::{self, odd_shapes, odd_types};
use crate::lints::same_title::same_titles;
use crate::lints::unknown_topic::unasked_topics;
use crate::lints::unmade_member::unmade_members;
use crate::lints::{invalid_dice, misspelt_text, unknown_name};
use crate::misspelling::is_slip;
use crate::place::is_from;
use crate::symbols::names::NamesOfFiles;
use riskbreaker_dice::Dice;
use riskbreaker_ruleset::{Card, Cure, Fact, Problem, Rulebook, Stack, instead_or, nearest};
use riskbreaker_state::Value;

pub(crate) fn findings(stack: &Stack, own: usize, (rules, names): (&Rulebook, &NamesOfFiles)) -> Vec<Problem> {
    let mut found = odd_facts(stack, rules.items());
    found.extend(odd_facts(stack, rules.cards()));
    found.extend(odd_shapes(stack, rules.items()));
    found.extend(odd_shapes(stack, rules.cards()));
    for cards in [rules.items(), rules.cards()] {
        found.extend(unknown_to_scripts(stack, cards, names));
        found.extend(same_titles(stack, cards));
    }
    found.extend(unasked_topics(stack, rules));
    found.extend(missing_facts(stack, rules.cards(), names));
    found.extend(unmade_members(stack, rules, names));
    found.retain(|problem| is_from(stack, own, &problem.path));
    found.extend(odd_names(stack, own, rules));
    found.extend(odd_types(stack, own));
    found
}

/// Returns problems of text facts: the only one that is not dice, and a misspelt text among equal ones.
fn odd_facts(stack: &Stack, cards: &[Card]) -> Vec<Problem> {
    let mut facts: BTreeMap<&str, Vec<(&Card, &str)>> = BTreeMap::new();
    let mut listed: BTreeMap<&str, Vec<(&Card, &str)>> = BTreeMap::new();
    for card in cards {
        for (name, fact) in &card.facts {
            match fact {
                Fact::Plain(Value::Text(text)) => facts.entry(name).or_default().push((card, text)),
                Fact::Plain(Value::List(list)) => {
                    let texts = list.iter().filter_map(Value::as_text).map(|text| (card, text));
                    listed.entry(name).or_default().extend(texts);
                }
                _ => {}
            }
        }
    }
    let mut found: Vec<Problem> = listed
        .iter()
        .filter(|(name, _)| **name != "rules")
        .flat_map(|(name, facts)| misspelt(stack, name, facts))
        .collect();
    for (name, facts) in &facts {
        let no_dice: Vec<_> = facts.iter().filter(|(_, text)| Dice::parse(text).is_err()).collect();
        if let [(card, text)] = no_dice.as_slice()
            && facts.len() > AGREEING
            && let Err(error) = Dice::parse(text)
        {
            let message = format!("`{name}` is not dice: {error}");
            let told = (message, "write it as 5, 2d6 or 1d10+1".into());
            let place = (*name, &*format!("\"{text}\""));
            found.extend(problem(&odd_fact::LINT, (stack, card), place, told));
            continue;
        }
        found.extend(misspelt(stack, name, facts));
    }
    found
}

/// Returns problems of texts that one card alone has under a name, and that are near to a text which many have.
fn misspelt(stack: &Stack, name: &str, facts: &[(&Card, &str)]) -> Vec<Problem> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    facts.iter().for_each(|(_, text)| *times.entry(text).or_default() += 1);
    let often: Vec<&str> = times.iter().filter(|(_, times)| **times >= AGREEING).map(|(text, _)| *text).collect();
    let mut found = Vec::new();
    for (card, text) in facts.iter().filter(|(_, text)| times[text] == 1) {
        let near = often.iter().filter(|other| is_slip(text, other)).max_by_key(|other| times[**other]);
        if let Some(meant) = near {
            let message = format!("nothing else has the {name} \"{text}\"");
            let cure = Cure::meant_text(*text, *meant);
            let place = (name, &*format!("\"{text}\""));
            found.extend(problem(&misspelt_text::LINT, (stack, card), place, (message, cure)));
        }
    }
    found
}

/// Returns a problem for the only card that reads a member off `ctx` and has no fact of that name, if all others that read it
/// have one: the ruleset makes the member from the fact.
fn missing_facts(stack: &Stack, cards: &[Card], names: &NamesOfFiles) -> Vec<Problem> {
    let mut found = Vec::new();
    for (member, files) in &names.uses().context_reads {
        let reads = |card: &&Card| card.origins.values().any(|file| files.contains(file));
        let (with, without): (Vec<&Card>, Vec<&Card>) =
            cards.iter().filter(reads).partition(|card| card.facts.contains_key(member));
        let [card] = without.as_slice() else { continue };
        let mut values: BTreeMap<String, usize> = BTreeMap::new();
        for other in &with {
            if let Some(Fact::Plain(Value::Text(text))) = other.facts.get(member) {
                *values.entry(text.to_string()).or_default() += 1;
            }
        }
        let Some(path) = card.origins.values().find(|file| files.contains(*file)).filter(|_| with.len() >= AGREEING)
        else {
            continue;
        };
        let read = format!("ctx.{member}");
        let place = |line: &str| line.find(&read).map(|at| line[..at].chars().count() as u32 + 1);
        let Some((line, column)) =
            stack.text_of(path).and_then(|text| (1..).zip(text.lines()).find_map(|(n, line)| Some((n, place(line)?))))
        else {
            continue;
        };
        let known: Vec<String> = values.keys().map(|value| format!("\"{value}\"")).collect();
        let known = if known.is_empty() { "...".to_owned() } else { known.join(" or ") };
        let message = format!("this card reads `ctx.{member}` and has no `{member}`, as all others that read it have");
        let cure = format!("add {member} = {known} to the card");
        found.push(odd_fact::LINT.problem(path.as_str(), message).at((line, column)).with_cure(cure));
    }
    found
}

/// A text among the facts of a card, also within lists and tables, with the name of the fact and the name next to the text.
struct TextFact<'c> {
    card: &'c Card,
    fact: &'c str,
    text: &'c str,
}

/// Collects the texts of a value by the name that is next to each.
fn texts_in<'c>(
    found: &mut BTreeMap<&'c str, Vec<TextFact<'c>>>,
    (card, fact): (&'c Card, &'c str),
    name: &'c str,
    value: &'c Value,
) {
    match value {
        Value::Text(text) => found.entry(name).or_default().push(TextFact { card, fact, text }),
        Value::List(list) => list.iter().for_each(|one| texts_in(found, (card, fact), name, one)),
        Value::Map(map) => map.iter().for_each(|(name, one)| texts_in(found, (card, fact), name, one)),
        _ => {}
    }
}

/// Returns problems of text facts that no script knows, where scripts know the values that other cards have for the same fact: as a
/// text that is compared, or as a key of a table. A fact that scripts roll must be dice.
fn unknown_to_scripts(stack: &Stack, cards: &[Card], names: &NamesOfFiles) -> Vec<Problem> {
    let mut facts: BTreeMap<&str, Vec<TextFact<'_>>> = BTreeMap::new();
    for card in cards {
        for (name, fact) in &card.facts {
            if let Fact::Plain(value) = fact {
                texts_in(&mut facts, (card, name), name, value);
            }
        }
    }
    let mut found = Vec::new();
    let mut tell = |lint, one: &TextFact<'_>, told| {
        let Some(path) = one.card.origins.get(one.fact) else { return };
        let said = format!("\"{}\"", one.text);
        let line = stack.text_of(path).and_then(|text| text.lines().position(|line| line.contains(&said)));
        let problem = |(message, cure): (String, Cure)| Lint::problem(lint, path.as_str(), message).with_cure(cure);
        found.extend(line.map(|line| problem(told).at((line as u32 + 1, 1))));
    };
    for (name, facts) in &facts {
        if names.is_rolled(name) {
            for one in facts {
                if let Err(error) = Dice::parse(one.text) {
                    let (_, cure) = invalid_dice::not_dice(one.text, &error);
                    tell(&invalid_dice::LINT, one, (format!("`{name}` is rolled and is no dice: {error}"), cure));
                }
            }
            continue;
        }
        let mut values: BTreeMap<&str, Vec<&TextFact<'_>>> = BTreeMap::new();
        facts.iter().for_each(|one| values.entry(one.text).or_default().push(one));
        let is_known = |text: &str, times: usize| names.is_key(text) || names.times(text) > times;
        let (known, unknown): (Vec<_>, Vec<_>) = values.iter().partition(|(text, of)| is_known(text, of.len()));
        let [(unknown, of)] = unknown.as_slice() else { continue };
        let [only] = of.as_slice() else { continue };
        let others = facts.len() - 1;
        // Few cards, or values that differ from card to card, do not show that scripts tell the values apart.
        if others < AGREEING || known.len() * 2 > others || names.said(unknown) > 0 {
            continue;
        }
        let known = known.into_iter().map(|(text, _)| *text);
        // A list may have a word of its own beside those that scripts know.
        let fact = only.card.facts.iter().find(|(name, _)| *name == only.fact).map(|(_, fact)| fact);
        let is_one_of_several = matches!(fact, Some(Fact::Plain(Value::List(list))) if list.len() > 1);
        if is_one_of_several && nearest(unknown, known.clone()).is_none() {
            continue;
        }
        let cure = instead_or(unknown, known, "write a value that a script compares it with");
        tell(&misspelt_text::LINT, only, (format!("no script knows the {name} \"{unknown}\""), cure));
    }
    found
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
        for DataKey { table, key, at } in keys_of_tables(source) {
            let in_cast = InCast { text: key, path: source.path.clone(), at };
            said.entry(format!("{table} = {{ ... }}")).or_default().push(in_cast);
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
            // `longbow` contains `bow`.
            let part = ids.iter().filter(|id| id.len() > 2 && (text.ends_with(&***id) || text.starts_with(&***id)));
            let cure = match part.max_by_key(|id| id.len()) {
                Some(part) => Cure::meant(text.as_str(), part.as_str()),
                None => instead_or(text, ids.iter().map(String::as_str), otherwise),
            };
            let message = format!("there is no {sort} `{text}`");
            found.push(unknown_name::LINT.problem(path.as_str(), message).at(*at).with_cure(cure));
        }
    }
    found
}
