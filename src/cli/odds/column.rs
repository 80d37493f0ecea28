//! The odds of a card by one set of rules, as a column beside others.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::lab::{Odds, OddsQuery, Opening, Place, Position, until};
use riskbreaker::play::{Answering, Given};
use riskbreaker::{Refusal, Ruleset, Scenario, Setup, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::super::call::quoted;
use super::super::figures::chance_of_json;
use super::super::play::with_pairs;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::swept::LAYER;
use super::super::{call_error, interrupt, rules};
use super::Args;
use super::condition::{Conditions, WatchedFields};
use super::show::{ComparedColumn, OddsJson, show_compared};

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
        match name.strip_suffix(LAYER).and_then(|name| name.strip_suffix('+')) {
            Some(without) => without.to_owned(),
            None => name,
        }
    }

    /// The column as JSON.
    pub fn json<'a>(&'a self, card: &'a str) -> ColumnJson<'a> {
        ColumnJson { column: self, card }
    }
}

/// The setup of the game in which the position is, with more house rules.
pub fn setup(args: &Args, set: &[(String, String)]) -> Result<Setup> {
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
    Ok(with_pairs(setup, args.set.iter().chain(set), &[]))
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
    let setup = setup(args, &changed.set)?;
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
            Refusal::Greyed { .. } if !several && args.names_no_position() => position_wanted(ruleset),
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

/// What to add to a call that says nothing of the position, in which a card is closed. A change that opens the card is searched
/// for only in a position that was named, since the search takes hundreds of games.
fn position_wanted(rules: &Ruleset) -> String {
    let wanted = ". Name the position: `--scenario NAME`, `--as NAME`, `--way TOPIC=ANSWER`, `--edit NAME.FIELD=VALUE` or \
                  `--position FILE`.";
    let Some(scenario) = rules.default_scenario() else { return wanted.to_owned() };
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    words.extend(["--scenario".to_owned(), scenario.to_owned()]);
    format!("{wanted} This searches for one in which it is open:\n{}", call_of(&words))
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
    if columns.iter().any(Column::is_interrupted) {
        ExitCode::from(interrupt::interrupted_code())
    } else {
        ExitCode::SUCCESS
    }
}

/// A column of a condition as JSON.
pub fn condition_json(column: &Column, chance: &riskbreaker::dice::Fraction) -> Json {
    json!({
        "column": column.name, "exact": column.odds.is_exact(), "estimated": column.odds.estimate.is_some(),
        "partial": column.odds.is_partial(),
        "chance": chance_of_json(&column.odds, chance),
    })
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
