//! The odds of a whole game.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{Chance, GameLimits, GameOdds, Rate, Variant, game_odds};
use riskbreaker::{Driver, Scenario, Setup};
use serde_json::{Value as Json, json};

use super::super::figures::{bar, fraction, percent_of, share_within};
use super::super::interrupt::{interrupted_code, watched_briefly};
use super::super::meter::spinner;
use super::super::play::with_pairs;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::tallies::{MOST_RESULTS, rarer};
use super::super::{call_error, library};
use super::best::BestPlay;
use super::show::{table_of_chances, tell_remaining};
use super::{Args, refused, ruleset};

pub fn of_game(scenario: &str, args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if let Some(option) = args.for_cards().or(args.for_dice()) {
        return Err(call_error(format!("`{option}` is not for whole games: `--game` tells how the game ends")));
    }
    let library = library::open(folder.as_deref())?;
    let rules = ruleset(&library, args)?;
    let mut setup = Setup::default().seed(args.seed);
    setup.scenario = Scenario::Named(scenario.to_owned());
    let setup = with_pairs(setup, &args.set, &args.seat);
    // Seats without a given driver are played as in a simulation.
    let setup = Variant::new(rules.id(), &rules, setup).map_err(|error| call_error(error.to_string()))?.setup;
    if !args.best.is_empty() {
        let best = BestPlay { scenario, rules: &rules, setup, seats: &args.best, payoff: args.payoff };
        return best.show(args.json);
    }
    let played: Vec<String> = setup.seats.iter().map(|(seat, driver)| format!("{seat} {}", told(driver))).collect();
    let interrupt = watched_briefly();
    let waits = spinner("the states of the game");
    let found = game_odds(&rules, setup, GameLimits::default(), Some(interrupt));
    waits.finish_and_clear();
    let found = found.map_err(|refusal| refused(&refusal))?;
    let code = if found.interrupted { ExitCode::from(interrupted_code()) } else { ExitCode::SUCCESS };
    let mut screen = Screen::stdout(args.json);
    if args.json {
        screen.object(&game_json(&found, (scenario, &rules.name()), &played))?;
        return Ok(code);
    }
    screen.row(&Row::at(0).strong(format!("{scenario} · {}", rules.name())))?;
    if found.is_partial() {
        show_bounds(&mut screen, &found)?;
        screen.row(&Row::at(0).faint(format!("played by: {}", played.join(", "))))?;
        return Ok(code);
    }
    let longest = found.results.iter().map(|(_, chance)| float(chance)).fold(0.0, f64::max);
    let (exact, digits) = (is_exact(&found), digits_within(&found.remaining));
    let number = |chance: &Fraction| match (exact, found.decimal) {
        (true, _) => fraction(chance),
        (_, true) => format!("{:.digits$}", Chance::bounded(chance, &(chance + &found.remaining)).decimal),
        _ => String::new(),
    };
    let rows = found
        .results
        .iter()
        .take(MOST_RESULTS)
        .map(|(name, chance)| vec![percent_of(chance), number(chance), name.clone(), bar(float(chance), longest, 24)])
        .collect();
    let heading = if found.decimal { "decimal" } else { "exactly" };
    table_of_chances(&mut screen, &["chance", heading, "result", ""], rows)?;
    if let more @ 1.. = found.results.len().saturating_sub(MOST_RESULTS) {
        screen.row(&Row::at(0).faint(rarer(more)))?;
    }
    screen.row(&Row::at(0).plain(format!("{:.2} actions on average", float(&found.actions))))?;
    screen.row(&Row::at(0).faint(format!("played by: {}", played.join(", "))))?;
    if exact {
        screen.row(&Row::at(0).faint(format!("exact, over {} states of the game", found.states)))?;
    } else if found.decimal {
        let text = format!(
            "decimals, not fractions (those have too many digits): proven to within {:.1e}, over {} states of the game",
            float(&found.remaining).next_up(),
            found.states
        );
        screen.row(&Row::at(0).faint(text))?;
    } else {
        tell_remaining(&mut screen, &found.remaining, "")?;
    }
    Ok(code)
}

/// True if the chances are exact fractions.
fn is_exact(found: &GameOdds) -> bool {
    found.remaining.is_zero() && !found.decimal
}

/// The number of decimals to show for a number with this error, 2 to 12.
fn digits_within(error: &Fraction) -> usize {
    let digits = -float(error).max(1e-15).log10();
    (digits.floor() as usize).clamp(2, 12)
}

