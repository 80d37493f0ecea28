use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::lab::{
    CardOdds, ComparedCards, Findings, MemoUse, Odds, Progress, Rate, Simulation, Variant, compare_cards,
};
use riskbreaker::{Refusal, Ruleset, Scenario, Setup, WorkBudget};
use serde_json::json;

use super::edition::{Edition, Editions, NamedTarget};
use super::figures::likeliest;
use super::interrupt::{interrupted_code, watched_briefly};
use super::meter::{meter, spinner};
use super::odds::OddsJson;
use super::play::{pair, with_pairs};
use super::row::{Row, Span};
use super::screen::Screen;
use super::shard::{PartArgs, ReportForm};
use super::sim::count;
use super::tallies::{rate_text, result_bars, results};
use super::{call_error, library};
use riskbreaker::check::first_and_count;

/// Compares two sets of rules: odds of cards, and who wins
///
/// WHAT is a ruleset (`riskbreaker-0.0.3`), a house rule (`kill_capacity=effective`), a folder with rulesets, or a git revision
/// (`HEAD~1`). One of them is compared with the rules as they are here, two are compared with each other. The name of a scenario
/// says what is played.
///
/// With `--shard` or `--save` it only plays games: `merge` joins the parts and prints who wins.
#[derive(clap::Args)]
pub struct Args {
    /// What is compared, and the scenario: `compare duel HEAD~1`
    what: Vec<String>,

    /// Another copy of the rules: a folder with rulesets
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,

    /// The ruleset
    #[arg(long, alias = "ruleset", value_name = "ID")]
    rules: Option<String>,

    /// The value of a house rule, in both; can be repeated
    #[arg(long, value_name = "SWITCH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Who plays a seat; can be repeated
    #[arg(long, alias = "policy", value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// How many games are played by each
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = super::whole::<u64>)]
    trials: u64,

    /// The seed of the dice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::whole::<u64>)]
    seed: u64,

    // With a part or a file, only games are played: the odds of cards are not divided.
    #[command(flatten)]
    part: PartArgs,

    /// Writes Markdown, for a commit message
    #[arg(long, conflicts_with_all = ["json", "shard", "save"])]
    markdown: bool,

    /// Writes a JSON object
    #[arg(long)]
    json: bool,
}

/// The work for the odds of all cards, in steps of a script: about fifteen seconds.
const WORK: u64 = 3_000_000_000;
/// The number of actions after which no more games are started.
const MOST_ACTIONS: u64 = 20_000_000;

/// The result of a comparison.
struct CompareResult {
    scenario: String,
    names: [String; 2],
    now: Arc<Ruleset>,
    cards: Result<ComparedCards, Refusal>,
    /// Cards of the first side that the second side lacks.
    gone: Vec<Arc<str>>,
    findings: Findings,
}

pub fn compare(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    args.part.run(|| compared(args, folder))
}

