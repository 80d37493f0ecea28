//! The command `study`: what a designer asks of a game, in one report.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use riskbreaker::lab::{Recorded, Spread, Study, StudyFigures, Variant};
use riskbreaker::state::readable_name;
use riskbreaker::{Scenario, Setup};
use serde_json::json;

use super::figures::percent;
use super::interrupt::{INTERRUPTED, watched};
use super::play::{pair, with_pairs};
use super::row::Row;
use super::screen::Screen;
use super::sim::{meter, quoted, rate_text};
use super::{call_error, library};

/// Studies a scenario: results and length, choices, drama, and every card
///
/// Each trial has dice of its own, by seed and number, so the figures do not depend on the number of threads.
#[derive(clap::Args)]
pub struct Args {
    /// A scenario of the ruleset, or a ruleset
    scenario: Option<String>,

    /// The ruleset
    #[arg(long, value_name = "ID")]
    ruleset: Option<String>,

    /// How many games; more give narrower intervals, without a limit of time
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    trials: Option<u64>,

    /// Records trial N alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "trials")]
    trial: Option<u64>,

    /// The seed of the dice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::whole::<u64>)]
    seed: u64,

    /// Who plays a seat: a policy, absent, or `ahead`; can be repeated
    #[arg(long, value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// A card that is closed to the policy of a seat while another option is open; can be repeated
    #[arg(long, value_name = "SEAT:CARD", value_parser = ban)]
    ban: Vec<(String, String)>,

    /// How many threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    threads: Option<usize>,

    /// A game that has not ended after N actions counts as endless
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = super::whole::<u64>)]
    actions: u64,

    /// Writes a JSON object
    #[arg(long)]
    json: bool,
}

/// Games without `--trials`.
const TRIALS: u64 = 400;

/// Without `--trials`, no more games are recorded after this time.
const LONGEST: Duration = Duration::from_secs(40);

/// Trials that are named one by one.
const NAMED: usize = 5;

fn ban(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((seat, card)) if !seat.is_empty() && !card.is_empty() => Ok((seat.to_owned(), card.to_owned())),
        _ => Err("write SEAT:CARD, such as players:strike".into()),
    }
}

pub fn study(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let (study, name) = planned(args, folder)?;
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads == 0 {
        return Err(call_error("`--threads` must be at least 1; leave it out to use all processors"));
    }
    let (meter, interrupted, began) = (meter(), watched(), Instant::now());
    let recorded = study.record(threads, &mut |progress| {
        meter.set_length(progress.of);
        meter.set_position(progress.done);
        let late = args.trials.is_none() && began.elapsed() > LONGEST;
        !interrupted.load(Ordering::Relaxed) && !late
    });
    meter.finish_and_clear();
    let recorded = recorded.map_err(|error| call_error(error.to_string()))?;
    let figures = recorded.figures();
    let mut screen = Screen::stdout(args.json).at_most(80);
    if args.json {
        let replay = |trial: u64| replay(&study, (name.as_str(), args.seat.as_slice()), trial, folder);
        let open: Vec<u64> =
            [&figures.endless, &figures.stuck, &figures.failed].into_iter().flatten().copied().collect();
        let commands: Vec<_> = open.iter().map(|trial| json!({ "trial": trial, "replay": replay(*trial) })).collect();
        screen.object(&json!({
            "scenario": name, "seed": study.seed, "trials": study.trials, "figures": figures,
            "forced": recorded.forced, "replays": commands,
        }))?;
    } else {
        report(&mut screen, &study, (name.as_str(), args.seat.as_slice()), &recorded, &figures, folder)?;
    }
    let code = if interrupted.load(Ordering::Relaxed) { INTERRUPTED } else { 0 };
    Ok(ExitCode::from(code))
}

/// What is to be recorded, and the name of the scenario.
fn planned(args: &Args, folder: Option<&Path>) -> Result<(Study, String)> {
    let library = library::open(folder)?;
    let named = args.scenario.as_ref().filter(|name| args.ruleset.is_none() && library::is_ruleset(&library, name));
    let id = match named.or(args.ruleset.as_ref()) {
        Some(id) => id.clone(),
        None => library::default_ruleset(&library)?,
    };
    let rules = library::load(&library, &id, &[])?;
    let usual = || rules.default_scenario().map(str::to_owned);
    let scenario = args.scenario.clone().filter(|_| named.is_none()).or_else(usual).unwrap_or_default();
    let mut setup = Setup { seed: args.seed, ..Setup::default() };
    if !scenario.is_empty() {
        setup.scenario = Scenario::Named(scenario.clone());
    }
    let setup = with_pairs(setup, &[], &args.seat);
    let variant = Variant::new(rules.name(), &rules, setup).map_err(|error| call_error(error.to_string()))?;
    for (seat, card) in &args.ban {
        if rules.card(card).is_none() {
            return Err(call_error(format!("`{card}` is no card of {}", rules.name())));
        }
        if !variant.setup.seats.contains_key(seat.as_str()) {
            return Err(call_error(format!("`{seat}` is no seat of {}", rules.name())));
        }
    }
    let bans = args.ban.iter().map(|(seat, card)| (seat.as_str().into(), card.as_str().into())).collect();
    let (first, trials) = args.trial.map_or((1, args.trials.unwrap_or(TRIALS)), |trial| (trial, 1));
    if trials == 0 {
        return Err(call_error("zero trials were asked for; `--trials 400` plays four hundred games"));
    }
    Ok((Study { variant, first, trials, seed: args.seed, actions: args.actions, bans }, scenario))
}

