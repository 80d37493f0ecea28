use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::check::{LINTS, Lint, Severity};
use serde_json::json;

use super::call_error;
use super::row::{Row, Span, Tone};
use super::screen::Screen;

/// Explains a lint of the check with its examples; without a name, lists all lints.
///
/// # Errors
///
/// If no lint has that name.
pub fn explain(name: Option<&str>, json: bool) -> Result<ExitCode> {
    let mut screen = Screen::paged(json);
    match name {
        None => list(&mut screen)?,
        Some(name) => one(Lint::named(name).ok_or_else(|| unknown(name))?, &mut screen)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a name that no lint has.
pub fn unknown(name: &str) -> anyhow::Error {
    call_error(format!("there is no lint `{name}`; {}", Lint::instead_of(name)))
}

fn list(screen: &mut Screen) -> Result<()> {
    if screen.json() {
        return LINTS.iter().try_for_each(|lint| Ok(screen.object(&as_json(lint))?));
    }
    let row = |lint: &&Lint| vec![Span::strong(lint.name), severity(lint.severity), Span::plain(lint.summary)];
    Ok(screen.columns(0, LINTS.iter().map(row).collect())?)
}

fn one(lint: &Lint, screen: &mut Screen) -> Result<()> {
    if screen.json() {
        return Ok(screen.object(&as_json(lint))?);
    }
    let mut rows = vec![
        Row::at(0).strong(lint.name).plain(format!(" ({}): {}", lint.severity.word(), lint.summary)),
        Row::at(0),
        Row::prose(0).plain(lint.explanation),
    ];
    for (heading, place, code) in lint.shown() {
        rows.extend([Row::at(0), Row::at(0).plain(format!("{heading} (in {}):", place.replace('`', ""))), Row::at(0)]);
        rows.extend(code.lines().map(|line| Row::at(4).plain(line.replace('\t', "    "))));
    }
    if lint.can_be_allowed() {
        let how = format!(
            "If it is meant, allow it: -- check: allow({0}) behind the code or on the line above it, -- check: \
             allow-file({0}) for a whole file; # instead of -- in TOML.",
            lint.name
        );
        rows.extend([Row::at(0), Row::prose(0).plain(how)]);
    }
    Ok(screen.rows(&rows)?)
}

fn severity(severity: Severity) -> Span {
    match severity {
        Severity::Error => Span::new(severity.word(), Tone::Bad),
        Severity::Warning => Span::new(severity.word(), Tone::Note),
    }
}

fn as_json(lint: &Lint) -> serde_json::Value {
    let code = |pieces: Vec<(String, &str)>| pieces.into_iter().map(|(_, code)| code.to_owned()).collect::<Vec<_>>();
    json!({
        "lint": lint.name,
        "severity": lint.severity.word(),
        "summary": lint.summary,
        "explanation": lint.explanation,
        "bad": code(lint.bad.shown()),
        "good": code(lint.good.shown()),
        "can_be_allowed": lint.can_be_allowed(),
    })
}
