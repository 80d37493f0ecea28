//! Odds of a whole game.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{GameLimits, Variant, game_odds};
use riskbreaker::{Driver, Scenario, Setup};
use serde_json::{Value as Json, json};

use super::super::figures::{bar, chance_json, fraction, percent};
use super::super::interrupt::{INTERRUPTED, watched};
use super::super::play::with_pairs;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::sim::{MOST_RESULTS, rarer};
use super::super::{call_error, library};
use super::show::{table_of_chances, tell_remaining};
use super::{Args, ruleset};

pub fn of_game(scenario: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if let Some(option) = args.for_cards().or(args.for_dice()) {
        return Err(call_error(format!("`{option}` is not for whole games: `--game` tells how the game ends")));
    }
    let library = library::open(folder.as_deref())?;
    let rules = ruleset(&library, args)?;
    let mut setup = Setup::default().seed(args.seed);
    setup.scenario = Scenario::Named(scenario.to_owned());
    let setup = with_pairs(setup, &args.set, &args.seat);
    // Seats that nobody is put on are played as in a simulation.
    let setup = Variant::new(rules.id(), &rules, setup).map_err(|error| call_error(error.to_string()))?.setup;
    let played: Vec<String> = setup.seats.iter().map(|(seat, driver)| format!("{seat} {}", told(driver))).collect();
    let interrupt = watched();
    let found =
        game_odds(&rules, setup, GameLimits::default(), Some(interrupt)).map_err(|refusal| match refusal.failed() {
            true => anyhow::anyhow!("{refusal}"),
            false => call_error(refusal.to_string()),
        })?;
    let exact = found.remaining.is_zero();
    let code = if found.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS };
    let mut screen = Screen::stdout(args.json);
    let most = |chance: &Fraction| chance + &found.remaining;
    if args.json {
        let chance = |chance: &Fraction| match exact {
            true => chance_json(chance),
            false => json!({ "low": float(chance), "high": float(&most(chance)) }),
        };
        let results: Vec<Json> =
            found.results.iter().map(|(name, share)| json!({ "result": name, "chance": chance(share) })).collect();
        let actions = (!found.interrupted).then(|| float(&found.actions));
        screen.object(&json!({
            "scenario": scenario, "ruleset": rules.name(), "seats": played, "exact": exact, "interrupted": found.interrupted,
            "results": results, "remaining": { "decimal": float(&found.remaining) },
            "mean_actions": if exact { chance_json(&found.actions) } else { json!({ "decimal": actions }) },
            "states": found.states, "ways": found.ways,
        }))?;
        return Ok(code);
    }
    screen.row(&Row::at(0).strong(format!("{scenario} · {}", rules.name())))?;
    let longest = found.results.iter().map(|(_, chance)| float(chance)).fold(0.0, f64::max);
    let shown = |chance: &Fraction| match found.interrupted {
        false => percent(float(chance)),
        true => format!("{} to {}", percent(float(chance)), percent(float(&most(chance)))),
    };
    let exactly = |chance: &Fraction| if exact { fraction(chance) } else { String::new() };
    let rows = found
        .results
        .iter()
        .take(MOST_RESULTS)
        .map(|(name, chance)| vec![shown(chance), exactly(chance), name.clone(), bar(float(chance), longest, 24)])
        .collect();
    table_of_chances(&mut screen, &["chance", "exactly", "result", ""], rows)?;
    if let more @ 1.. = found.results.len().saturating_sub(MOST_RESULTS) {
        screen.row(&Row::at(0).faint(rarer(more)))?;
    }
    if found.interrupted {
        let text = format!("interrupted after {} states: each chance lies between these two", found.states);
        screen.row(&Row::at(0).faint(text))?;
        return Ok(code);
    }
    screen.row(&Row::at(0).plain(format!("{:.2} actions on the average", float(&found.actions))))?;
    screen.row(&Row::at(0).faint(format!("played by: {}", played.join(", "))))?;
    if exact {
        screen.row(&Row::at(0).faint(format!("exact, over {} states of the game", found.states)))?;
    } else {
        tell_remaining(&mut screen, &found.remaining, "")?;
    }
    Ok(code)
}

/// Who plays a seat, in a word.
fn told(driver: &Driver) -> String {
    match driver {
        Driver::Absent => "absent".into(),
        Driver::Policy(policy) => policy.to_string(),
        _ => "nobody".into(),
    }
}
