//! The output of odds: tables, expected changes, exactness, and everything as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use riskbreaker::Value;
use riskbreaker::dice::{Fraction, float, sum};
use riskbreaker::lab::{Chance, Effect, FieldOdds, Odds};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::super::figures::{
    bar, chance_of, chance_of_json, change, fraction_of, percent, percent_of, plain_json, share_within,
};
use super::super::row::Row;
use super::super::screen::Screen;

/// The names of fields that no sheet shows.
pub type UnshownFields = BTreeSet<Arc<str>>;

fn chances(odds: &Odds) -> Vec<&Fraction> {
    odds.outcomes.iter().map(|(_, chance)| chance).collect()
}

/// The odds as JSON, with fractions in full. Written as a stream, since there may be very many outcomes.
pub struct OddsJson<'a>(pub &'a Odds);

impl OddsJson<'_> {
    /// Writes the entries into an object that may have others.
    pub fn write<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
        let odds = self.0;
        let answers: Vec<Json> = odds
            .answers
            .iter()
            .map(|one| {
                json!({ "who": one.who, "topic": one.topic, "answer": one.answer, "source": one.source.to_string() })
            })
            .collect();
        let estimate = odds.estimate.as_ref().map(|estimate| {
            json!({
                "samples": estimate.samples, "confidence": 0.99, "why": estimate.why, "interrupted": estimate.interrupted,
                "unsampled_below": estimate.unsampled_below(),
            })
        });
        object.serialize_entry("answers", &answers)?;
        object.serialize_entry("dealt", &odds.dealt)?;
        object.serialize_entry("estimate", &estimate)?;
        object.serialize_entry("exact", &odds.is_exact())?;
        object.serialize_entry("fields", &FieldsJson(odds))?;
        object.serialize_entry("guessed", &odds.guessed)?;
        let hits = odds.hits();
        let hits = hits.iter().map(|(target, chance)| (&**target, chance_of_json(odds, chance)));
        object.serialize_entry("hits", &hits.collect::<BTreeMap<_, _>>())?;
        object.serialize_entry("outcomes", &OutcomesJson(odds))?;
        object.serialize_entry("partial", &odds.is_partial())?;
        object.serialize_entry("points", &odds.points)?;
        object.serialize_entry("remaining", &odds.stated_remaining())?;
        object.serialize_entry("unseen", &odds.unseen)?;
        object.serialize_entry("until", &odds.until)?;
        object.serialize_entry("ways", &odds.ways)
    }
}

impl Serialize for OddsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        self.write(&mut object)?;
        object.end()
    }
}

struct OutcomesJson<'a>(&'a Odds);

impl Serialize for OutcomesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let odds = self.0;
        serializer.collect_seq(odds.lines().iter().zip(&odds.outcomes).map(|(text, (outcome, chance))| {
            json!({ "text": text, "chance": chance_of_json(odds, chance), "effects": outcome.effects })
        }))
    }
}

struct FieldsJson<'a>(&'a Odds);

impl Serialize for FieldsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.fields.iter().map(|field| field_json(self.0, field)))
    }
}

fn field_json(odds: &Odds, field: &FieldOdds) -> Json {
    let to = field.to.iter();
    let to = to.map(|(value, chance)| json!({ "value": plain_json(value), "chance": chance_of_json(odds, chance) }));
    json!({
        "entity": field.title, "field": field.field, "label": field.label, "shown": field.shown,
        "from": plain_json(&field.from), "to": to.collect::<Vec<Json>>(),
        "expected_change": field.expected.as_ref().map(|by| number_json(odds, by)),
    })
}

/// A number as JSON: as a fraction only if it is exact.
fn number_json(odds: &Odds, number: &Fraction) -> Json {
    json!(if odds.is_exact() { Chance::exactly(number) } else { Chance::about(float(number)) })
}

