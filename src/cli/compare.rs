use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::{
    CardOdds, Driver, Library, MemoUse, Odds, Rate, Refusal, Scenario, Setup, Simulation, Value, Variant, compare_cards,
};
use serde_json::json;

use super::figures::likeliest;
use super::odds::odds_json;
use super::play::pair;
use super::screen::Screen;
use super::sim::{rate_text, results};
use super::{CallError, call_error, library};

/// Tells what an edit to the rules does: to the odds of cards, and to who wins
///
/// The rules as they are here are compared with another copy of them, such as a git worktree of an older revision. The
/// report is a table for a commit message.
#[derive(clap::Args)]
pub struct Args {
    /// A scenario of the ruleset
    scenario: Option<String>,

    /// The other copy: a folder with rulesets
    #[arg(long, value_name = "DIR")]
    against: PathBuf,

    /// The ruleset
    #[arg(long, value_name = "ID")]
    rules: Option<String>,

    /// The value of a house rule; can be given again
    #[arg(long, value_name = "SWITCH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Who plays a seat; can be given again
    #[arg(long, alias = "policy", value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// How many games are played by each
    #[arg(long, value_name = "N", default_value_t = 2000)]
    trials: u64,

    /// The seed of the dice
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Writes a JSON object
    #[arg(long)]
    json: bool,
}

pub fn compare(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let here = library::open(folder.as_deref())?;
    let inner = args.against.join(Library::FOLDER);
    let there = Library::open(if inner.is_dir() { &inner } else { &args.against });
    let there = there.map_err(|error| call_error(error.to_string()))?;
    let id = match &args.rules {
        Some(id) => id.clone(),
        None => library::default_ruleset(&here)?,
    };
    let before = library::load(&there, &id, &[]).map_err(|error| match error.is::<CallError>() {
        true => error,
        // Both copies name their files alike.
        false => error.context(format!("in {}", there.describe())),
    })?;
    let sides = [("before", before), ("now", library::load(&here, &id, &[])?)];
    let mut variants = Vec::new();
    for (name, rules) in &sides {
        variants.push(Variant::new(*name, rules, setup(&args)).map_err(|error| call_error(error.to_string()))?);
    }
    let cards = compare_cards(&sides[0].1, &sides[1].1, &variants[1].setup);
    let scenario =
        args.scenario.clone().or_else(|| sides[1].1.default_scenario().map(String::from)).unwrap_or_default();
    let simulation = Simulation {
        scenario: scenario.clone(),
        variants,
        trials: args.trials,
        seed: args.seed,
        until: None,
        memo: MemoUse::default(),
        actions: 20_000,
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let findings =
        simulation.run(threads, None, None, &mut |_, _| true).map_err(|error| call_error(error.to_string()))?;

    let ids = |at: usize| sides[at].1.cards().iter().map(|card| card.id.clone()).collect::<BTreeSet<Arc<str>>>();
    let gone: Vec<Arc<str>> = ids(0).difference(&ids(1)).cloned().collect();
    let mut screen = Screen::stdout(args.json);
    if args.json {
        let listed: Vec<_> = cards.iter().flatten().filter(|card| card.differs()).map(card_json).collect();
        let refused = cards.as_ref().err().map(|refusal| refusal.to_string());
        screen.object(&json!({
            "ruleset": id, "scenario": scenario, "cards": listed, "gone": gone, "cards_refused": refused, "findings": findings,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    match &cards {
        Err(refusal) => text += &format!("{refusal}\n\n"),
        Ok(cards) if gone.is_empty() && cards.iter().all(|card| !card.differs()) => {
            text += &format!("The odds of the {} cards that come up in {scenario} are the same.\n\n", cards.len());
        }
        Ok(cards) => {
            let mut row = |cells: [&str; 3]| {
                let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
                text += &format!("| {} |\n", cells.join(" | "));
            };
            row(["card", "before", "now"]);
            row(["---"; 3]);
            for card in cards.iter().filter(|card| card.differs()) {
                let title = sides[1].1.card(&card.card).map_or(&*card.card, |card| &*card.title);
                let who = card.actor.as_deref().map(|actor| format!("{title} by {actor}"));
                row([who.as_deref().unwrap_or(title), &told(&card.before), &told(&card.now)]);
            }
            for card in &gone {
                row([&**card, "", "no such card"]);
            }
            text += "\n";
        }
    }
    let mut row = |cells: [String; 3]| text += &format!("| {} |\n", cells.join(" | "));
    row([format!("{scenario}, {} games each", args.trials), "before".into(), "now".into()]);
    row(["---".into(), "---".into(), "---".into()]);
    for result in results(&findings) {
        let cell = |at: usize| rate_text(&findings.tallies[at].rate(&result));
        row([result.clone(), cell(0), cell(1)]);
    }
    row([
        "rounds, average".into(),
        format!("{:.2}", findings.tallies[0].mean_rounds()),
        format!("{:.2}", findings.tallies[1].mean_rounds()),
    ]);
    let pairs = &findings.pairs[0];
    let games: u64 = pairs.values().flat_map(|results| results.values()).sum();
    let same: u64 = pairs.iter().filter_map(|(first, results)| results.get(first)).sum();
    text += &format!("\nOn the same dice {} of the games end otherwise.\n", rate_text(&Rate::of(games - same, games)));
    for (name, tally) in ["before", "now"].iter().zip(&findings.tallies) {
        if let Some(first) = tally.left_out.first() {
            let many = tally.left_out.len();
            text += &format!("\nLeft out {name}: {many}; seed {} trial {}: {}\n", args.seed, first.trial, first.why);
        }
    }
    screen.verbatim(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn setup(args: &Args) -> Setup {
    let mut setup = Setup { seed: args.seed, ..Setup::default() };
    if let Some(scenario) = &args.scenario {
        setup.scenario = Scenario::Named(scenario.clone());
    }
    for (switch, value) in &args.set {
        setup = setup.switch(switch, Value::text(value));
    }
    for (seat, driver) in &args.seat {
        let Ok(driver) = driver.parse::<Driver>();
        setup = setup.seat(seat, driver);
    }
    setup
}

/// Outcomes that a cell names.
const NAMED: usize = 4;

fn told(odds: &Result<Odds, Refusal>) -> String {
    let odds = match odds {
        Ok(odds) => odds,
        Err(refusal) => return refusal.to_string(),
    };
    likeliest(odds, NAMED).join("; ")
}

fn card_json(card: &CardOdds) -> serde_json::Value {
    let side = |odds: &Result<Odds, Refusal>| match odds {
        Ok(odds) => odds_json(odds),
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    };
    json!({ "card": card.card, "actor": card.actor, "before": side(&card.before), "now": side(&card.now) })
}
