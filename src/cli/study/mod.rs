//! The command `study`: answers a designer's questions about a game in one report.

pub mod compared;
mod html;
mod job;
pub mod part;
pub mod parts;
mod sheet;
mod specs;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use riskbreaker::lab::{Study, Variant};
use riskbreaker::ruleset::nearest;
use riskbreaker::{Scenario, Setup};
use serde_json::{Value as Json, json};

use self::compared::Columns;
use self::html::Html;
use self::job::StudyJob;
use self::parts::{StudyFindings, StudyPart, StudyWork};
use super::interrupt::{heed_termination, interrupted_code, watched};
use super::play::{pair, with_pairs};
use super::report::unwritable;
use super::row::Row;
use super::screen::Screen;
use super::shard::{ShardArg, shard};
use super::{call_error, file, library};

/// Studies a scenario: results and length, choices, drama, and every card
///
/// Each trial has dice of its own, by seed and number, so the figures do not depend on the number of threads or parts.
#[derive(Default, clap::Args)]
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

    /// Who plays a seat: a policy, absent, `ahead`, or search:N with N playouts a decision; can be repeated
    #[arg(long, value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// A card that is closed to the policy of a seat while another option is open; can be repeated
    #[arg(long, value_name = "SEAT:CARD", value_parser = ban)]
    ban: Vec<(String, String)>,

    /// Plays the games of these parts only; every report has results, choices, cards and drama
    #[arg(long, value_name = "PART,PART...", value_delimiter = ',', value_enum)]
    only: Vec<StudyPart>,

    /// Compares with another ruleset, on the same dice
    #[arg(long, value_name = "ID", conflicts_with_all = ["trial", "only"])]
    against: Option<String>,

    /// Plays one of N parts of the trials, into the file of `--save`; `merge` joins the parts. `env`: by the variables of a
    /// scheduler
    #[arg(
        long, value_name = "I/N|env", value_parser = shard,
        conflicts_with_all = ["trial", "against", "json", "specs", "html"]
    )]
    shard: Option<ShardArg>,

    /// The file of a part: what it has is not played again
    #[arg(long, value_name = "FILE.json", requires = "shard")]
    save: Option<PathBuf>,

    /// How many threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    threads: Option<usize>,

    /// A game that has not ended after N actions counts as endless
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = super::whole::<u64>)]
    actions: u64,

    /// Writes a JSON object
    #[arg(long)]
    json: bool,

    /// Writes each endless and each stuck game as a failing spec into this folder, 20 at most
    #[arg(long, value_name = "DIR", conflicts_with = "against")]
    specs: Option<PathBuf>,

    /// Writes the report with pictures, in one file
    #[arg(long, value_name = "FILE.html", conflicts_with = "against")]
    html: Option<PathBuf>,
}

/// The number of games without `--trials`.
const TRIALS: u64 = 400;

/// The time after which no game begins without `--trials`. Unfinished games are dropped.
const LONGEST: Duration = Duration::from_secs(40);

pub fn ban(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((seat, card)) if !seat.is_empty() && !card.is_empty() => Ok((seat.to_owned(), card.to_owned())),
        _ => Err("write SEAT:CARD, such as players:strike".into()),
    }
}

pub fn study(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let asked = planned(args, folder, None)?;
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads == 0 {
        return Err(call_error("`--threads` must be at least 1; leave it out to use all processors"));
    }
    // Output errors are reported before anything is played.
    if let Some(path) = &args.html {
        file::can_be_written(path).map_err(|error| unwritable(path, &error))?;
    }
    heed_termination();
    if let Some(shard) = &args.shard {
        return part::play(args, asked, shard, threads);
    }
    let work = StudyWork::new(args.trials.is_none().then_some(LONGEST), watched(), threads);
    if let Some(other) = &args.against {
        let other = planned(args, folder, Some((other, &asked.scenario)))?.study;
        let names = [&asked.study, &other].map(|study| study.variant.rules.id().to_string());
        return Columns { title: asked.scenario, names, studies: [asked.study, other] }.show(&work, args.json);
    }
    let found = parts::find(&asked.study, &StudyPart::chosen(args), &work)?;
    let mut screen = show(&asked, &found, args.json, args.html.as_deref())?;
    if let Some(folder) = &args.specs {
        let files = specs::write(&asked, &found, folder)?;
        let text = match files.as_slice() {
            [] => "No game was endless or stuck: no spec is written.".to_owned(),
            [only] => format!("One failing spec is written: {}", only.display()),
            several => format!("{} failing specs are written to {}", several.len(), folder.display()),
        };
        screen.row(&Row::at(0).plain(text))?;
    }
    Ok(ExitCode::from(if work.is_interrupted() { interrupted_code() } else { 0 }))
}

