//! One card or character has a fact of another shape than all others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::de::DeValue;

use crate::data_words::{DataEntry, entries_of};
use crate::fact::{AGREEING, problem};
use crate::lint::{Example, Lint, Severity};
use crate::place::is_from;
use riskbreaker_ruleset::{
    Card, Cure, Document, Fact, Problem, Source, Stack, TextChange, in_order, number_in, truth_in,
};
use riskbreaker_state::Value;

pub(crate) static LINT: Lint = Lint {
    name: "odd-fact",
    severity: Severity::Error,
    summary: "one card or character has a fact of another shape than all others",
    explanation: "If many cards or files of cast/ have a fact, and all but one are lists, tables with names, \
                  numbers, dice or truth values, then the one that is different is most likely wrong. The same holds for a \
                  card that reads `ctx.targets`, for example, without the fact `targets` that all others have.",
    bad: Example::Files(&[
        (
            "cast/ann.toml",
            r#"strength = 3
"#,
        ),
        (
            "cast/bob.toml",
            r#"strength = 4
"#,
        ),
        (
            "cast/cid.toml",
            r#"strength = 5
"#,
        ),
        (
            "cast/dora.toml",
            r#"strength = 6
"#,
        ),
        (
            "cast/eve.toml",
            r#"strength = "7"
"#,
        ),
    ]),
    good: Example::Files(&[
        (
            "cast/ann.toml",
            r#"strength = 3
"#,
        ),
        (
            "cast/bob.toml",
            r#"strength = 4
"#,
        ),
        (
            "cast/cid.toml",
            r#"strength = 5
"#,
        ),
        (
            "cast/dora.toml",
            r#"strength = 6
"#,
        ),
        (
            "cast/eve.toml",
            r#"strength = 7
"#,
        ),
    ]),
};

/// Returns problems of table facts: the only list among tables with names, or the only table with names among lists.
pub(crate) fn odd_shapes(stack: &Stack, cards: &[Card]) -> Vec<Problem> {
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
                found.extend(problem(&LINT, (stack, card), (name, "="), told));
            }
        }
    }
    found
}

/// Returns a problem for the only value under a key of `cast/` with another type: a number in quotes among numbers, or
/// a word for yes or no among truth values.
///
/// Other texts may be right: `"unlimited"`, dice, a fraction.
pub(crate) fn odd_types(stack: &Stack, own: usize) -> Vec<Problem> {
    let mut said: BTreeMap<String, Vec<(&str, DataEntry)>> = BTreeMap::new();
    for (_, (_, source)) in stack.files_in("cast") {
        for entry in entries_of(source).into_iter().filter(|entry| entry.at_top && !entry.listed) {
            said.entry(entry.key.clone()).or_default().push((source.path.as_str(), entry));
        }
    }
    let mut found = odd_lists(stack, own);
    found.extend(odd_sections(stack, own));
    for (key, said) in &said {
        for number in [true, false] {
            let sort = if number { "a number" } else { "true or false" };
            let fits = |value: &Value| if number { value.as_int().is_some() } else { matches!(value, Value::Bool(_)) };
            let odd: Vec<_> = said.iter().filter(|(_, entry)| !fits(&entry.value)).collect();
            let [(path, DataEntry { value, at, .. })] = odd.as_slice() else { continue };
            let code = match value.as_text() {
                Some(text) if number => number_in(text).map(|number| number.to_string()),
                _ if number => None,
                _ => truth_in(value).map(|truth| truth.to_string()),
            };
            let is_meant = code.is_some() || number && value.as_text().is_none();
            if said.len() <= AGREEING || !is_from(stack, own, path) || !is_meant {
                continue;
            }
            let message = format!("`{key}` is not {sort}, as it is in every other file of cast/");
            let written = value.as_text().map_or_else(|| value.to_string(), |text| format!("\"{text}\""));
            let cure = match code {
                Some(code) => {
                    let sentence = format!("write {key} = {code}, without quotes");
                    Cure::rewrite(written, code, sentence)
                }
                None => format!("write {sort}, without quotes").into(),
            };
            found.push(LINT.problem(*path, message).at(*at).with_cure(cure));
        }
    }
    found
}

