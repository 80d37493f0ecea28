//! The odds of a card: in one position, by one set of rules or by several side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::Value;
use riskbreaker::dice::float;
use riskbreaker::lab::Outcome;
use serde_json::{Value as Json, json};

use super::super::figures::{bar, chance_of, chance_of_json, fraction_of, percent, plain_json, svg_bars};
use super::super::report::unwritable;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::{call_error, file, library, rules};
use super::column::{Column, ColumnChange, ColumnJson, column, condition_json, ended, show_columns, watched};
use super::condition::{Conditions, WatchedFields};
use super::show::{show, tell_proof};
use super::{Args, ruleset, sweep};

pub fn of_card(card: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let own = ruleset(&library, args)?;
    if let Some((name, values)) = &args.sweep {
        return sweep::swept(card, args, &library, &own, name, values);
    }
    let watched = watched(args);
    let mut columns = vec![column(card, args, &own, own.name(), &ColumnChange::default(), &watched)?];
    let mut left_out = Vec::new();
    for other in &args.compare {
        if columns.iter().any(Column::is_interrupted) {
            left_out.push(other.as_str());
            continue;
        }
        columns.push(match other.split_once('=') {
            Some((switch, value)) => {
                let set = vec![(switch.trim().to_owned(), value.trim().to_owned())];
                column(card, args, &own, other.clone(), &ColumnChange { set, ..ColumnChange::default() }, &watched)?
            }
            None => {
                let (id, its_card) = other.split_once(':').unwrap_or((other, card));
                let theirs = library::load(&library, id, &[])?;
                if rules::find_card(&theirs, its_card).is_err() && !other.contains(':') {
                    let ids: Vec<&str> = theirs.cards().iter().map(|card| &*card.id).collect();
                    return Err(call_error(format!(
                        "{id} has no card `{card}`; say which of its cards is meant: `--compare {id}:CARD` with one of {}",
                        ids.join(", ")
                    )));
                }
                column(its_card, args, &theirs, other.clone(), &ColumnChange::default(), &watched)?
            }
        });
    }
    check_used(args, &columns)?;
    let mut screen = Screen::stdout(args.json);
    if let Some(path) = &args.svg {
        let first = &columns[0];
        let rows: Vec<(String, f64, String)> = first
            .odds
            .lines()
            .into_iter()
            .zip(&first.odds.outcomes)
            .map(|(line, (_, chance))| (line, float(chance), percent(float(chance))))
            .collect();
        file::replace(path, svg_bars(&first.heading(card), &rows)).map_err(|error| unwritable(path, &error))?;
    }
    if let Some(condition) = &args.condition {
        return tell_condition(&mut screen, args, card, condition, &watched, &columns);
    }
    if let Some(place) = &args.table {
        return tell_field(&mut screen, args, place, &watched, &columns[0]);
    }
    if args.json {
        let objects: Vec<ColumnJson> = columns.iter().map(|column| column.json(card)).collect();
        match objects.as_slice() {
            [only] => screen.object(only)?,
            several => screen.object(&BTreeMap::from([("compared", several)]))?,
        }
        return Ok(ended(&columns));
    }
    match columns.as_slice() {
        [only] => show(&mut screen, &only.heading(card), &only.odds, None)?,
        several => show_columns(&mut screen, card, several)?,
    }
    if !left_out.is_empty() {
        screen.row(&Row::at(0).faint(format!("interrupted before {}", left_out.join(", "))))?;
    }
    Ok(ended(&columns))
}

/// Refuses answers and changes that none of the columns uses.
fn check_used(args: &Args, columns: &[Column]) -> Result<()> {
    for topic in &columns[0].odds.unasked {
        if columns.iter().all(|column| column.odds.unasked.contains(topic)) {
            return Err(call_error(match (topic.as_str(), &args.against) {
                ("", Some(names)) => format!("{names} answers no question here"),
                (topic, _) => format!("nothing asks for `{topic}` here"),
            }));
        }
    }
    for edit in &columns[0].place.left_out {
        if columns.iter().all(|column| column.place.left_out.contains(edit)) {
            return Err(call_error(format!("`--edit {edit}` fits none of these rules")));
        }
    }
    Ok(())
}