/// Prints the report, as text or as JSON, and writes it with pictures to `html`.
fn show(asked: &StudyJob, found: &StudyFindings, json: bool, html: Option<&Path>) -> Result<Screen> {
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
    let figures = &found.figures;
    let unended = [&figures.endless, &figures.too_long, &figures.stuck, &figures.failed].into_iter().flatten();
    let replays: Vec<_> = unended.map(|trial| json!({ "trial": trial, "replay": asked.replay(*trial) })).collect();
    let fairness: Vec<_> = found
        .fairness
        .iter()
        .map(|(exchange, mirrored)| match mirrored {
            Ok(mirrored) => json!(mirrored),
            Err(why) => json!({ "exchange": exchange, "not_allowed": why }),
        })
        .collect();
    json!({
        "scenario": asked.scenario, "seed": asked.study.seed, "trials": asked.study.trials, "figures": figures,
        "worth": found.worth, "fairness": fairness, "positions": found.positions, "ladder": found.ladder,
        "forced": found.recorded.forced(), "replays": replays, "notes": found.notes,
    })
}

/// The study that the command line describes. `instead`: another ruleset and scenario.
fn planned(args: &Args, folder: Option<&Path>, instead: Option<(&String, &String)>) -> Result<StudyJob> {
    let library = library::open(folder)?;
    let named = args.scenario.as_ref().filter(|name| args.ruleset.is_none() && library::is_ruleset(&library, name));
    let id = match instead.map(|(id, _)| id).or(named).or(args.ruleset.as_ref()) {
        Some(id) => id.clone(),
        None => library::default_ruleset(&library)?,
    };
    let rules = library::load(&library, &id, &[])?;
    let usual = || rules.default_scenario().map(str::to_owned);
    let asked =
        instead.map(|(_, scenario)| scenario.clone()).or_else(|| args.scenario.clone().filter(|_| named.is_none()));
    let scenario = asked.or_else(usual).unwrap_or_default();
    let mut setup = Setup { seed: args.seed, ..Setup::default() };
    if !scenario.is_empty() {
        setup.scenario = Scenario::Named(scenario.clone());
    }
    let setup = with_pairs(setup, &[], &args.seat);
    let variant = Variant::new(rules.name(), &rules, setup).map_err(|error| call_error(error.to_string()))?;
    check_bans(&variant, &args.ban)?;
    let bans = args.ban.iter().map(|(seat, card)| (seat.as_str().into(), card.as_str().into())).collect();
    let (first, trials) = args.trial.map_or((1, args.trials.unwrap_or(TRIALS)), |trial| (trial, 1));
    if trials == 0 {
        return Err(call_error("zero trials were asked for; `--trials 400` plays four hundred games"));
    }
    let random = Default::default();
    let (store, known_only) = Default::default();
    let study =
        Study { variant, first, trials, seed: args.seed, actions: args.actions, bans, random, store, known_only };
    Ok(StudyJob { study, scenario, seats: args.seat.clone(), folder: folder.map(Path::to_owned) })
}

/// Checks that bans name cards and seats of the rules.
///
/// # Errors
///
/// A call error.
pub fn check_bans(variant: &Variant, bans: &[(String, String)]) -> Result<()> {
    let rules = &variant.rules;
    for (seat, card) in bans {
        if rules.card(card).is_none() {
            let near = nearest(card, rules.cards().iter().map(|card| &*card.id));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(call_error(format!("`{card}` is no card of {}{near}", rules.name())));
        }
        if !variant.setup.seats.contains_key(seat.as_str()) {
            let seats: Vec<&str> = variant.setup.seats.keys().map(|seat| &**seat).collect();
            return Err(call_error(format!("`{seat}` is no seat of {}; it has {}", rules.name(), seats.join(", "))));
        }
    }
    Ok(())
}