/// The call that studies one trial alone.
fn replay(study: &Study, (scenario, seats): (&str, &[(String, String)]), trial: u64, folder: Option<&Path>) -> String {
    let mut words = vec!["riskbreaker".to_owned(), "study".into(), scenario.to_owned()];
    if let Some(folder) = folder {
        words.extend(["--rulesets".into(), folder.display().to_string()]);
    }
    words.extend(["--ruleset".into(), study.variant.rules.id().to_string()]);
    words.extend(seats.iter().flat_map(|(seat, who)| ["--seat".to_owned(), format!("{seat}={who}")]));
    for (seat, card) in &study.bans {
        words.extend(["--ban".into(), format!("{seat}:{card}")]);
    }
    words.extend(["--seed".into(), study.seed.to_string(), "--actions".into(), study.actions.to_string()]);
    words.extend(["--trial".into(), trial.to_string()]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The report in text: each figure with its interval, each part with a sentence that explains it.
fn report(
    screen: &mut Screen,
    study: &Study,
    (name, seats): (&str, &[(String, String)]),
    recorded: &Recorded,
    figures: &StudyFigures,
    folder: Option<&Path>,
) -> Result<()> {
    screen.row(&Row::at(0).strong(format!("{name} · {} games · seed {}", figures.games, study.seed)))?;
    if figures.games < study.trials {
        let text = format!("{} of {} games were recorded before the work ended.", figures.games, study.trials);
        screen.row(&Row::prose(0).plain(text))?;
    }
    screen.row(
        &Row::prose(0).faint("Shares and averages have the interval that holds the true one in 95 of 100 studies."),
    )?;
    let results = figures.results.iter().map(|(result, rate)| vec![result.clone(), rate_text(rate)]).collect();
    screen.table(&["result", "share of ended games"], results)?;
    let spread = |name: &str, spread: &Option<Spread>| {
        let spread = (*spread)?;
        let numbers = [spread.p10, spread.p50, spread.p90, spread.most, spread.most_in_trial];
        Some(std::iter::once(name.to_owned()).chain(numbers.iter().map(u64::to_string)).collect::<Vec<_>>())
    };
    let rows = [("rounds", &figures.rounds), ("decisions", &figures.decisions)];
    let rows = rows.iter().filter_map(|(name, found)| spread(name, found)).collect();
    screen.row(&Row::prose(0).faint("Of ten games, one is at most as long as p10, five as p50, nine as p90."))?;
    screen.table(&["length", "p10", "p50", "p90", "longest", "in trial"], rows)?;
    for (what, trials) in [("endless", &figures.endless), ("stuck", &figures.stuck), ("failed", &figures.failed)] {
        if let Some(first) = trials.first() {
            let named: Vec<String> = trials.iter().take(NAMED).map(u64::to_string).collect();
            let text = format!("{} {what}, in trials {}; the first again:", trials.len(), named.join(", "));
            screen.row(&Row::prose(0).plain(text))?;
            screen.row(&Row::at(2).plain(replay(study, (name, seats), *first, folder)))?;
        }
    }
    choices(screen, figures)?;
    if let Some(rate) = &figures.comebacks {
        screen.row(
            &Row::prose(0).plain(format!("The winner was behind at some time in {} of the games.", rate_text(rate))),
        )?;
    }
    if let Some((average, margin)) = figures.lead_changes {
        let text = format!("The lead changes {average:.2} times a game, give or take {margin:.2}.");
        screen.row(&Row::prose(0).plain(text))?;
    }
    if let Some((average, margin)) = figures.decided_at {
        let text = format!(
            "The winner leads for good after {} of a game, give or take {}.",
            percent(average),
            percent(margin)
        );
        screen.row(&Row::prose(0).plain(text))?;
    }
    for missing in &figures.missing {
        screen.row(&Row::prose(0).plain(format!("Missing: {missing}.")))?;
    }
    if !study.bans.is_empty() {
        let text = format!("A banned card was used {} times since nothing else was open.", recorded.forced);
        screen.row(&Row::prose(0).plain(text))?;
    }
    Ok(())
}

/// The tables of questions and of cards.
fn choices(screen: &mut Screen, figures: &StudyFigures) -> Result<()> {
    let topics = figures.topics.iter().map(|found| {
        let open = found.asked.open as f64 / found.asked.counted.max(1) as f64;
        vec![
            found.seat.to_string(),
            found.topic.to_string(),
            found.asked.asked.to_string(),
            format!("{open:.2}"),
            rate_text(&found.single),
        ]
    });
    screen.row(&Row::prose(0).faint("Questions, with the answers that were open; one open answer is no choice."))?;
    screen.table(&["seat", "question", "asked", "open", "with one answer"], topics.collect())?;
    let cards = figures.cards.iter().map(|card| {
        vec![
            card.seat.to_string(),
            readable_name(&card.card),
            card.offer.offered.to_string(),
            rate_text(&card.chosen_when_offered),
            card.won_when_used.as_ref().map_or_else(|| "-".to_owned(), rate_text),
        ]
    });
    screen.row(
        &Row::prose(0)
            .faint("Cards. Shares of games won mislead where those who are ahead choose otherwise than others."),
    )?;
    Ok(screen.table(&["seat", "card", "offered", "chosen", "won when used"], cards.collect())?)
}
