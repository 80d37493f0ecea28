//! The odds of a card for each of several values of an answer, a house rule, a fact of the card, a field or a derived number.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::dice::{Fraction, float};
use riskbreaker::ruleset::{Fact, instead_or};
use riskbreaker::{Library, Ruleset, Value};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::super::figures::{bar, chance_of, fraction_of, percent};
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::swept::{SweptMember, before_first_decision};
use super::super::{call_error, rules};
use super::Args;
use super::column::{Column, ColumnChange, ColumnJson, column, condition_json, ended, setup, show_columns, watched};
use super::condition::{Conditions, WatchedFields};
use super::show::{table_of_chances, tell_proof};

/// The most values of one sweep.
const MOST: i64 = 100;

/// A sweep as JSON.
#[derive(Serialize)]
struct Sweep<'a> {
    swept: &'a str,
    columns: Vec<ColumnJson<'a>>,
    refused: &'a [String],
}

/// The kind of thing that a sweep changes.
enum Swept {
    Answer,
    Switch,
    Field(String, String),
    /// A fact of the card, or a derived number of somebody.
    Member(SweptMember),
}

pub fn swept(
    card: &str,
    args: &Args,
    library: &Library,
    own: &Arc<Ruleset>,
    name: &str,
    values: &str,
) -> Result<ExitCode> {
    let sort = sort_of(card, args, own, name)?;
    let watched = watched(args);
    let values = values_of(values)?;
    let (mut columns, mut refused) = (Vec::new(), Vec::new());
    for value in &values {
        if columns.iter().any(Column::is_interrupted) {
            refused.push(anyhow::anyhow!("{name}={value}: interrupted before it was worked out"));
            continue;
        }
        let column = one(card, args, library, own, (&sort, name, value), &watched);
        match column {
            Ok(column) => columns.push(column),
            // Some values may be impossible here.
            Err(error) => refused.push(error),
        }
    }
    if columns.is_empty() {
        return Err(refused.swap_remove(0));
    }
    let mut screen = Screen::stdout(args.json);
    let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
    match &args.condition {
        Some(condition) => tell(&mut screen, args, card, name, condition, &watched, &columns, &refused)?,
        None if args.json => {
            let columns = columns.iter().map(|column| column.json(card)).collect();
            screen.object(&Sweep { swept: name, columns, refused: &refused })?;
        }
        None => show_columns(&mut screen, card, &columns)?,
    }
    for refusal in &refused {
        screen.row(&Row::at(0).faint(refusal))?;
    }
    Ok(ended(&columns))
}