fn compared(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let editions = Editions::open(folder, args.rules.as_deref(), &args.what)?;
    let (sides, named) = sides(args, &editions)?;
    let scenario = named.or_else(|| shared_scenario(&sides));
    let mut variants = Vec::new();
    for side in &sides {
        let setup = setup(args, scenario.as_deref(), side);
        variants.push(Variant::new(&*side.name, &side.rules, setup).map_err(|error| call_error(error.to_string()))?);
    }
    let counts_only = args.part.shard.is_some() || args.part.save.is_some();
    let are_equal = sides[0].rules.hash() == sides[1].rules.hash() && variants[0].setup == variants[1].setup;
    if are_equal && !counts_only {
        let names = sides.each_ref().map(|side| &*side.name);
        return tell_equal(names, &sides[0].rules.hash(), scenario.as_deref(), args.json);
    }
    // If they share no scenario, each plays its own.
    let scenario = scenario.unwrap_or_else(|| {
        let mut own: Vec<&str> = sides.iter().filter_map(|side| side.rules.default_scenario()).collect();
        own.dedup();
        own.join(" and ")
    });
    let simulation = Simulation {
        scenario: scenario.clone(),
        variants,
        trials: args.trials,
        seed: args.seed,
        until: None,
        memo: MemoUse::default(),
        actions: 20_000,
    };
    if counts_only {
        let output = ReportForm { json: args.json, html: None };
        return count(&simulation, &args.part, None, &output, folder);
    }
    let threads = args.part.threads()?;
    let budget = WorkBudget::new(WORK).until(&watched_briefly());
    let waits = spinner("odds of the cards");
    let cards = compare_cards(&simulation.variants[0], &simulation.variants[1], &budget);
    waits.finish_and_clear();
    let meter = meter();
    let mut go_on = |found: &Findings, progress: Progress| {
        meter.set_length(progress.of);
        meter.set_position(progress.done);
        let actions: u64 = found.tallies.iter().map(|tally| tally.actions).sum();
        actions < MOST_ACTIONS && !budget.is_interrupted()
    };
    let played = simulation.run(threads, None, None, &mut go_on);
    meter.finish_and_clear();
    let findings = played.map_err(|error| call_error(error.to_string()))?;
    let ids = |at: usize| sides[at].rules.cards().iter().map(|card| card.id.clone()).collect::<BTreeSet<Arc<str>>>();
    let gone = ids(0).difference(&ids(1)).cloned().collect();
    let [before, now] = sides;
    let found = CompareResult { scenario, names: [before.name, now.name], now: now.rules, cards, gone, findings };
    let mut screen = Screen::stdout(args.json);
    if args.json {
        screen.object(&found.json())?;
    } else if args.markdown {
        screen.verbatim(&found.markdown(args.seed))?;
    } else {
        found.show(&mut screen, args.seed)?;
    }
    if budget.is_interrupted() {
        eprintln!("interrupted: what is above is what was known by then");
        return Ok(ExitCode::from(interrupted_code()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that two names are those of the same rules, which have this hash: nothing is played.
pub fn tell_equal(names: [&str; 2], hash: &str, scenario: Option<&str>, json: bool) -> Result<ExitCode> {
    let mut screen = Screen::stdout(json);
    if json {
        screen.object(&json!({ "scenario": scenario, "names": names, "same_rules": true, "hash": hash }))?;
    }
    let text = format!(
        "{} and {} are the same rules, file by file: nothing differs, and nothing was played.",
        names[0], names[1]
    );
    screen.row(&Row::at(0).plain(text))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the two editions to compare, the older one first, and the scenario if one is named.
fn sides(args: &Args, editions: &Editions) -> Result<([Edition; 2], Option<String>)> {
    let (mut named, mut scenario) = (Vec::new(), None);
    if let Some(folder) = &args.against {
        named.push(editions.in_folder("before", folder)?);
    }
    for word in &args.what {
        match editions.named(word)? {
            NamedTarget::Edition(edition) => named.push(edition),
            NamedTarget::Scenario(name) => scenario = Some(name),
        }
    }
    let mut named = named.into_iter();
    let sides = match (named.next(), named.next(), named.next()) {
        (Some(only), None, _) if only.older => [only, editions.here("now")?],
        (Some(only), None, _) => {
            let usual = library::default_ruleset(editions.library())?;
            // A single ruleset is compared with the default ruleset.
            match only.set.is_empty() && args.rules.is_none() {
                true if only.name == usual => {
                    return Err(call_error(format!("say what {usual} is compared with: `compare {usual} WHAT`")));
                }
                true => [editions.ruleset(&usual)?, only],
                false => [editions.here("as it is")?, only],
            }
        }
        (Some(first), Some(second), None) => [first, second],
        (None, ..) => {
            return Err(call_error(
                "say what to compare: `compare riskbreaker-0.0.3`, `compare SWITCH=VALUE`, `compare HEAD~1`, `compare FOLDER`",
            ));
        }
        (Some(_), Some(_), Some(third)) => {
            return Err(call_error(format!("two can be compared; leave `{}` out", third.name)));
        }
    };
    Ok((sides, scenario))
}

/// The scenario for both if none is named: the default of the second, or else of the first, provided that both have it.
fn shared_scenario(sides: &[Edition; 2]) -> Option<String> {
    let usual = sides.iter().rev().filter_map(|side| side.rules.default_scenario());
    let mut shared = usual.filter(|name| sides.iter().all(|side| side.rules.scenarios().contains_key(*name)));
    shared.next().map(String::from)
}

fn setup(args: &Args, scenario: Option<&str>, side: &Edition) -> Setup {
    let mut setup = Setup { seed: args.seed, ..Setup::default() };
    if let Some(scenario) = scenario {
        setup.scenario = Scenario::Named(scenario.to_owned());
    }
    with_pairs(setup, args.set.iter().chain(&side.set), &args.seat)
}

impl CompareResult {
    /// The cards whose odds differ.
    fn differing(&self) -> impl Iterator<Item = &CardOdds> {
        self.cards.iter().flat_map(|cards| &cards.cards).filter(|card| card.differs())
    }

    /// The title of a card, and who could play it.
    fn title(&self, card: &CardOdds) -> String {
        let title = self.now.card(&card.card).map_or(&*card.card, |card| &*card.title);
        match &card.actor {
            Some(actor) => format!("{title} by {actor}"),
            None => title.to_owned(),
        }
    }

    /// Returns the reason for which no cards are listed; `None` if some are.
    fn without_cards(&self) -> Option<String> {
        match &self.cards {
            Err(refusal) => Some(refusal.to_string()),
            Ok(cards) if self.gone.is_empty() && self.differing().next().is_none() => Some(format!(
                "The odds of the {} cards that come up in {} are the same.",
                cards.cards.len(),
                self.scenario
            )),
            Ok(_) => None,
        }
    }

    /// The missing parts of the comparison, a line each; empty if it is complete.
    fn missing(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Ok(cards) = &self.cards {
            let ids: Vec<String> = cards.unexamined.iter().map(ToString::to_string).collect();
            if !ids.is_empty() {
                lines.push(format!("Partial: cards that were not compared: {}.", first_and_count(&ids)));
            } else if cards.is_partial() {
                lines.push("Partial: the odds of some cards are estimates.".to_owned());
            }
        }
        if !self.findings.complete {
            lines.push(format!("Partial: {} of {} games were played.", self.games(), self.findings.plan.trials));
        }
        let in_vain = |at: &usize| self.findings.gave_up_on(*at) || self.findings.tallies[*at].trials == 0;
        lines.extend((0..2).filter(in_vain).map(|at| format!("Partial: no game of {} counts.", self.names[at])));
        lines
    }

    /// The share of games with another result on the same dice, in words.
    fn otherwise(&self) -> String {
        let pairs = &self.findings.pairs[0];
        let games: u64 = pairs.values().flat_map(|results| results.values()).sum();
        let same: u64 = pairs.iter().filter_map(|(first, results)| results.get(first)).sum();
        format!("With the same dice, {} of the games have another result.", rate_text(&Rate::of(games - same, games)))
    }

    /// The number of games that count.
    fn games(&self) -> u64 {
        self.findings.tallies.iter().map(|tally| tally.trials).max().unwrap_or_default()
    }

    /// The unfinished games, a line for each edition that has some.
    fn left_out(&self, seed: u64) -> Vec<String> {
        let both = (0..).zip(self.names.iter().zip(&self.findings.tallies));
        let lines = both.filter_map(|(at, (name, tally))| {
            let first = tally.left_out.first()?;
            let many = tally.left_out.len();
            let no_more = if self.findings.gave_up_on(at) { ", and no more were played" } else { "" };
            Some(format!("{name}: {many} left out{no_more}; seed {seed} trial {}: {}", first.trial, first.why))
        });
        lines.collect()
    }

    fn show(&self, screen: &mut Screen, seed: u64) -> Result<()> {
        let (games, [before, now]) = (self.games(), &self.names);
        let heading = format!("{} · {before} against {now} · {games} games each · seed {seed}", self.scenario);
        screen.row(&Row::at(0).strong(heading))?;
        if let Some(sentence) = self.without_cards() {
            screen.row(&Row::prose(2).plain(sentence))?;
        }
        for card in self.differing() {
            screen.row(&Row::at(2).strong(self.title(card)))?;
            let cells = [(before, &card.before), (now, &card.now)];
            let cells = cells.map(|(name, odds)| vec![Span::faint(name), Span::plain(told(odds))]);
            screen.columns(4, cells.to_vec())?;
            if told(&card.before) == told(&card.now) {
                screen.row(
                    &Row::prose(4)
                        .faint("The differences are rarer than these outcomes, or in values that are not shown."),
                )?;
            }
        }
        if !self.gone.is_empty() {
            screen.row(&Row::prose(2).plain(format!("Cards that only {before} has: {}.", self.gone.join(", "))))?;
        }
        result_bars(screen, &self.findings)?;
        let rounds = |at: usize| format!("{:.2}", self.findings.tallies[at].mean_rounds());
        let rounds = format!("rounds, average: {} and {}", rounds(0), rounds(1));
        screen.row(&Row::at(2).plain(rounds))?;
        screen.row(&Row::prose(0).plain(self.otherwise()))?;
        let lines = self.left_out(seed).into_iter().chain(self.missing());
        lines.into_iter().try_for_each(|line| screen.row(&Row::prose(0).plain(line)))?;
        Ok(())
    }

    fn markdown(&self, seed: u64) -> String {
        let mut text = String::new();
        let games = self.games();
        let [before, now] = &self.names;
        match self.without_cards() {
            Some(sentence) => text += &format!("{sentence}\n\n"),
            None => {
                row(&mut text, ["card", before, now]);
                row(&mut text, ["---"; 3]);
                for card in self.differing() {
                    row(&mut text, [&self.title(card), &told(&card.before), &told(&card.now)]);
                }
                for card in &self.gone {
                    row(&mut text, [&**card, "", "no such card"]);
                }
                text.push('\n');
            }
        }
        row(&mut text, [&format!("{}, {games} games each", self.scenario), before, now]);
        row(&mut text, ["---"; 3]);
        for result in results(&self.findings) {
            let cell = |at: usize| rate_text(&self.findings.tallies[at].rate(&result));
            row(&mut text, [&result, &cell(0), &cell(1)]);
        }
        let rounds = |at: usize| format!("{:.2}", self.findings.tallies[at].mean_rounds());
        row(&mut text, ["rounds, average", &rounds(0), &rounds(1)]);
        text += &format!("\n{}\n", self.otherwise());
        for line in self.left_out(seed).into_iter().chain(self.missing()) {
            text += &format!("\n{line}\n");
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "ruleset": self.now.name(),
            "scenario": self.scenario,
            "compared": self.names,
            "cards": self.differing().map(card_json).collect::<Vec<_>>(),
            "gone": self.gone,
            "cards_refused": self.cards.as_ref().err().map(|refusal| refusal.to_string()),
            "findings": self.findings,
            "partial": !self.missing().is_empty(),
            "unexamined": self.cards.as_ref().map(|cards| cards.unexamined.clone()).unwrap_or_default(),
        })
    }
}

/// Adds a row of a Markdown table.
fn row(text: &mut String, cells: [&str; 3]) {
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// The number of outcomes in a cell.
const NAMED: usize = 4;

fn told(odds: &Result<Odds, Refusal>) -> String {
    match odds {
        Ok(odds) => likeliest(odds, NAMED).join("; "),
        // The card is not among the options of the question.
        Err(Refusal::NotAnOption { .. }) => "not offered".to_owned(),
        Err(refusal) => refusal.to_string(),
    }
}

fn card_json(card: &CardOdds) -> serde_json::Value {
    let side = |odds: &Result<Odds, Refusal>| match odds {
        Ok(odds) => json!(OddsJson(odds)),
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    };
    json!({ "card": card.card, "actor": card.actor, "before": side(&card.before), "now": side(&card.now) })
}