/// Returns a problem for the only scenario that has a table under a key where others have a list of tables, or a list
/// of tables where others have a table.
fn odd_sections(stack: &Stack, own: usize) -> Vec<Problem> {
    struct Section<'s> {
        source: &'s Source,
        key: Range<usize>,
        is_list: bool,
    }
    let mut sections: BTreeMap<String, Vec<Section<'_>>> = BTreeMap::new();
    for (_, (_, source)) in stack.files_in("scenarios") {
        let read = Document::read(source, |document| {
            let found = in_order(document.root()).into_iter().filter_map(|entry| {
                let is_list = match entry.value {
                    DeValue::Table(_) => false,
                    DeValue::Array(items) => items.iter().all(|item| matches!(item.get_ref(), DeValue::Table(_))),
                    _ => return None,
                };
                Some((entry.key.to_owned(), entry.key_span, is_list))
            });
            Ok(found.collect::<Vec<_>>())
        });
        for (name, key, is_list) in read.unwrap_or_default() {
            sections.entry(name).or_default().push(Section { source, key, is_list });
        }
    }
    let mut found = Vec::new();
    for (name, sections) in &sections {
        for is_list in [true, false] {
            let mut odd = sections.iter().filter(|section| section.is_list == is_list);
            let (Some(Section { source, key, .. }), None) = (odd.next(), odd.next()) else { continue };
            // Two of three are not many, but no file has both by chance.
            let header = if is_list { format!("[[{name}]]") } else { format!("[{name}]") };
            let other = if is_list { format!("[{name}]") } else { format!("[[{name}]]") };
            let begin = key.start.saturating_sub(if is_list { 2 } else { 1 });
            let is_header = source.text.get(begin..).is_some_and(|rest| rest.starts_with(&header));
            if sections.len() < 3 || !is_header || !is_from(stack, own, &source.path) {
                continue;
            }
            let (here, elsewhere) =
                if is_list { ("a list of tables", "a table") } else { ("a table", "a list of tables") };
            let line = source.text[..begin].matches('\n').count() as u32 + 1;
            let change = TextChange { begin, end: begin + header.len(), text: other.clone() };
            let message = format!("`{name}` is {here}, and {elsewhere} in every other scenario");
            let problem = LINT.problem(&*source.path, message).at((line, 1));
            found.push(problem.with_cure(format!("write {other}")).with_change(change));
        }
    }
    found
}

/// Returns a problem for the only value under a key of `cast/` that is no list.
fn odd_lists(stack: &Stack, own: usize) -> Vec<Problem> {
    let mut lists: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut others: BTreeMap<String, Vec<(&str, DataEntry)>> = BTreeMap::new();
    for (_, (_, source)) in stack.files_in("cast") {
        for entry in entries_of(source).into_iter().filter(|entry| entry.at_top) {
            match entry.listed {
                true => drop(lists.entry(entry.key.clone()).or_default().insert(source.path.as_str())),
                false => others.entry(entry.key.clone()).or_default().push((source.path.as_str(), entry)),
            }
        }
    }
    let mut found = Vec::new();
    for (key, said) in &others {
        let [(path, DataEntry { value, at, .. })] = said.as_slice() else { continue };
        if lists.get(key).is_none_or(|lists| lists.len() < 2) || !is_from(stack, own, path) {
            continue;
        }
        let Some(value) = value.as_text().map(|text| format!("\"{text}\"")).or(value.as_int().map(|n| n.to_string()))
        else {
            continue;
        };
        let message = format!("`{key}` is no list, as it is in every other file of cast/");
        let list = format!("[{value}]");
        let sentence = format!("write {key} = {list}");
        found.push(LINT.problem(*path, message).at(*at).with_cure(Cure::rewrite(value, list, sentence)));
    }
    found
}
