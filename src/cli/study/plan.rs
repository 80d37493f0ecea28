//! The options of a study, and the study that they ask for.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::super::play::{pair, with_pairs};
use super::super::shard::{ShardArg, shard};
use super::super::{call_error, library};
use super::job::StudyJob;
use super::ladder::SearchPlan;
use super::parts::StudyPart;
use riskbreaker::lab::{Foresight, Search, SimulationError, Study, Variant};
use riskbreaker::ruleset::nearest;
use riskbreaker::{Driver, Scenario, Setup};

/// Studies a scenario: results and length, choices, drama, and every card
///
/// Each trial has dice of its own, by seed and number, so the figures do not depend on the number of threads or parts.
#[derive(Default, clap::Args)]
pub struct Args {
    /// A scenario of the ruleset, or a ruleset
    pub scenario: Option<String>,

    /// The ruleset
    #[arg(long, value_name = "ID")]
    pub ruleset: Option<String>,

    /// How many games; more give narrower intervals, without a limit of time
    #[arg(long, value_name = "N", value_parser = super::super::whole::<u64>)]
    pub trials: Option<u64>,

    /// Plays trial N alone and shows its log
    #[arg(
        long, value_name = "N", value_parser = super::super::least_one,
        conflicts_with_all = ["trials", "only", "specs", "html"]
    )]
    pub trial: Option<u64>,

    /// With `--trial`: stops at decision N and shows the position, the question and what each answer is worth
    #[arg(long, value_name = "N", value_parser = super::super::least_one, requires = "trial")]
    pub decision: Option<u64>,

    /// The seed of the dice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::super::whole::<u64>)]
    pub seed: u64,

    /// Who plays a seat: a policy, absent, `ahead`, or search:N with N playouts a decision; can be repeated
    #[arg(long, value_name = "SEAT=WHO", value_parser = pair)]
    pub seat: Vec<(String, String)>,

    /// A card that is closed to the policy of a seat while another option is open; can be repeated
    #[arg(long, value_name = "SEAT:CARD", value_parser = ban)]
    pub ban: Vec<(String, String)>,

    /// Plays the games of these parts only; every report has results, choices, cards and drama
    #[arg(long, value_name = "PART,PART...", value_delimiter = ',', value_enum)]
    pub only: Vec<StudyPart>,

    /// How far the player `search` looks ahead, over all trials: N, N:horizon or N:horizon:K, as for a seat that searches
    #[arg(long, value_name = "N", value_parser = search, conflicts_with_all = ["trial", "against"])]
    pub search: Option<Search>,

    /// Compares with another ruleset, on the same dice
    #[arg(long, value_name = "ID", conflicts_with_all = ["trial", "only"])]
    pub against: Option<String>,

    /// Plays one of N parts of the trials, into the file of `--save`; `merge` joins the parts. `env`: by the variables of a
    /// scheduler
    #[arg(
        long, value_name = "I/N|env", value_parser = shard,
        conflicts_with_all = ["trial", "against", "json", "specs", "html"]
    )]
    pub shard: Option<ShardArg>,

    /// The file of a part: what it has is not played again
    #[arg(long, value_name = "FILE.json", requires = "shard")]
    pub save: Option<PathBuf>,

    /// How many threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = super::super::whole::<usize>)]
    pub threads: Option<usize>,

    /// A game that has not ended after N actions counts as endless
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = super::super::least_one)]
    pub actions: u64,

    /// Writes a JSON object
    #[arg(long)]
    pub json: bool,

    /// Writes each endless and each stuck game as a failing spec into this folder, 20 at most
    #[arg(long, value_name = "DIR", conflicts_with = "against")]
    pub specs: Option<PathBuf>,

    /// Writes the report with pictures, in one file
    #[arg(long, value_name = "FILE.html", conflicts_with = "against")]
    pub html: Option<PathBuf>,
}

/// The number of games without `--trials`.
const TRIALS: u64 = 400;

pub fn ban(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((seat, card)) if !seat.is_empty() && !card.is_empty() => Ok((seat.to_owned(), card.to_owned())),
        _ => Err("write SEAT:CARD, such as players:strike".into()),
    }
}

/// A search by its playouts, with or without the word `search:` before them.
pub fn search(text: &str) -> Result<Search, String> {
    let name = format!("search:{}", text.strip_prefix("search:").unwrap_or(text));
    match Foresight::named(&name) {
        Ok(Some(Foresight::Search(search))) => Ok(search),
        Ok(_) | Err(_) => Err(format!(
            "write a number of playouts from 1 to {}, such as 50, or 50:horizon:3 for playouts that stop where they reach the \
             horizon of the ruleset for the third time",
            Search::MOST
        )),
    }
}

/// The study that the command line describes. `instead`: another ruleset and scenario.
pub fn planned(args: &Args, folder: Option<&Path>, instead: Option<(&String, &String)>) -> Result<StudyJob> {
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
    if trials > Study::MOST_TRIALS {
        return Err(call_error(SimulationError::TooManyTrials(trials).to_string()));
    }
    if args.search.is_some() && !StudyPart::chosen(args).contains(&StudyPart::Skill) {
        return Err(call_error("`--search` is for luck and skill, which `--only` leaves out: add `skill` to it"));
    }
    let search = SearchPlan::of(args.search, trials);
    let random = Default::default();
    let (store, known_only) = Default::default();
    let study =
        Study { variant, first, trials, seed: args.seed, actions: args.actions, bans, random, store, known_only };
    Ok(StudyJob { study, scenario, seats: args.seat.clone(), search, folder: folder.map(Path::to_owned) })
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
            let list = || format!("; `riskbreaker reference {}` lists its cards", rules.id());
            let near = near.map_or_else(list, |near| format!("; did you mean `{near}`?"));
            return Err(call_error(format!("`{card}` is no card of {}{near}", rules.name())));
        }
        let playing = |driver: &Driver| *driver != Driver::Absent;
        match variant.setup.seats.get(seat.as_str()) {
            Some(driver) if playing(driver) => {}
            found => {
                let all = variant.setup.seats.iter().filter(|(_, driver)| playing(driver));
                let seats: Vec<&str> = all.map(|(seat, _)| &**seat).collect();
                let wrong = match found {
                    Some(_) => format!("the seat `{seat}` is absent and plays no card; the others are"),
                    None => format!("`{seat}` is no seat of {}; it has", rules.name()),
                };
                return Err(call_error(format!("{wrong} {}", seats.join(", "))));
            }
        }
    }
    Ok(())
}

impl StudyPart {
    /// The parts that a call asks for: all of them by default.
    pub fn chosen(args: &Args) -> Vec<StudyPart> {
        match args.only.as_slice() {
            [] => StudyPart::ALL.to_vec(),
            only => only.to_vec(),
        }
    }
}
