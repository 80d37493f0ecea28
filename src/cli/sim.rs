use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::figures::percent;
use super::games::GamesFile;
use super::interrupt::{interrupted_code, watched};
use super::meter::meter;
use super::play::{pair, with_pairs};
use super::report::unwritable;
use super::row::Row;
use super::screen::Screen;
use super::shard::{PartArgs, ReportForm, ShardArg};
use super::study::compared::Columns;
use super::study::parts::StudyWork;
use super::study::plan::{ban, check_bans};
use super::tallies::{cards_played, left_out, rate_text, replay, result_bars, told_rounds};
use super::tune::{self, Target};
use super::{call_error, file, library, page};
use riskbreaker::lab::{
    Exchange, Findings, GameRow, GameStore, MemoUse, Progress, Rate, Simulation, SimulationError, Study, Variant,
};
use riskbreaker::ruleset::system_message;
use riskbreaker::state::readable_name;
use riskbreaker::{Ruleset, Scenario, Setup};

/// Plays a scenario many times and counts what comes of it
///
/// Every trial has dice of its own, by seed and number. So the counts depend neither on the number of threads nor on the
/// shards, and rules that are compared use the same dice.
#[derive(clap::Args)]
pub struct Args {
    /// A scenario of the ruleset
    scenario: Option<String>,

    /// How many games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = super::whole::<u64>)]
    trials: u64,

    /// The seed of the dice
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::whole::<u64>)]
    seed: u64,

    /// The rulesets to play, each on the same dice
    #[arg(long, alias = "ruleset", value_name = "ID,ID...", value_delimiter = ',')]
    rules: Vec<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// The value of a house rule; several values (A,B) are compared on the same dice
    #[arg(long, value_name = "SWITCH=VALUE[,VALUE]", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Who plays a seat: a policy, absent, `ahead` (looks one step ahead), or search:N (N playouts a decision); can be repeated
    #[arg(long, alias = "policy", value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// Stops when the share of every result is known this precisely, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = precision)]
    until: Option<f64>,

    /// Runs every script instead of replaying recorded traces: slower, same result
    #[arg(long)]
    every_script: bool,

    /// Lists the agenda entries and policies that cannot be recorded for replay, and why
    #[arg(long, conflicts_with_all = ["every_script", "shard", "save", "trial", "until", "html"])]
    why_slow: bool,

    /// Leaves out a game that has not ended after N actions
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = super::least_one)]
    actions: u64,

    #[command(flatten)]
    part: PartArgs,

    /// Writes a row for each game: its result, rounds and actions
    #[arg(long, value_name = "FILE.jsonl|FILE.csv", conflicts_with_all = ["trial", "why_slow"])]
    games: Option<PathBuf>,

    /// Plays trial N alone and shows its log
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["shard", "save", "until", "html"]
    )]
    trial: Option<u64>,

    /// Compares with games in which a seat may not use a card while another option is open, on the same dice; can be repeated
    #[arg(long, value_name = "SEAT:CARD", value_parser = ban, conflicts_with_all = NO_PAIRS)]
    ban: Vec<(String, String)>,

    /// Compares with games in which this is exchanged between two seats, on the same dice
    #[arg(long, value_name = "WHAT", conflicts_with = "ban", conflicts_with_all = NO_PAIRS)]
    mirror: Option<MirrorKind>,

    /// Goes through values of a house rule, a fact of a card, a field at the start or a derived number, on the same dice, to
    /// find the one that fits `--target`
    #[arg(long, value_name = "SWITCH=1..5 or CARD.FACT=1..5 or NAME.FIELD=1..5", value_parser = tune::values, requires = "target", conflicts_with_all = NO_PAIRS, conflicts_with_all = ["ban", "mirror"])]
    sweep: Option<(String, String)>,

    /// With `--sweep`: a result and the share of games that it is to have, such as "players 50 %"
    #[arg(long, value_name = "RESULT N %", value_parser = tune::target, requires = "sweep")]
    target: Option<Target>,

    #[command(flatten)]
    output: ReportForm,
}