/// Prints the proven bounds of a game that was not followed to its end, and the results of random games.
fn show_bounds(screen: &mut Screen, found: &GameOdds) -> Result<()> {
    let estimate = found.estimate.as_ref();
    let rate_of = |name: &str| estimate.and_then(|known| known.results.iter().find(|(own, _)| own == name));
    let told = |name: &str, least: &Fraction| {
        let most = least + &found.remaining;
        let bounds = match least.is_zero() {
            true => format!("at most {}", percent_of(&most)),
            false => format!("{} to {}", percent_of(least), percent_of(&most)),
        };
        let rate = rate_of(name).map_or(Rate::within_99(0, estimate.map_or(0, |known| known.games)), |(_, rate)| *rate);
        let guess = estimate.map_or(String::new(), |_| share_within(rate.share, (rate.low, rate.high)));
        vec![bounds, guess, name.to_owned()]
    };
    let known = |name: &str| found.results.iter().any(|(own, _)| own == name);
    let others = estimate.iter().flat_map(|known| &known.results).filter(|(name, _)| !known(name));
    let mut all: Vec<(&str, Fraction)> = others.map(|(name, _)| (name.as_str(), Fraction::ZERO)).collect();
    all.splice(0..0, found.results.iter().map(|(name, chance)| (name.as_str(), chance.clone())));
    let rows = all.iter().take(MOST_RESULTS).map(|(name, least)| told(name, least)).collect();
    match estimate {
        _ if all.is_empty() => {}
        Some(_) => screen.table(&["proven", "estimate", "result"], rows)?,
        None => {
            let rows: Vec<Vec<String>> = rows;
            let rows = rows.into_iter().map(|row| vec![row[0].clone(), row[2].clone()]).collect();
            screen.table(&["proven", "result"], rows)?;
        }
    }
    if let more @ 1.. = all.len().saturating_sub(MOST_RESULTS) {
        screen.row(&Row::at(0).faint(rarer(more)))?;
    }
    let why = match &found.limit {
        Some(limit) => format!("not exact: {limit}"),
        None => format!("interrupted after {} states", found.states),
    };
    let text = match all.is_empty() {
        true => format!("partial, {why}; no result is known"),
        false => format!("{why}; each chance lies between these two, {} is open", percent_of(&found.remaining)),
    };
    screen.row(&Row::at(0).faint(text))?;
    if let Some(known) = estimate {
        let left_out = match known.left_out {
            0 => String::new(),
            count => format!("; {count} more were left out, since they failed or did not end"),
        };
        let text = format!(
            "the estimate: {} games of random dice, the intervals hold in 99 of 100 cases; other results are possible{left_out}",
            known.games
        );
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}

/// The odds of a game as JSON.
fn game_json(found: &GameOdds, (scenario, ruleset): (&str, &str), played: &[String]) -> Json {
    let exact = is_exact(found);
    let chance = |chance: &Fraction| match exact {
        true => Chance::exactly(chance),
        false => Chance::bounded(chance, &(chance + &found.remaining)),
    };
    let results: Vec<Json> =
        found.results.iter().map(|(name, share)| json!({ "result": name, "chance": chance(share) })).collect();
    let actions = match (exact, &found.limit, found.interrupted) {
        (true, ..) => Some(Chance::exactly(&found.actions)),
        (false, None, false) => Some(Chance::about(float(&found.actions))),
        _ => None,
    };
    let remaining = match found.decimal {
        true => Chance::bounded(&Fraction::ZERO, &found.remaining),
        false => Chance::exactly(&found.remaining),
    };
    let estimate = found.estimate.as_ref().map(|known| {
        let rate = |rate: &Rate| Chance::between(rate.share, (rate.low, rate.high));
        let results = known.results.iter().map(|(name, of)| json!({ "result": name, "chance": rate(of) }));
        json!({
            "games": known.games, "left_out": known.left_out, "confidence": 0.99, "results": results.collect::<Vec<_>>(),
            "unsampled_below": Rate::within_99(0, known.games).high,
        })
    });
    json!({
        "scenario": scenario, "ruleset": ruleset, "seats": played, "exact": exact, "decimal": found.decimal,
        "limit": found.limit, "interrupted": found.interrupted, "partial": found.is_partial(), "results": results, "remaining": remaining,
        "mean_actions": actions, "estimate": estimate, "states": found.states, "ways": found.ways,
    })
}

/// The driver of a seat as a word.
fn told(driver: &Driver) -> String {
    match driver {
        Driver::Absent => "absent".into(),
        Driver::Policy(policy) => policy.to_string(),
        _ => "nobody".into(),
    }
}