/// The most fields whose expected change is listed, and the most other values of a field that is no number.
const MOST_FIELDS: usize = 60;
const MOST_VALUES: usize = 4;

/// The most outcomes in a table; the rest is counted together.
const SHOWN: usize = 40;

/// Prints the odds as a table, with the expected changes. `unshown`: fields that no sheet shows; they are left out with
/// all else that is not shown at the table, and outcomes that differ in nothing else are merged. `None` shows
/// everything.
pub fn show(screen: &mut Screen, heading: &str, odds: &Odds, unshown: Option<&UnshownFields>) -> anyhow::Result<()> {
    screen.row(&Row::at(0).strong(match odds.until_in_words() {
        Some(until) => format!("{heading} \u{b7} {until}"),
        None => heading.to_owned(),
    }))?;
    let outcomes = unshown.map_or_else(|| all_outcomes(odds), |unshown| told_outcomes(odds, unshown));
    let most = outcomes.iter().map(|(_, chance)| float(chance)).fold(0.0, f64::max);
    let mut rows: Vec<Vec<String>> = outcomes
        .iter()
        .take(SHOWN)
        .map(|(line, chance)| {
            vec![chance_of(odds, chance), fraction_of(odds, chance), line.clone(), bar(float(chance), most, 12)]
        })
        .collect();
    if outcomes.len() > SHOWN {
        let rest = sum(outcomes[SHOWN..].iter().map(|(_, chance)| chance));
        let line = format!("{} unlikelier outcomes", outcomes.len() - SHOWN);
        rows.push(vec![chance_of(odds, &rest), fraction_of(odds, &rest), line, String::new()]);
    }
    table_of_chances(screen, &["chance", "exactly", "outcome", ""], rows)?;
    // Fields that are shown at the table come first.
    let (shown, others): (Vec<&FieldOdds>, Vec<&FieldOdds>) = odds.fields.iter().partition(|field| field.shown);
    // A hidden reference to an entity is internal to the rules.
    let is_number_or_word = |field: &&FieldOdds| field.to.iter().all(|(value, _)| !value.any_entity(&|_| true));
    let others = others.into_iter().filter(|field| unshown.is_none() && is_number_or_word(field));
    let is_told = |field: &&FieldOdds| unshown.is_none_or(|unshown| !unshown.contains(&*field.field));
    let expected: Vec<&FieldOdds> = shown.into_iter().filter(is_told).chain(others).collect();
    for field in expected.iter().take(MOST_FIELDS) {
        screen.row(&Row::at(0).plain(expected_of(odds, field)))?;
    }
    if let more @ 1.. = expected.len().saturating_sub(MOST_FIELDS) {
        screen.row(&Row::at(0).faint(format!("{more} more fields change; `--json` lists them")))?;
    }
    for (target, chance) in odds.hits() {
        let exactly = fraction_of(odds, &chance);
        let text = format!("{target} is hit: {}  {exactly}", chance_of(odds, &chance));
        screen.row(&Row::at(0).plain(text.trim_end()))?;
    }
    for line in odds.answers_in_words() {
        screen.row(&Row::at(0).faint(line))?;
    }
    if let Some(text) = odds.unseen_in_words() {
        screen.row(&Row::at(0).faint(text))?;
    }
    if let Some(why) = &odds.no_further {
        screen.row(&Row::at(0).faint(format!("The odds end with this action; further ahead: {why}")))?;
    }
    tell_proof(screen, odds)
}

/// The outcomes in words, all of them different.
fn all_outcomes(odds: &Odds) -> Vec<(String, Fraction)> {
    odds.lines().into_iter().zip(&odds.outcomes).map(|(line, (_, chance))| (line, chance.clone())).collect()
}