/// Prints the chance of a condition, by column.
fn tell_condition(
    screen: &mut Screen,
    args: &Args,
    card: &str,
    condition: &Conditions,
    watched: &WatchedFields,
    columns: &[Column],
) -> Result<ExitCode> {
    let given = args.given_that.as_ref().map(Conditions::to_string);
    if args.json {
        let objects: Vec<Json> =
            columns.iter().map(|column| condition_json(column, &condition.chance(watched, &column.odds))).collect();
        let mut object = json!({ "card": card, "where": condition.to_string(), "if": given });
        match objects.as_slice() {
            [only] => merge(&mut object, only),
            several => object["compared"] = json!(several),
        }
        screen.object(&object)?;
        return Ok(ended(columns));
    }
    let given = given.map(|given| format!(" if {given}")).unwrap_or_default();
    for column in columns {
        let chance = condition.chance(watched, &column.odds);
        let name = if columns.len() > 1 { format!("{}: ", column.name) } else { String::new() };
        let exactly = fraction_of(&column.odds, &chance);
        let text = format!("{name}{condition}{given}  {}  {exactly}", chance_of(&column.odds, &chance));
        screen.row(&Row::at(0).plain(text.trim_end()))?;
        tell_proof(screen, &column.odds)?;
    }
    Ok(ended(columns))
}

fn merge(object: &mut Json, more: &Json) {
    for (key, value) in more.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
}

/// Prints the chances of the values of a field or derived value.
fn tell_field(
    screen: &mut Screen,
    args: &Args,
    place: &(String, String),
    watched: &WatchedFields,
    column: &Column,
) -> Result<ExitCode> {
    let odds = &column.odds;
    let mut values: Vec<Value> = Vec::new();
    for (outcome, _) in &odds.outcomes {
        let value = watched.value(outcome, place);
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let numbers = values.iter().all(|value| value.as_int().is_some());
    values.sort_by_key(|value| (value.as_int(), value.to_string()));
    let mut rows = Vec::new();
    let mut list = Vec::new();
    for value in &values {
        let mut chances = vec![odds.chance(|outcome| watched.value(outcome, place) == value)];
        if numbers {
            let of = |outcome: &Outcome| watched.value(outcome, place).as_int();
            chances.push(odds.chance(|outcome| of(outcome) >= value.as_int()));
            chances.push(odds.chance(|outcome| of(outcome) <= value.as_int()));
        }
        let told = |chance| format!("{} {}", chance_of(odds, chance), fraction_of(odds, chance)).trim_end().to_owned();
        let mut row = vec![value_text(value)];
        row.extend(chances.iter().map(told));
        row.push(bar(float(&chances[0]), 1.0, 12));
        rows.push(row);
        let mut entry = json!({ "value": plain_json(value) });
        for (name, chance) in ["chance", "at_least", "at_most"].iter().zip(&chances) {
            entry[*name] = chance_of_json(odds, chance);
        }
        list.push(entry);
    }
    let (title, field) = place;
    if args.json {
        let given = args.given_that.as_ref().map(Conditions::to_string);
        screen.object(&json!({
            "entity": title, "field": field, "if": given, "exact": odds.is_exact(),
            "estimated": odds.estimate.is_some(), "partial": odds.is_partial(), "values": list,
        }))?;
        return Ok(ended(std::slice::from_ref(column)));
    }
    let heading = format!("{title} {field}");
    match numbers {
        true => screen.table(&[heading.as_str(), "chance", "at least", "at most", ""], rows)?,
        false => screen.table(&[heading.as_str(), "chance", ""], rows)?,
    }
    if let Some(given) = &args.given_that {
        screen.row(&Row::at(0).faint(format!("if {given}")))?;
    }
    tell_proof(screen, odds)?;
    Ok(ended(std::slice::from_ref(column)))
}

/// A value as text for a table cell.
fn value_text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::None => "none".into(),
        other => other.to_string(),
    }
}
