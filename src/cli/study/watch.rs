//! Plays one trial of a study again with its log, to its end or to one of its decisions: `study --trial N --decision D`.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::Result;
use riskbreaker::dice::Fraction;
use riskbreaker::lab::{GameEnd, WatchedTrial};
use riskbreaker::{Answer, Question};
use serde_json::json;

use super::super::call_error;
use super::super::figures::{chance_json, change, counted};
use super::super::interrupt::{interrupted_code, watched};
use super::super::row::{Row, Span};
use super::super::screen::Screen;
use super::job::StudyJob;
use super::text::horizon;

/// Plays a trial and prints its log; with `decision`, up to that one, with the position and the open question. After Ctrl-C or
/// SIGTERM, the log until then.
///
/// # Errors
///
/// A call error: the trial has no such decision. An error: the game has no end; its reason.
pub fn watch(asked: &StudyJob, trial: u64, decision: Option<u64>, json: bool) -> Result<ExitCode> {
    let stop = watched();
    let found = asked.study.watch(trial, decision, &stop).map_err(|error| call_error(error.to_string()))?;
    let code = || if stop.load(Ordering::Relaxed) { ExitCode::from(interrupted_code()) } else { ExitCode::SUCCESS };
    let mut screen = Screen::stdout(json);
    screen.row(&Row::at(0).strong(format!("{} · seed {} · trial {trial}", asked.title(), asked.study.seed)))?;
    for event in &found.events {
        if json {
            screen.object(event)?;
        } else {
            screen.row(&Row::at(2).plain(event.happening.line()))?;
        }
    }
    if let (Some(decision), true) = (decision, found.is_at_decision) {
        let question = found.session.questions().first().cloned();
        let question = question.ok_or_else(|| anyhow::anyhow!("the game asks nothing at decision {decision}"))?;
        show_decision(&mut screen, asked, &found, decision, &question)?;
        return Ok(code());
    }
    let facts = &found.facts;
    let decisions = counted(facts.decisions, "decision", "decisions");
    let actions = counted(facts.actions, "action", "actions");
    if json {
        let (actions, decisions) = (facts.actions, facts.decisions);
        let end = Some(&facts.end).filter(|_| !found.is_interrupted);
        screen.object(&json!({
            "trial": trial, "end": end, "interrupted": found.is_interrupted, "actions": actions, "decisions": decisions,
        }))?;
    }
    if found.is_interrupted {
        let at = facts.decisions;
        let text =
            format!("interrupted after {actions}, at decision {at}; the same command plays the trial from its start");
        screen.row(&Row::prose(0).plain(text))?;
        return Ok(code());
    }
    match &facts.end {
        GameEnd::Result(result) => {
            screen.row(&Row::at(0).plain(format!("Result: {result}, after {decisions} and {actions}.")))?;
        }
        end => {
            let why = end.why_unended().unwrap_or_default();
            anyhow::bail!("{}, trial {trial} has no end: {why}", asked.title());
        }
    }
    match decision {
        Some(decision) => {
            Err(call_error(format!("trial {trial} has no decision {decision}: it has {}", facts.decisions)))
        }
        None => Ok(code()),
    }
}

/// Prints the position at a decision, and the answers with their values.
fn show_decision(
    screen: &mut Screen,
    asked: &StudyJob,
    found: &WatchedTrial,
    decision: u64,
    question: &Question,
) -> Result<()> {
    let label = |id: &str| {
        let option = question.ask.options().iter().find(|option| *option.id == *id);
        option.map_or_else(|| id.to_owned(), |option| option.label.to_string())
    };
    let horizon = horizon(asked.study.variant.rules.horizon());
    if screen.json() {
        let valued = |(answer, worth): &(Answer, Option<Fraction>)| json!({ "answer": answer, "value": worth.as_ref().map(chance_json) });
        let answers: Vec<_> = found.answers.iter().map(valued).collect();
        screen.object(&json!({ "decision": decision, "question": question, "answers": answers }))?;
        return Ok(());
    }
    let view = found.session.view();
    screen.row(&Row::at(0).strong("Position"))?;
    for id in view.entities() {
        let fields = view.fields(id).filter(|(field, _)| field.show || field.said);
        let fields: Vec<String> =
            fields.map(|(field, value)| format!("{} {}", field.label, view.words(value))).collect();
        if !fields.is_empty() {
            screen.row(&Row::at(2).strong(&*view.title(id)).plain(format!(": {}", fields.join(", "))))?;
        }
    }
    let about = question.about.map_or_else(|| question.seat.to_string(), |id| view.label(id).to_string());
    let why = if question.why.is_empty() { String::new() } else { format!(": {}", question.why) };
    let text = format!("Decision {decision}: {} decides `{}` for {about}{why}", question.seat, question.topic);
    screen.row(&Row::at(0).strong(text))?;
    if found.answers.iter().any(|(_, worth)| worth.is_some()) {
        screen.row(&Row::prose(0).faint(format!("Exact average value of each answer {horizon}.")))?;
    }
    let valued = |(answer, worth): &(Answer, Option<Fraction>)| {
        let worth = worth.as_ref().map_or_else(|| "-".to_owned(), change);
        vec![Span::plain(answer.in_words(label)), Span::plain(worth)]
    };
    let mut rows: Vec<Vec<Span>> = found.answers.iter().map(valued).collect();
    if rows.is_empty() {
        rows = question
            .answers(MOST)
            .into_iter()
            .flatten()
            .map(|answer| vec![Span::plain(answer.in_words(label))])
            .collect();
    }
    let closed = question.ask.options().iter().filter(|option| !option.enabled);
    rows.extend(closed.map(|option| {
        let why = option.reason.as_deref().unwrap_or("not open");
        vec![Span::faint(&*option.label), Span::faint(format!("closed: {why}"))]
    }));
    Ok(screen.columns(2, rows)?)
}

/// The most answers that are listed.
const MOST: usize = 100;
