//! Prints a report, as text or as JSON, and writes it with pictures.

use std::path::Path;

use anyhow::Result;
use riskbreaker::lab::{Mirrored, SeatExchange};
use serde_json::{Value as Json, json};

use super::super::file;
use super::super::report::unwritable;
use super::super::screen::Screen;
use super::html::Html;
use super::job::StudyJob;
use super::parts::StudyFindings;
use super::text;

/// Prints the report, as text or as JSON, and writes it with pictures to `html`.
pub fn show(asked: &StudyJob, found: &StudyFindings, json: bool, html: Option<&Path>) -> Result<Screen> {
    let mut screen = Screen::stdout(json).at_most(80);
    if json {
        screen.object(&as_json(asked, found))?;
    } else {
        text::report(&mut screen, asked, found)?;
    }
    if let Some(path) = html {
        let mut page = Html::new();
        text::report(&mut page, asked, found)?;
        file::replace(path, page.page()).map_err(|error| unwritable(path, &error))?;
    }
    Ok(screen)
}

/// The report as JSON.
fn as_json(asked: &StudyJob, found: &StudyFindings) -> Json {
    let (figures, rules) = (&found.figures, &asked.study.variant.rules);
    let replays: Vec<_> = figures
        .unended
        .iter()
        .map(
            |game| json!({ "trial": game.trial, "how": game.how, "why": game.why, "replay": asked.replay(game.trial) }),
        )
        .collect();
    let fairness: Vec<_> = found
        .fairness
        .iter()
        .map(|SeatExchange { exchange, seats, found }| match found {
            Ok(Mirrored { seat, exchanged, same, left_out }) => json!({
                "exchange": exchange, "seats": seats, "seat": seat, "exchanged": exchanged, "same": same, "left_out": left_out,
            }),
            Err(why) => json!({ "exchange": exchange, "seats": seats, "not_allowed": why }),
        })
        .collect();
    json!({
        "scenario": asked.scenario, "ruleset": rules.id().to_string(), "players": asked.players(),
        "policies": rules.policies(), "seats": found.seats, "biases": found.biases,
        "first_bias": found.first, "seed": asked.study.seed, "trials": asked.study.trials, "figures": figures,
        "worth": found.worth, "fairness": fairness, "positions": found.positions, "ladder": found.ladder, "search": found.search,
        "forced": found.recorded.forced(), "replays": replays, "notes": found.notes,
    })
}