/// Options that conflict with `--ban` and `--mirror`.
const NO_PAIRS: [&str; 8] = ["games", "until", "every_script", "why_slow", "shard", "save", "trial", "html"];

/// What `--mirror` exchanges.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MirrorKind {
    /// Who plays the seats
    Policies,
    /// The order in which the scenario lists what belongs to seats
    Order,
    /// What the seats have
    Sides,
}

fn precision(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.trim().parse::<f64>() {
        Ok(n) if n > 0.0 && n / scale < 0.5 => Ok(n / scale),
        _ => Err("write a percentage below 50, such as 1%".into()),
    }
}

pub fn sim(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    args.part.run(|| played(&args, folder.as_deref()))
}

fn played(args: &Args, folder: Option<&Path>) -> Result<ExitCode> {
    let simulation = planned(args, folder)?;
    if args.mirror.is_some() || !args.ban.is_empty() {
        return in_pairs(args, simulation);
    }
    if let Some(target) = &args.target {
        return tune::tune(&simulation, target, args.part.threads()?, args.output.json);
    }
    if let Some(trial) = args.trial {
        return tell_trial(&simulation, trial, args.output.json);
    }
    if args.why_slow {
        if args.part.has_several_threads() {
            return Err(call_error("`--why-slow` plays on one thread; leave `--threads` out"));
        }
        return why_slow(&simulation, args.output.json);
    }
    count(&simulation, &args.part, args.games.as_deref(), &args.output, folder)
}

/// Plays a simulation, or a part of it, and prints its counts. `rows`: the file for a row of each game.
pub fn count(
    simulation: &Simulation,
    part: &PartArgs,
    rows: Option<&Path>,
    output: &ReportForm,
    folder: Option<&Path>,
) -> Result<ExitCode> {
    // Output errors are reported before anything is played.
    for path in part.save.iter().chain(&output.html) {
        if path.is_dir() {
            return Err(call_error(format!("{} is a folder; name a file", path.display())));
        }
        file::can_be_written(path).map_err(|error| unwritable(path, &error))?;
    }
    let before = part.save.as_deref().filter(|path| path.exists()).map(read).transpose()?.map(|(before, _)| before);
    let threads = part.threads()?;
    let shard = part.shard.as_ref().map(ShardArg::settled).transpose()?;
    let meter = meter();
    let interrupted = watched();
    let save = part.save.as_deref();
    let mut games = rows.map(|path| games_file(path, simulation, save, before.as_ref())).transpose()?;
    let (mut written, mut last_save) = (Ok(()), Instant::now());
    let mut rows_written = Ok(());
    let mut keep = |rows: &[GameRow]| {
        if let (Some(games), Ok(())) = (&mut games, &rows_written) {
            rows_written = games.add(rows);
        }
    };
    let rows = rows.is_some().then_some(&mut keep as &mut dyn FnMut(&[GameRow]));
    let mut told = |findings: &Findings, progress: Progress| {
        let stop = interrupted.load(Ordering::Relaxed) && !findings.complete;
        meter.set_length(progress.of);
        meter.set_position(progress.done);
        if let Some(path) = save
            && last_save.elapsed() > Duration::from_secs(1)
        {
            written = write(path, findings, folder);
            last_save = Instant::now();
        }
        written.is_ok() && !stop
    };
    let found = simulation.run_with_rows(threads, shard, before, &mut told, rows);
    meter.finish_and_clear();
    // A full disk may have room later, so this is not a call error.
    let at_work = |error: anyhow::Error| anyhow::anyhow!("{error}");
    written.map_err(at_work)?;
    rows_written.map_err(at_work)?;
    let findings = found.map_err(|error| match error {
        SimulationError::Machine(..) => anyhow::anyhow!("{error}"),
        error => call_error(match save {
            Some(path) if matches!(error, SimulationError::Findings(_)) => {
                format!("{}: {error}; save to another file, or delete this one", path.display())
            }
            _ => error.to_string(),
        }),
    })?;
    if let Some(path) = save {
        // All findings, even if nothing was left to play.
        write(path, &findings, folder).map_err(at_work)?;
    }
    let code = show(&findings, output, folder)?;
    if shard.is_some() {
        tell_part(&findings, save);
    }
    if !findings.complete {
        tell_interrupted(save);
        return Ok(ExitCode::from(interrupted_code()));
    }
    Ok(code)
}