fn sort_of(card: &str, args: &Args, own: &Arc<Ruleset>, name: &str) -> Result<Swept> {
    if let Some((title, field)) = name.rsplit_once('.') {
        let (title, field) = (title.trim(), field.trim());
        let session = before_first_decision(own, setup(args, &[])?);
        let member = session.ok().and_then(|session| SweptMember::of_entity(&session, title, field).ok());
        return Ok(match member {
            Some(derived @ SweptMember::Derived(_)) => Swept::Member(derived),
            // A field is edited where the card is played.
            Some(SweptMember::Field(_) | SweptMember::Fact { .. }) | None => {
                Swept::Field(title.to_owned(), field.to_owned())
            }
        });
    }
    if own.switch(name).is_some() {
        return Ok(Swept::Switch);
    }
    let word = name.replace('-', "_");
    let topics = own.topics();
    if own.words().contains_key(&word) || topics.contains(&word) {
        return Ok(Swept::Answer);
    }
    let found = rules::find_card(own, card).map_err(|refusal| call_error(refusal.to_string()))?;
    if found.facts.contains_key(name) {
        return Ok(Swept::Member(SweptMember::Fact { card: found.id.to_string(), fact: name.to_owned() }));
    }
    let plain = found
        .facts
        .iter()
        .filter(|(_, fact)| matches!(fact, Fact::Plain(Value::Int(_) | Value::Text(_) | Value::Bool(_))));
    let facts: Vec<&str> =
        plain.map(|(name, _)| name.as_str()).filter(|name| !["id", "title", "text"].contains(name)).collect();
    let switches: Vec<&str> = own.switches().map(|switch| &*switch.name).collect();
    let known = own.words().keys().map(String::as_str).chain(topics.iter().map(String::as_str));
    let known = known.chain(facts.iter().copied()).chain(switches.iter().copied());
    let (facts, switches) = (list(&facts), list(&switches));
    let usage = format!("a field is swept as NAME.FIELD=1..5, its facts are {facts}, the house rules {switches}");
    let meant = instead_or(name, known, usage);
    Err(call_error(format!("`{name}` is no answer, house rule or fact of {card}; {meant}")))
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Parses the values of a sweep: `1..5`, or a list with commas.
pub fn values_of(text: &str) -> Result<Vec<String>> {
    let range = text.split_once("..").and_then(|(from, to)| {
        Some((from.trim().parse::<i64>().ok()?, to.trim().trim_start_matches('=').parse::<i64>().ok()?))
    });
    match range {
        Some((from, to)) if from <= to && to.saturating_sub(from) < MOST => {
            Ok((from..=to).map(|n| n.to_string()).collect())
        }
        Some((from, to)) if from > to => Err(call_error(format!("`{text}` is empty: write `{to}..{from}`"))),
        Some(_) => Err(call_error(format!("`{text}` has more than {MOST} values: write fewer, such as 1,5,10"))),
        None if text.contains("..") => Err(call_error(format!(
            "`{text}` is no range: write whole numbers, such as 1..5, or a list, such as 1,3,5"
        ))),
        None => {
            let mut values: Vec<String> = Vec::new();
            for value in text.split(',').map(str::trim).filter(|value| !value.is_empty()) {
                if !values.iter().any(|known| known == value) {
                    values.push(value.to_owned());
                }
            }
            if values.is_empty() || values.len() as i64 > MOST {
                return Err(call_error(format!("write 1 to {MOST} values, such as 1..5 or 1,3,5")));
            }
            Ok(values)
        }
    }
}

/// Computes the odds for one value.
fn one(
    card: &str,
    args: &Args,
    library: &Library,
    own: &Arc<Ruleset>,
    (sort, name, value): (&Swept, &str, &str),
    watched: &WatchedFields,
) -> Result<Column> {
    let title = format!("{name}={value}");
    let pair = (name.to_owned(), value.to_owned());
    let mut changed = ColumnChange::default();
    match sort {
        Swept::Answer => changed.answers.push(pair),
        Swept::Switch => changed.set.push(pair),
        Swept::Field(of, field) => changed.edits.push((of.clone(), field.clone(), value.to_owned())),
        Swept::Member(member) => {
            let base = args.rules.as_deref().unwrap_or_else(|| own.id());
            let rules = member.rules(base, &args.layers, library, value)?;
            return column(card, args, &rules, title, &changed, watched);
        }
    }
    column(card, args, own, title, &changed, watched)
}

/// Prints the chance of a condition for each value, and the value nearest to an even chance.
#[allow(clippy::too_many_arguments)] // what the call says, and what came of it
fn tell(
    screen: &mut Screen,
    args: &Args,
    card: &str,
    name: &str,
    condition: &Conditions,
    watched: &WatchedFields,
    columns: &[Column],
    refused: &[String],
) -> Result<()> {
    let given = args.given_that.as_ref().map(Conditions::to_string);
    let chances: Vec<Fraction> = columns.iter().map(|column| condition.chance(watched, &column.odds)).collect();
    let off = |chance: &Fraction| (float(chance) - 0.5).abs();
    let least = chances.iter().map(off).fold(f64::INFINITY, f64::min);
    let nearest: Vec<&Column> =
        columns.iter().zip(&chances).filter(|(_, chance)| off(chance) <= least).map(|(column, _)| column).collect();
    if args.json {
        let objects: Vec<Json> =
            columns.iter().zip(&chances).map(|(column, chance)| condition_json(column, chance)).collect();
        let nearest: Vec<&str> = nearest.iter().map(|column| column.name.as_str()).collect();
        screen.object(&json!({
            "card": card, "swept": name, "where": condition.to_string(), "if": given, "columns": objects,
            "nearest_to_half": nearest, "refused": refused,
        }))?;
        return Ok(());
    }
    screen.row(&Row::at(0).strong(columns[0].heading(card)))?;
    let given = given.map(|given| format!(" if {given}")).unwrap_or_default();
    screen.row(&Row::at(0).plain(format!("the chance of {condition}{given}")))?;
    let row = |(column, chance): (&Column, &Fraction)| {
        let value = column.name.split_once('=').map_or(column.name.as_str(), |(_, value)| value);
        vec![
            value.to_owned(),
            chance_of(&column.odds, chance),
            fraction_of(&column.odds, chance),
            bar(float(chance), 1.0, 24),
        ]
    };
    let rows = columns.iter().zip(&chances).map(row).collect();
    table_of_chances(screen, &[name, "chance", "exactly", ""], rows)?;
    let text = if chances.len() > 1 && chances.iter().all(|chance| *chance == chances[0]) {
        format!("every value gives the same chance: `{name}` does not matter here")
    } else {
        let names: Vec<&str> = nearest.iter().map(|column| column.name.as_str()).collect();
        let at = columns.iter().position(|column| column.name == nearest[0].name).unwrap_or_default();
        let passed = columns.windows(2).zip(chances.windows(2)).find(|(_, pair)| {
            let (one, other) = (float(&pair[0]) - 0.5, float(&pair[1]) - 0.5);
            one * other < 0.0
        });
        let passed = passed.map(|(pair, _)| format!("; it passes 50 % between {} and {}", pair[0].name, pair[1].name));
        let chance = percent(float(&chances[at]));
        format!("nearest to 50 %: {} ({chance}){}", names.join(", "), passed.unwrap_or_default())
    };
    screen.row(&Row::at(0).plain(text))?;
    if columns.iter().all(|column| column.odds.is_exact()) {
        return Ok(screen.row(&Row::at(0).faint("all of them exact"))?);
    }
    for column in columns.iter().filter(|column| !column.odds.is_exact()) {
        screen.row(&Row::at(0).faint(format!("{}:", column.name)))?;
        tell_proof(screen, &column.odds)?;
    }
    Ok(())
}