/// The outcomes merged by what is shown at the table, the likeliest first.
fn told_outcomes(odds: &Odds, unshown: &UnshownFields) -> Vec<(String, Fraction)> {
    let mut sums: BTreeMap<String, Fraction> = BTreeMap::new();
    let is_told = |effect: &&Effect| match effect {
        Effect::Changed { field, .. } if unshown.contains(field) => false,
        effect => effect.is_shown(),
    };
    for (outcome, chance) in &odds.outcomes {
        let told: Vec<String> = outcome.effects.iter().filter(is_told).map(Effect::line).collect();
        let line = if told.is_empty() { "nothing changes".to_owned() } else { told.join(" · ") };
        *sums.entry(line).or_default() += chance;
    }
    let mut told: Vec<(String, Fraction)> = sums.into_iter().collect();
    told.sort_by(|(_, one), (_, other)| other.cmp(one));
    told
}

/// Prints a table. The column `exactly` is left out if all its fractions are too long to read; the JSON has them.
pub fn table_of_chances(screen: &mut Screen, header: &[&str], mut rows: Vec<Vec<String>>) -> std::io::Result<()> {
    let mut header = header.to_vec();
    let exactly = header.iter().position(|heading| *heading == "exactly");
    if let Some(at) = exactly.filter(|at| rows.iter().all(|row| row[*at].is_empty())) {
        header.remove(at);
        rows.iter_mut().for_each(|row| drop(row.remove(at)));
    }
    screen.table(&header, rows)
}

/// The expectation for a field: the mean change of a number, or the chance of each other value.
fn expected_of(odds: &Odds, field: &FieldOdds) -> String {
    let name = format!("expected: {} {}", field.title, field.label);
    match &field.expected {
        Some(by) => format!("{name} {}", change_of(odds, by)),
        None => {
            let others: Vec<&(Value, Fraction)> = field.to.iter().filter(|(value, _)| *value != field.from).collect();
            let mut told: Vec<String> = others
                .iter()
                .take(MOST_VALUES)
                .map(|(value, chance)| format!("{} {}", words_of(odds, field, value), chance_of(odds, chance)))
                .collect();
            if others.len() > MOST_VALUES {
                told.push(format!("{} more", others.len() - MOST_VALUES));
            }
            format!("{name} {}", told.join(", "))
        }
    }
}

/// A value of a field in the words of the outcomes with it: an entity by its title.
fn words_of(odds: &Odds, field: &FieldOdds, value: &Value) -> String {
    let effects = odds.outcomes.iter().flat_map(|(outcome, _)| &outcome.effects);
    let told = effects.filter_map(|effect| match effect {
        Effect::Changed { entity, field: of, to, words, .. }
            if *entity == field.entity && *of == field.field && to == value =>
        {
            Some(words.to.clone())
        }
        _ => None,
    });
    told.into_iter().next().unwrap_or_else(|| match value {
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        other => other.to_string(),
    })
}

/// The expected change of a field; "about" for an estimate.
fn change_of(odds: &Odds, by: &Fraction) -> String {
    if odds.is_exact() { change(by) } else { format!("about {:+.2}", float(by)) }
}

/// One column of a comparison: its name, and the fields that its rules have, by title and label; `None` for all.
pub struct ComparedColumn<'a> {
    pub name: &'a str,
    pub odds: &'a Odds,
    pub known: Option<&'a BTreeSet<(Arc<str>, Arc<str>)>>,
}