/// Says what may surprise about a part: that it has no games, or cannot be merged.
fn tell_part(findings: &Findings, save: Option<&Path>) {
    if findings.complete && findings.blocks == 0 {
        eprintln!("this part has no games: trials are dealt out in blocks, and there are fewer blocks than parts");
    }
    if save.is_none() {
        eprintln!("without `--save FILE.json` this part cannot be merged with the others");
    }
}

/// Plays every trial twice and prints the differences, for `--ban` and `--mirror`.
fn in_pairs(args: &Args, simulation: Simulation) -> Result<ExitCode> {
    let [variant] = <[Variant; 1]>::try_from(simulation.variants).map_err(|_| {
        call_error("`--ban` and `--mirror` compare games of one ruleset; name one, and one value of each switch")
    })?;
    check_bans(&variant, &args.ban)?;
    if simulation.trials == 0 {
        return Err(call_error(SimulationError::NoTrials.to_string()));
    }
    let study = Study {
        variant,
        first: 1,
        trials: simulation.trials,
        seed: simulation.seed,
        actions: simulation.actions,
        bans: BTreeSet::new(),
        random: BTreeSet::new(),
        store: GameStore::default(),
        known_only: false,
    };
    let columns = match args.mirror {
        None => Columns::without(simulation.scenario, study, &args.ban),
        Some(mirror) => {
            let exchange = match mirror {
                MirrorKind::Policies => Exchange::Policies,
                MirrorKind::Order => Exchange::Order,
                MirrorKind::Sides => Exchange::Sides,
            };
            Columns::mirrored(simulation.scenario, study, exchange)?
        }
    };
    columns.show(&StudyWork::new(None, watched(), args.part.threads()?), args.output.json)
}

/// Opens the file for game rows.
///
/// # Errors
///
/// A call error: `before` has games whose rows are not in the file.
fn games_file(
    path: &Path,
    simulation: &Simulation,
    save: Option<&Path>,
    before: Option<&Findings>,
) -> Result<GamesFile> {
    let names = simulation.variants.iter().map(|variant| variant.name.clone()).collect();
    let (Some(save), Some(before)) = (save, before.filter(|before| before.blocks > 0)) else {
        return GamesFile::create(path, names);
    };
    let rows = before.tallies.iter().map(|tally| tally.trials + tally.left_out.len() as u64).sum();
    GamesFile::go_on(path, names, rows).map_err(|error| {
        call_error(format!(
            "{} has games of an earlier call, without their rows ({error}): delete it, or leave `--games` out",
            save.display()
        ))
    })
}

