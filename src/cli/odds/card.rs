//! The odds of a card: in one position, by one set of rules or by several side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::dice::float;
use riskbreaker::lab::{Odds, OddsQuery, Opening, Outcome, Place, Position, until};
use riskbreaker::play::{Answering, Given};
use riskbreaker::{Refusal, Ruleset, Scenario, Setup, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::super::figures::{bar, chance_of, chance_of_json, fraction_of, percent, plain_json, svg_bars};
use super::super::play::with_pairs;
use super::super::report::unwritable;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::sim::quoted;
use super::super::{call_error, file, interrupt, library, rules};
use super::condition::{Conditions, WatchedFields};
use super::show::{ComparedColumn, OddsJson, show, show_compared, tell_proof};
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

/// Prints several columns side by side.
pub fn show_columns(screen: &mut Screen, card: &str, columns: &[Column]) -> Result<()> {
    let compared: Vec<ComparedColumn> = columns
        .iter()
        .map(|Column { name, odds, place, .. }| ComparedColumn { name, odds, known: Some(&place.known) })
        .collect();
    show_compared(screen, &columns[0].heading(card), &compared)?;
    for Column { name, place, .. } in columns {
        for edit in &place.left_out {
            screen.row(&Row::at(0).faint(format!("{name}: `--edit {edit}` does not fit and is left out")))?;
        }
    }
    Ok(())
}

/// The exit code: interrupted work has its own.
pub fn ended(columns: &[Column]) -> ExitCode {
    if columns.iter().any(Column::is_interrupted) { ExitCode::from(interrupt::INTERRUPTED) } else { ExitCode::SUCCESS }
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

/// The fields that the conditions and the table of a call read.
pub fn watched(args: &Args) -> WatchedFields {
    let mut places = WatchedFields::default();
    for conditions in [&args.condition, &args.given_that].into_iter().flatten() {
        conditions.note(&mut places);
    }
    if let Some((title, field)) = &args.table {
        places.note(title, field);
    }
    places
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

/// A column of a condition as JSON.
pub fn condition_json(column: &Column, chance: &riskbreaker::dice::Fraction) -> Json {
    json!({
        "column": column.name, "exact": column.odds.is_exact(), "estimated": column.odds.estimate.is_some(),
        "partial": column.odds.is_partial(),
        "chance": chance_of_json(&column.odds, chance),
    })
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

/// The settings of a column that differ from the call.
#[derive(Clone, Debug, Default)]
pub struct ColumnChange {
    pub set: Vec<(String, String)>,
    pub answers: Vec<(String, String)>,
    pub edits: Vec<(String, String, String)>,
}

/// A set of rules with the odds of the card.
pub struct Column {
    pub name: String,
    pub rules: Arc<Ruleset>,
    pub odds: Odds,
    pub place: Place,
}

/// Computes one column. `watched`: the fields to read at the end of the card.
pub fn column(
    card: &str,
    args: &Args,
    ruleset: &Arc<Ruleset>,
    name: String,
    changed: &ColumnChange,
    watched: &WatchedFields,
) -> Result<Column> {
    let mut setup = Setup::default().seed(args.seed);
    if let Some(scenario) = &args.scenario {
        setup.scenario = Scenario::Named(scenario.clone());
    }
    if let Some(path) = &args.position {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| call_error(format!("{shown}: {error}")))?;
        setup.scenario = Scenario::read(&shown, &bytes)
            .map_err(|problems| call_error(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    }
    let setup = with_pairs(setup, args.set.iter().chain(&changed.set), &[]);
    let id = rules::find_card(ruleset, card).map_err(|refusal| call_error(refusal.to_string()))?.id.to_string();
    let topic = |name: &str| {
        let name = name.replace('-', "_");
        ruleset.words().get(&name).cloned().unwrap_or(name)
    };
    let position = Position {
        setup,
        card: id,
        actor: args.actor.clone(),
        way: args.way.iter().map(|(name, answer)| (topic(name), answer.clone())).collect(),
        edits: args.edit.iter().chain(&changed.edits).cloned().collect(),
        watch: watched.0.clone(),
        compared: [&args.condition, &args.given_that].into_iter().flatten().flat_map(Conditions::compared).collect(),
        query: OddsQuery {
            given: args
                .answer
                .iter()
                .chain(&changed.answers)
                .map(|(name, value)| Given {
                    topic: topic(name),
                    seat: None,
                    about: None,
                    value: Value::text(value),
                    once: false,
                })
                .collect(),
            against: args.against.as_deref().map(Value::text),
            answering: answering(&args.questions, ruleset)?,
            lenient: !args.compare.is_empty(),
            until: until(ruleset, args.until.as_deref()).map_err(|refusal| call_error(refusal.to_string()))?,
            interrupt: Some(interrupt::watched_briefly()),
            ..OddsQuery::default()
        },
    };
    let mut position = position.named_by_typing(ruleset).map_err(|refusal| call_error(refusal.to_string()))?;
    let mut given = std::mem::take(&mut position.query.given);
    let told = Given::typed(&mut given, |given| {
        position.query.given = given.to_vec();
        position.odds(ruleset)
    });
    let (odds, place) = told.map_err(|refusal| {
        // With several columns, the message names one.
        let several = !args.compare.is_empty() || args.sweep.is_some();
        let of = if several { format!("{name}: ") } else { String::new() };
        let cure = match refusal {
            Refusal::Greyed { .. } => match if several { Vec::new() } else { position.opening(ruleset) }.as_slice() {
                [] => "; change the position with `--edit NAME.FIELD=VALUE`, or play on to another with `--way \
                         TOPIC=ANSWER`"
                    .to_owned(),
                openings => format!(". It is open in this position:\n{}", called_with(openings)),
            },
            _ => String::new(),
        };
        let message = format!("{of}{refusal}{cure}");
        if refusal.failed() { anyhow::anyhow!("{message}") } else { call_error(message) }
    })?;
    let odds = match &args.given_that {
        None => odds,
        Some(given) => {
            let held = odds
                .given(|outcome| given.hold(watched, outcome))
                .ok_or_else(|| call_error(format!("the condition {given} never holds here")))?;
            // The values read for the condition are dropped, unless something else needs them.
            if args.condition.is_none() && args.table.is_none() { held.unwatched() } else { held }
        }
    };
    Ok(Column { name, rules: ruleset.clone(), odds, place })
}

/// Returns the command line with the changes that open the card.
fn called_with(openings: &[Opening]) -> String {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    for opening in openings {
        match opening {
            Opening::Actor(actor) => {
                while let Some(at) = words.iter().position(|word| word == "--as" || word.starts_with("--as=")) {
                    let end = words.len().min(at + if words[at] == "--as" { 2 } else { 1 });
                    words.drain(at..end);
                }
                words.extend(["--as".to_owned(), actor.clone()]);
            }
            // The first answer that fits is used, so this one goes before the others.
            Opening::Way(topic, answer) => {
                let at = words.iter().position(|word| word.starts_with("--way")).unwrap_or(words.len());
                words.splice(at..at, ["--way".to_owned(), format!("{topic}={answer}")]);
            }
            Opening::Edit(name, field, value) => {
                words.extend(["--edit".to_owned(), format!("{name}.{field}={value}")]);
            }
        }
    }
    call_of(&words)
}

/// Quotes the arguments of a call for a shell.
fn call_of(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("riskbreaker {}", words.join(" "))
}

/// Parses the value of `--questions`.
pub fn answering(text: &str, rules: &Ruleset) -> Result<Answering> {
    Ok(match text {
        "default" => Answering::Default,
        "best" => Answering::Best,
        "given" => Answering::Given,
        policy if rules.policies().iter().any(|known| **known == *policy) => Answering::Policy(policy.into()),
        other => {
            let policies: Vec<&str> = rules.policies().iter().map(|policy| &**policy).collect();
            return Err(call_error(format!(
                "questions are answered by default, best, given or a policy ({}), not by `{other}`",
                policies.join(", ")
            )));
        }
    })
}

impl Column {
    /// True if Ctrl-C ended the work. Further columns are then skipped, since each would take time for an estimate.
    pub fn is_interrupted(&self) -> bool {
        self.odds.estimate.as_ref().is_some_and(|estimate| estimate.interrupted)
    }

    pub fn heading(&self, card: &str) -> String {
        match &self.place.actor {
            Some(actor) => format!("{card} by {actor} · {}", self.ruleset()),
            None => format!("{card} · {}", self.ruleset()),
        }
    }

    /// The name of the ruleset with its layers, without the layer of a sweep.
    fn ruleset(&self) -> String {
        let name = self.rules.name();
        match name.strip_suffix(sweep::LAYER).and_then(|name| name.strip_suffix('+')) {
            Some(without) => without.to_owned(),
            None => name,
        }
    }

    /// The column as JSON.
    pub fn json<'a>(&'a self, card: &'a str) -> ColumnJson<'a> {
        ColumnJson { column: self, card }
    }
}

/// A column with its card.
pub struct ColumnJson<'a> {
    column: &'a Column,
    card: &'a str,
}

impl Serialize for ColumnJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ColumnJson { column, card } = self;
        let way: Vec<Json> = column
            .place
            .way
            .iter()
            .map(|(who, topic, answer)| json!({ "who": who, "topic": topic, "answer": answer }))
            .collect();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("card", card)?;
        object.serialize_entry("ruleset", &column.ruleset())?;
        object.serialize_entry("column", &column.name)?;
        object.serialize_entry("actor", &column.place.actor)?;
        object.serialize_entry("way", &way)?;
        OddsJson(&column.odds).write(&mut object)?;
        object.end()
    }
}