/// Prints the odds by several sets of rules side by side. Fields that some of the rules lack are not compared.
pub fn show_compared(screen: &mut Screen, heading: &str, compared: &[ComparedColumn]) -> anyhow::Result<()> {
    let columns: Vec<(&str, &Odds)> = compared.iter().map(|column| (column.name, column.odds)).collect();
    screen.row(&Row::at(0).strong(heading))?;
    let same = |one: &Odds, other: &Odds| one.lines() == other.lines() && chances(one) == chances(other);
    if let [(_, first), others @ ..] = columns.as_slice()
        && !others.is_empty()
        && others.iter().all(|(_, other)| same(first, other))
    {
        screen.row(&Row::at(0).plain("no difference"))?;
    }
    let told: Vec<Vec<String>> = columns.iter().map(|(_, odds)| odds.lines()).collect();
    let mut lines: Vec<&String> = Vec::new();
    for line in told.iter().flatten() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let with = |first: &'static str| -> Vec<&str> {
        std::iter::once(first).chain(columns.iter().map(|(name, _)| *name)).collect()
    };
    let rows = lines
        .iter()
        .map(|line| {
            let chances = columns.iter().zip(&told).map(|((_, odds), told)| {
                let like_it = told.iter().zip(&odds.outcomes).filter(|(other, _)| other == line);
                let chance = sum(like_it.map(|(_, (_, chance))| chance));
                match chance.is_zero() {
                    true => "-".to_owned(),
                    false => {
                        format!("{} {}", chance_of(odds, &chance), fraction_of(odds, &chance)).trim_end().to_owned()
                    }
                }
            });
            std::iter::once((*line).clone()).chain(chances).collect()
        })
        .collect();
    screen.table(&with("outcome"), rows)?;
    let mut fields: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    for field in columns.iter().flat_map(|(_, odds)| &odds.fields) {
        let name = (field.title.clone(), field.label.clone());
        if field.expected.is_some() && !fields.contains(&name) {
            fields.push(name);
        }
    }
    let lacks = |column: &&ComparedColumn, field: &(Arc<str>, Arc<str>)| {
        column.known.is_some_and(|known| !known.contains(field))
    };
    let (only_in_some, fields): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|field| compared.iter().any(|column| lacks(&column, field)));
    let rows: Vec<Vec<String>> = fields
        .iter()
        .map(|(title, label)| {
            let cell = |(_, odds): &(&str, &Odds)| {
                let found = odds.fields.iter().find(|field| *field.title == **title && *field.label == **label);
                match found.and_then(|field| field.expected.as_ref()) {
                    Some(by) => change_of(odds, by),
                    None => "+0".to_owned(),
                }
            };
            std::iter::once(format!("{title} {label}")).chain(columns.iter().map(cell)).collect()
        })
        .collect();
    if !rows.is_empty() {
        screen.table(&with("expected"), rows)?;
    }
    for field in &only_in_some {
        let without: Vec<&str> =
            compared.iter().filter(|column| lacks(column, field)).map(|column| column.name).collect();
        let text = format!("{} {} is not compared: {} does not have it", field.0, field.1, without.join(", "));
        screen.row(&Row::at(0).faint(text))?;
    }
    for (name, odds) in &columns {
        for line in odds.answers_in_words() {
            screen.row(&Row::at(0).faint(format!("{name}: {line}")))?;
        }
        for topic in odds.unasked.iter() {
            let what = if topic.is_empty() { "the names".to_owned() } else { format!("`{topic}`") };
            screen.row(&Row::at(0).faint(format!("{name}: nothing asks for {what}")))?;
        }
        if !odds.is_exact() {
            tell_proof(screen, odds)?;
        }
    }
    Ok(())
}

pub fn tell_remaining(screen: &mut Screen, remaining: &Fraction, cure: &str) -> anyhow::Result<()> {
    if !remaining.is_zero() {
        let text = format!("not exact: {} remains that was not followed to its end{cure}", percent_of(remaining));
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}

/// Prints how reliable the odds of a card are.
pub fn tell_proof(screen: &mut Screen, odds: &Odds) -> anyhow::Result<()> {
    screen.row(&Row::at(0).faint(odds.proof_in_words()))?;
    if let Some(estimate) = &odds.estimate {
        let below = share_within(0.0, (0.0, estimate.unsampled_below()));
        screen.row(&Row::at(0).faint(format!("outcomes that no play came to are possible, each {below}")))?;
    }
    if odds.estimate.is_some() && !odds.remaining.is_zero() {
        let text = format!("{} of the plays did not end", percent(float(&odds.remaining)));
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}