/// The simulation that the command line describes.
fn planned(args: &Args, folder: Option<&Path>) -> Result<Simulation> {
    let library = library::open(folder)?;
    // With the name of a ruleset, its own scenario is simulated: `sim contest`.
    let named = args.scenario.as_ref().filter(|name| args.rules.is_empty() && library::is_ruleset(&library, name));
    let ids = match (named, args.rules.as_slice()) {
        (Some(id), _) => vec![id.clone()],
        (None, []) => vec![library::default_ruleset(&library)?],
        (None, ids) => ids.to_vec(),
    };
    for (at, (switch, value)) in args.set.iter().enumerate() {
        if let Some((_, before)) = args.set[..at].iter().find(|(known, _)| known == switch) {
            let help = format!("`--set {switch}={before},{value}` compares the values");
            return Err(call_error(format!("`{switch}` is set twice; {help}")));
        }
    }
    let mut variants = Vec::new();
    let asked = args.scenario.clone().filter(|_| named.is_none());
    let all = ids.iter().map(|id| library::load(&library, id, &args.layers)).collect::<Result<Vec<_>>>()?;
    let scenario = match asked {
        Some(name) => Some(name),
        None => usual_scenario(&all)?,
    };
    if let Some((name, values)) = &args.sweep {
        let [rules] = &all[..] else {
            return Err(call_error("`--sweep` goes through values of one ruleset; name one with `--rules`"));
        };
        let make = |title: String, rules: &Arc<Ruleset>, set: &[(String, String)]| {
            let set: Vec<(String, String)> = args.set.iter().chain(set).cloned().collect();
            let setup = setup(args, scenario.as_deref(), &set);
            Variant::new(title, rules, setup).map_err(|error| call_error(error.to_string()))
        };
        variants = tune::variants(&library, rules, &args.layers, (name, values), &make)?;
    }
    for rules in all.iter().filter(|_| args.sweep.is_none()) {
        for set in combinations(&args.set) {
            let setup = setup(args, scenario.as_deref(), &set);
            let several: Vec<String> = set
                .iter()
                .filter(|(switch, _)| args.set.iter().any(|(name, values)| name == switch && values.contains(',')))
                .map(|(switch, value)| format!("{switch}={value}"))
                .collect();
            let name = match (ids.len(), several.is_empty()) {
                (_, true) => rules.name(),
                (1, false) => several.join(", "),
                (_, false) => format!("{}, {}", rules.name(), several.join(", ")),
            };
            variants.push(Variant::new(name, rules, setup).map_err(|error| call_error(error.to_string()))?);
        }
    }
    Ok(Simulation {
        scenario: scenario.unwrap_or_default(),
        variants,
        trials: args.trials,
        seed: args.seed,
        until: args.until,
        memo: if args.every_script { MemoUse::Never } else { MemoUse::default() },
        actions: args.actions,
    })
}

/// The setup of a game with these house rules.
fn setup(args: &Args, scenario: Option<&str>, set: &[(String, String)]) -> Setup {
    let mut setup = Setup { seed: args.seed, ..Setup::default() };
    if let Some(scenario) = scenario {
        setup.scenario = Scenario::Named(scenario.to_owned());
    }
    with_pairs(setup, set, &args.seat)
}

/// The scenario for all rulesets if none is named: the first default scenario of one that all have.
fn usual_scenario(all: &[Arc<Ruleset>]) -> Result<Option<String>> {
    let usual: Vec<&str> = all.iter().filter_map(|rules| rules.default_scenario()).collect();
    let is_shared = |name: &str| all.iter().all(|rules| rules.scenarios().contains_key(name));
    if let Some(name) = usual.iter().find(|name| is_shared(name)) {
        return Ok(Some((*name).to_owned()));
    }
    if usual.is_empty() || all.len() == 1 {
        return Ok(usual.first().map(|name| (*name).to_owned()));
    }
    let shared: Vec<&str> = all[0].scenarios().keys().map(|name| &**name).filter(|name| is_shared(name)).collect();
    let help = match shared.as_slice() {
        [] => "they have none in common".to_owned(),
        names => format!("name one that all have: {}", names.join(", ")),
    };
    Err(call_error(format!("these rules begin with different scenarios, {}; {help}", usual.join(" and "))))
}

/// All combinations of the values of house rules.
fn combinations(set: &[(String, String)]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (switch, values) in set {
        all = all
            .iter()
            .flat_map(|chosen: &Vec<(String, String)>| {
                values.split(',').map(|value| {
                    let mut chosen = chosen.clone();
                    chosen.push((switch.clone(), value.trim().to_owned()));
                    chosen
                })
            })
            .collect();
    }
    all
}

fn tell_trial(simulation: &Simulation, trial: u64, json: bool) -> Result<ExitCode> {
    let mut screen = Screen::stdout(json);
    for (at, variant) in simulation.variants.iter().enumerate() {
        screen.row(&Row::at(0).strong(format!("{} · seed {} · trial {trial}", variant.name, simulation.seed)))?;
        let mut shown = Ok(());
        let ended = simulation.replay(at, trial, &mut |event| {
            let line = || Row::at(2).plain(event.happening.line());
            if shown.is_ok() {
                shown = if json { screen.object(&event) } else { screen.row(&line()) };
            }
        });
        shown?;
        if let Err(out) = ended.map_err(|error| call_error(error.to_string()))? {
            let help = out.cure.map_or_else(String::new, |cure| format!("\nhelp: {cure}"));
            anyhow::bail!("{}, trial {trial} does not count: {}{help}", variant.name, out.why);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The most rows of new branches.
const MOST_BRANCHES: usize = 30;

/// Prints how much the memo replays, and what it could not record.
fn why_slow(simulation: &Simulation, json: bool) -> Result<ExitCode> {
    let interrupted = watched();
    let reports = simulation.memo_report(&interrupted).map_err(|error| call_error(error.to_string()))?;
    let mut screen = Screen::stdout(json);
    if json {
        screen.object(&json!({ "reports": reports }))?;
    }
    for report in reports.iter().filter(|_| !json) {
        let all = (report.replayed + report.run).max(1);
        let head = format!("{} · {} games", report.variant, report.games);
        screen.row(&Row::at(0).strong(head))?;
        if let Some(why) = &report.unused {
            screen.row(&Row::at(2).plain(format!("The memo is not used: {why}.")))?;
            continue;
        }
        let share = percent(report.replayed as f64 / all as f64);
        screen.row(&Row::at(2).plain(format!("{share} of {all} calls replayed, {} run by script", report.run)))?;
        let rows: Vec<Vec<String>> = report
            .not_recorded
            .iter()
            .map(|row| vec![row.count.to_string(), row.entry.clone(), row.reason.clone(), row.place.clone()])
            .collect();
        if rows.is_empty() {
            screen.row(&Row::at(2).plain("Every call could be recorded."))?;
        } else {
            screen.table(&["times", "entry", "not recorded because", "at"], rows)?;
        }
        let new: Vec<Vec<String>> = report
            .new_branches
            .iter()
            .take(MOST_BRANCHES)
            .map(|row| vec![row.count.to_string(), row.entry.clone(), row.met.clone()])
            .collect();
        if !new.is_empty() {
            screen.table(&["times", "entry", "run by script since this was new"], new)?;
        }
    }
    Ok(if interrupted.load(Ordering::Relaxed) { ExitCode::from(interrupted_code()) } else { ExitCode::SUCCESS })
}

/// What `--save` stores in addition to the findings.
#[derive(Deserialize)]
struct SavedOptions {
    /// The value of `--rulesets`.
    rulesets: Option<PathBuf>,
}

/// Reads findings stored by `--save`, with the value of `--rulesets` at that time.
pub fn read(path: &Path) -> Result<(Findings, Option<PathBuf>)> {
    let name = path.display();
    let text = file::read(path).map_err(|error| call_error(format!("{name}: {}", system_message(&error))))?;
    let findings = Findings::read(&text).map_err(|error| call_error(format!("{name}: {error}")))?;
    let beside: Option<SavedOptions> = serde_json::from_str(&text).ok();
    Ok((findings, beside.and_then(|beside| beside.rulesets)))
}

/// Writes the file atomically.
fn write(path: &Path, findings: &Findings, folder: Option<&Path>) -> Result<()> {
    let mut kept = serde_json::to_value(findings)?;
    if let Some(folder) = folder {
        kept["rulesets"] = json!(folder.display().to_string());
    }
    file::replace(path, kept.to_string()).map_err(|error| unwritable(path, &error))
}

/// Prints how to continue interrupted work.
fn tell_interrupted(save: Option<&Path>) {
    match save {
        Some(path) => {
            eprintln!("interrupted: {} keeps the count so far; the same command continues it", path.display())
        }
        None => eprintln!("interrupted: with `--save FILE.json` the same call continues where it stopped"),
    }
}

/// Prints the findings as the call requests. The exit code is 1 if no game counts. `folder`: the value of `--rulesets`.
pub fn show(findings: &Findings, output: &ReportForm, folder: Option<&Path>) -> Result<ExitCode> {
    let mut screen = Screen::stdout(output.json);
    if output.json {
        screen.object(&findings_json(findings, folder))?;
    } else {
        tables(&mut screen, findings, folder)?;
    }
    if let Some(path) = &output.html {
        file::replace(path, page::page(findings, folder)).map_err(|error| unwritable(path, &error))?;
    }
    let counted = findings.tallies.iter().all(|tally| tally.trials > 0) || findings.shard.is_some();
    Ok(if counted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The findings as JSON, with the shares computed from them.
fn findings_json(findings: &Findings, folder: Option<&Path>) -> Json {
    let rates: Vec<Json> = findings
        .tallies
        .iter()
        .map(|tally| tally.results.keys().map(|result| (result.clone(), json!(tally.rate(result)))).collect())
        .collect();
    let mut object = json!(findings);
    object["rates"] = json!(rates);
    for (at, tally) in findings.tallies.iter().enumerate() {
        for (which, out) in tally.left_out.iter().enumerate() {
            object["tallies"][at]["left_out"][which]["replay"] = json!(replay(&findings.plan, at, out.trial, folder));
        }
    }
    object["mean_rounds"] = findings.tallies.iter().map(|tally| json!(tally.mean_rounds())).collect();
    object
}

fn tables(screen: &mut Screen, findings: &Findings, folder: Option<&Path>) -> Result<()> {
    let plan = &findings.plan;
    let part = findings.shard.map(|shard| format!(" · shard {}/{}", shard.index, shard.count)).unwrap_or_default();
    let open = if findings.complete { "" } else { " · interrupted" };
    screen.row(&Row::at(0).strong(format!("{} · seed {}{part}{open}", plan.scenario, plan.seed)))?;
    for variant in &plan.variants {
        let seats: Vec<String> = variant.seats.iter().map(|(seat, who)| format!("{seat} {who}")).collect();
        screen.row(&Row::at(2).faint(format!("{}: {}", variant.name, seats.join(", "))))?;
    }
    let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    let with = |first: &'static str| -> Vec<&str> { std::iter::once(first).chain(names.iter().copied()).collect() };
    result_bars(screen, findings)?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let row = |label: &str, cell: &dyn Fn(usize) -> String| -> Vec<String> {
        std::iter::once(label.to_owned()).chain((0..findings.tallies.len()).map(cell)).collect()
    };
    rows.push(row("games", &|at| findings.tallies[at].trials.to_string()));
    if findings.tallies.iter().any(|tally| !tally.rounds.is_empty()) {
        rows.push(row("rounds, average", &|at| format!("{:.2}", findings.tallies[at].mean_rounds())));
    }
    rows.push(row("actions, average", &|at| {
        let tally = &findings.tallies[at];
        format!("{:.1}", tally.actions as f64 / tally.trials.max(1) as f64)
    }));
    screen.table(&with("all games"), rows)?;
    cards(screen, findings, &names)?;
    statistics(screen, findings)?;
    for (at, pairs) in findings.pairs.iter().enumerate() {
        let games: u64 = pairs.values().flat_map(|results| results.values()).sum();
        let same: u64 = pairs.iter().filter_map(|(first, results)| results.get(first)).sum();
        let rate = Rate::of(games - same, games);
        let text = format!(
            "{} against {}: with the same dice, {} have another result",
            names[at + 1],
            names[0],
            rate_text(&rate)
        );
        screen.row(&Row::at(0).plain(text))?;
    }
    for (at, (name, tally)) in names.iter().zip(&findings.tallies).enumerate() {
        if let Some(first) = tally.left_out.first() {
            let text = format!("{name}: {}; trial {}: {}", left_out(findings, at), first.trial, first.why);
            screen.row(&Row::at(0).plain(text))?;
            if let Some(cure) = &first.cure {
                screen.row(&Row::at(2).plain(format!("help: {cure}")))?;
            }
            screen.row(&Row::at(2).plain(replay(plan, at, first.trial, folder)))?;
            screen.row(&Row::at(2).faint("plays it again and tells it; `--json` lists all"))?;
        }
    }
    Ok(())
}

fn cards(screen: &mut Screen, findings: &Findings, names: &[&str]) -> Result<()> {
    let all = cards_played(findings);
    if all.is_empty() {
        return Ok(());
    }
    let rows = all
        .into_iter()
        .map(|(seat, card)| {
            let cells = findings.tallies.iter().map(|tally| {
                let Some(count) = tally.cards.get(seat).and_then(|cards| cards.get(card)) else {
                    return "-".to_owned();
                };
                let each = count.used as f64 / tally.trials.max(1) as f64;
                match count.rolled {
                    0 => format!("{each:.2} a game"),
                    rolled => format!("{each:.2} a game, works {}", percent(count.met as f64 / rolled as f64)),
                }
            });
            [seat.clone(), readable_name(card)].into_iter().chain(cells).collect()
        })
        .collect();
    let header: Vec<&str> = ["seat", "card"].into_iter().chain(names.iter().copied()).collect();
    Ok(screen.table(&header, rows)?)
}

/// The most rounds in the table of averages.
const ROUNDS: usize = 10;

fn statistics(screen: &mut Screen, findings: &Findings) -> Result<()> {
    let most = findings.tallies.iter().flat_map(|tally| tally.statistics.values()).map(Vec::len).max().unwrap_or(0);
    if most == 0 {
        return Ok(());
    }
    let tallies = &findings.tallies;
    let last = tallies.iter().map(|tally| tally.statistics.values().map(|series| told_rounds(series, tally)).max());
    let shown = last.flatten().max().unwrap_or(0).min(ROUNDS + 1);
    let mut of_variants = Vec::new();
    for (variant, tally) in findings.plan.variants.iter().zip(tallies) {
        let named = |label: &str| match tallies.len() {
            1 => label.to_owned(),
            _ => format!("{label}, {}", variant.name),
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (label, series) in &tally.statistics {
            let told = told_rounds(series, tally);
            let cells = (0..shown).map(|round| match series.get(round).filter(|_| round < told) {
                Some(sum) => format!("{:.2}", sum.sum as f64 / sum.games as f64),
                None => String::new(),
            });
            rows.push(std::iter::once(named(label)).chain(cells).collect());
        }
        if let Some(series) = tally.statistics.values().next() {
            let games = (0..shown).map(|round| series.get(round).map_or(String::new(), |sum| sum.games.to_string()));
            rows.push(std::iter::once(named("games counted")).chain(games).collect());
        }
        of_variants.push(rows);
    }
    let rounds: Vec<String> =
        (0..shown).map(|round| if round == 0 { "start".into() } else { round.to_string() }).collect();
    let header: Vec<&str> = std::iter::once("average after round").chain(rounds.iter().map(String::as_str)).collect();
    let rows = of_variants.concat();
    if screen.fits(&header, &rows) {
        return Ok(screen.table(&header, rows)?);
    }
    // On a narrow terminal the rounds are below each other.
    for rows in of_variants {
        let header: Vec<&str> = std::iter::once("after round").chain(rows.iter().map(|row| row[0].as_str())).collect();
        let of_round = |(at, round): (usize, &String)| {
            std::iter::once(round.clone()).chain(rows.iter().map(|row| row[at + 1].clone())).collect()
        };
        screen.table(&header, rounds.iter().enumerate().map(of_round).collect())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_call_are_read_or_refused() {
        assert_eq!(precision("1%"), Ok(0.01));
        assert_eq!(precision("0.02"), Ok(0.02));
        for wrong in ["0", "-1%", "60%", "x", ""] {
            assert!(precision(wrong).is_err(), "{wrong}");
        }
        let set = [("a".to_owned(), "1,2".to_owned()), ("b".to_owned(), "x".to_owned())];
        assert_eq!(combinations(&set).len(), 2);
        assert_eq!(combinations(&[]).len(), 1);
    }
}
