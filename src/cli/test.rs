use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use riskbreaker::check::first_and_count;
use riskbreaker::ruleset::{Stack, system_message};
use riskbreaker::spec::{
    Coverage, LineCoverage, RuleStatus, SpecReport, SpecResult, SpecRun, SpecSource, spec_of_fault,
};
use riskbreaker::watch::{Watched, Watcher};
use riskbreaker::{Library, LoadError, Ruleset, Session, WorkBudget};
use serde_json::json;

use super::check::for_several;
use super::figures::counted;
use super::interrupt::watched_briefly;
use super::row::{Row, Span, Tone};
use super::screen::Screen;
use super::{call_error, file, library, report};

/// Runs the specs of rulesets
#[derive(clap::Args)]
pub struct Args {
    /// The ruleset, by id or folder (default: all)
    #[arg(value_name = "RULESET")]
    ruleset: Option<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// Runs the specs of this folder, too
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,

    /// Runs the specs of this folder alone, and none of the ruleset's own
    #[arg(long, value_name = "DIR", conflicts_with_all = ["specs", "coverage", "watch", "from_fault"])]
    only: Option<PathBuf>,

    /// Runs only specs whose name or file contains TEXT; =TEXT: whose name is TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Lists every rule with its specs, and the lines and cards that neither specs nor random play reached
    #[arg(long)]
    coverage: bool,

    /// Shows what happened in each spec that holds, too: the position, the dice and the log
    #[arg(long)]
    trace: bool,

    /// Runs the specs again at every save, until Ctrl-C
    #[arg(long, conflicts_with_all = ["coverage", "from_fault"])]
    watch: bool,

    /// Writes a spec from a saved game that stopped at a script error; it fails until the script is corrected
    #[arg(long, value_name = "SAVED GAME", conflicts_with = "coverage")]
    from_fault: Option<PathBuf>,

    /// Writes one JSON object per spec
    #[arg(long)]
    json: bool,
}

pub fn test(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    if let Some(path) = &args.from_fault {
        return from_fault(path, &library, args.json);
    }
    let elsewhere = args.specs.as_ref().or(args.only.as_ref());
    let further = specs_in(elsewhere)?;
    if elsewhere.is_some() && further.is_empty() {
        return Err(call_error("no spec file is in that folder: they end in .luau or .lua"));
    }
    let ids = match &args.ruleset {
        Some(id) => {
            library::known(&library, id)?;
            vec![id.clone()]
        }
        None if elsewhere.is_some() || !args.layers.is_empty() => vec![library::default_ruleset(&library)?],
        None => library::all(&library)?,
    };
    let mut screen = Screen::stdout(args.json);
    if args.watch {
        let [id] = ids.as_slice() else {
            return Err(call_error(format!("`--watch` watches one ruleset; which of {}?", ids.join(", "))));
        };
        return watch(&args, &library, id, &mut screen);
    }
    let mut green = true;
    let mut found = 0;
    let ways: Vec<String> = ids.iter().flat_map(|id| library.ways_to_play(id)).collect();
    let budget = WorkBudget::new(for_several(SpecRun::WORK, ways.len())).until(&watched_briefly());
    let mut unexamined = Vec::new();
    let run = SpecRun {
        further,
        only_further: args.only.is_some(),
        // The rulesets below the layers are in the list themselves.
        only_layers: ids.len() > 1,
        filter: args.filter.clone(),
        only: None,
        loaded: None,
        traced: args.trace,
        measured: args.coverage,
        budget: budget.clone(),
    };
    tell_copies(&library, &ways, &args.layers, &mut screen)?;
    for id in &ways {
        if budget.is_spent() {
            unexamined.push(id.clone());
            continue;
        }
        match run.of(&library, id, &args.layers) {
            Ok(told) => {
                found += told.results.len() + told.broken.len();
                green &= told.is_green();
                tell(&told, &mut screen)?;
                if args.coverage && !told.is_partial() {
                    green &= covers_all(&told.coverage);
                    tell_coverage(&told, &mut screen)?;
                }
            }
            Err(error) => {
                green = false;
                tell_broken(&error, &library, &mut screen)?;
            }
        }
    }
    if !unexamined.is_empty() {
        green = false;
        if args.json {
            screen.event("partial", &json!({ "partial": true, "unexamined": unexamined }))?;
        } else {
            let what = format!("partial: no spec was run of {}", first_and_count(&unexamined));
            screen.row(&Row::at(0).with(what, Tone::Bad))?;
        }
    }
    if budget.is_interrupted() {
        eprintln!("interrupted: the specs that were not done by then are not counted");
        return Ok(ExitCode::FAILURE);
    }
    if let (0, true, Some(filter)) = (found, green, &args.filter) {
        return Err(call_error(format!("no spec has `{filter}` in its name or file")));
    }
    Ok(if green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints a notice about each copy that a program for synchronization has made of a file, since no spec in it runs.
fn tell_copies(library: &Library, ways: &[String], layers: &[String], screen: &mut Screen) -> Result<()> {
    // A ruleset that cannot be read is reported when its specs are to run.
    let stacks = ways.iter().filter_map(|way| Stack::resolve(library, way, layers).ok());
    let notices: BTreeSet<String> = stacks.flat_map(|stack| stack.copy_notices().collect::<Vec<_>>()).collect();
    for notice in notices {
        if screen.json() {
            screen.event("notice", &json!({ "text": notice }))?;
        } else {
            screen.row(&Row::at(0).with("notice  ", Tone::Note).plain(notice))?;
        }
    }
    Ok(())
}

/// The specs in the given folder, if any.
fn specs_in(folder: Option<&PathBuf>) -> Result<Vec<SpecSource>> {
    folder.map_or(Ok(Vec::new()), |folder| SpecSource::read_folder(folder).map_err(call_error))
}

/// Runs the specs again at every change.
fn watch(args: &Args, library: &Library, id: &str, screen: &mut Screen) -> Result<ExitCode> {
    // A layer is watched and played over the rulesets that it extends.
    let ways = library.ways_to_play(id);
    let Some(watcher) = Watcher::of_files(library, &ways[0], &args.layers) else {
        return Err(call_error(format!("{id} is not on the disk, so it cannot change")));
    };
    // The first event is the current state of the ruleset.
    loop {
        let Some(news) = watcher.wait(Duration::from_secs(3600)) else { continue };
        match &news {
            Watched::Loaded { changed, .. } => {
                for line in changed {
                    screen.row(&Row::at(0).with(format!("~ {line}"), Tone::Note))?;
                }
            }
            Watched::Broken(_) => {}
            other => {
                for line in other.lines() {
                    screen.row(&Row::at(0).faint(line))?;
                }
                continue;
            }
        }
        let further = specs_in(args.specs.as_ref())?;
        let budget = WorkBudget::new(SpecRun::WORK);
        let (filter, traced) = (args.filter.clone(), args.trace);
        let run = SpecRun { further, filter, traced, budget, only_layers: true, ..SpecRun::default() };
        for way in &ways {
            match run.of(library, way, &args.layers) {
                Ok(told) => tell(&told, screen)?,
                Err(error) => tell_broken(&error, library, screen)?,
            }
        }
    }
}

/// Writes a new spec file to a folder under `specs` of the topmost layer on disk, or of the ruleset itself, since the
/// game may need any of them. `None` if all rules are built in.
pub fn write_spec(library: &Library, rules: &Ruleset, place: &str, stem: &str, spec: &str) -> Result<Option<PathBuf>> {
    let (id, parts) = (rules.id(), rules.parts());
    let main = parts.iter().position(|part| part == id).unwrap_or_default();
    let on_disk = parts[main..].iter().rev().find_map(|part| Some((part, library.folder_of(part)?)));
    let Some((part, on_disk)) = on_disk else { return Ok(None) };
    // The specs of a layer run over each ruleset that it extends; those in a folder named after one, only over that
    // one.
    let specs = if part == id { format!("specs/{place}") } else { format!("specs/{id}/{place}") };
    let names = (1..1000).map(|n| if n == 1 { format!("{stem}.luau") } else { format!("{stem}_{n}.luau") });
    let Some(name) = names.into_iter().find(|name| !on_disk.join(&specs).join(name).exists()) else {
        return Err(call_error(format!("there are too many specs of the name `{stem}` already")));
    };
    let (inside, target) = (format!("{specs}/{name}"), on_disk.join(&specs).join(&name));
    file::replace_inside(&on_disk, &inside, spec)
        .map_err(|error| call_error(format!("{} cannot be written: {}", target.display(), system_message(&error))))?;
    Ok(Some(target))
}

/// Writes the fault of a saved game as a spec; prints it if all rules are built in.
fn from_fault(path: &Path, library: &Library, json: bool) -> Result<ExitCode> {
    let text =
        file::read(path).map_err(|error| call_error(format!("{}: {}", path.display(), system_message(&error))))?;
    let session = Session::load(library, &text).map_err(|error| call_error(format!("{}: {error}", path.display())))?;
    let Some(spec) = spec_of_fault(&session) else {
        return Err(call_error(format!(
            "nothing has failed in {}: save the game where a script has failed, and before `skip` or `retry`",
            path.display()
        )));
    };
    let mut screen = Screen::stdout(json);
    let file = session
        .fault()
        .and_then(|fault| fault.path.as_deref())
        .unwrap_or("fault")
        .rsplit('/')
        .next()
        .unwrap_or("fault");
    let stem = file.split('.').next().unwrap_or(file);
    let Some(target) = write_spec(library, session.ruleset(), "faults", stem, &spec)? else {
        screen.verbatim(&spec)?;
        return Ok(ExitCode::SUCCESS);
    };
    if json {
        screen.event("written", &json!({ "path": target.display().to_string() }))?;
    } else {
        screen.row(&Row::at(0).with("new  ", Tone::Good).plain(target.display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    if screen.json() {
        for result in &told.results {
            let event = match (&result.failure, result.overruled) {
                (None, _) => "passed",
                (Some(_), true) => "overruled",
                (Some(_), false) => "failed",
            };
            screen.event(event, &json!({ "ruleset": told.ruleset, "spec": result }))?;
        }
        for fault in &told.broken {
            screen.event("broken", &json!({ "ruleset": told.ruleset, "fault": fault }))?;
        }
        screen.event("total", &json!({ "ruleset": told.ruleset, "passed": told.passed(), "failed": told.failed(), "overruled": told.overruled().count(), "broken": told.broken.len() }))?;
        if told.is_partial() {
            screen.event(
                "partial",
                &json!({ "ruleset": told.ruleset, "partial": true, "unexamined": told.unexamined, "interrupted": told.interrupted }),
            )?;
        }
        return Ok(());
    }
    for fault in &told.broken {
        screen.verbatim(&report::fault(fault, screen.coloured(), screen.width()))?;
        screen.row(&Row::default())?;
    }
    for result in &told.results {
        tell_failure(result, screen)?;
        tell_trace(result, screen)?;
    }
    tell_overruled(told, screen)?;
    tell_warnings(told, screen)?;
    let mut total = Row::at(0).strong(&told.ruleset).plain(": ");
    total = match (told.passed(), told.failed()) {
        (0, 0) if told.interrupted => total.plain("interrupted before a spec was done"),
        (0, 0) if told.is_partial() => total.plain("no spec was done"),
        (0, 0) if told.broken.is_empty() => total.plain("no specs"),
        (passed, 0) => total.with(counted(passed, "spec holds", "specs hold"), Tone::Good),
        (passed, failed) => {
            let hold = counted(passed, "spec holds", "specs hold");
            total.plain(format!("{hold}, ")).with(counted(failed, "does not", "do not"), Tone::Bad)
        }
    };
    match told.overruled().count() {
        0 => {}
        n => total = total.plain(format!(", {n} of rulesets below overruled")),
    }
    match told.broken.len() {
        0 => {}
        n => total = total.with(format!(", {} cannot be read as specs", counted(n, "file", "files")), Tone::Bad),
    }
    if told.interrupted && !told.results.is_empty() {
        total = total.plain(", interrupted");
    }
    screen.row(&total)?;
    if told.is_partial() {
        let why = if told.interrupted { "" } else { " (too much for one run)" };
        let what = format!(": partial{why}, not run: {}", first_and_count(&told.unexamined));
        screen.row(&Row::at(0).strong(&told.ruleset).with(what, Tone::Bad))?;
    }
    Ok(())
}

/// Lists specs of lower layers whose result changes under these house rules.
pub fn tell_overruled(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    for result in told.overruled() {
        let why = result.failure.as_ref().map(|failure| format!("  {}", failure.fault.message)).unwrap_or_default();
        screen.row(&Row::at(0).with("overruled  ", Tone::Note).strong(&result.name).faint(why))?;
    }
    Ok(())
}

/// Prints the warnings about specs that hold but should be written differently.
pub fn tell_warnings(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    for (result, warning) in told.warnings() {
        let place = warning.line.map_or_else(|| result.path.clone(), |line| format!("{}:{line}", result.path));
        let row = Row::at(0).with("warning  ", Tone::Note).plain(&warning.text);
        screen.row(&row.faint(format!("  {} ({place})", result.name)))?;
    }
    Ok(())
}

/// The most lines of a log that are printed.
const LINES_TOLD: usize = 40;

/// Prints a failed spec with the events before the failure.
pub fn tell_failure(result: &SpecResult, screen: &mut Screen) -> Result<()> {
    let Some(failure) = result.failure.as_ref().filter(|_| result.has_failed()) else { return Ok(()) };
    screen.row(&Row::at(0).with("failed  ", Tone::Bad).strong(&result.name).faint(format!("  {}", result.path)))?;
    screen.verbatim(&report::fault(&failure.fault, screen.coloured(), screen.width()))?;
    tell_course(&failure.given, &failure.dice, &failure.log, screen)
}

/// Prints the trace of a spec that holds, if it was recorded.
fn tell_trace(result: &SpecResult, screen: &mut Screen) -> Result<()> {
    let Some(trace) = &result.trace else { return Ok(()) };
    screen.row(&Row::at(0).with("holds  ", Tone::Good).strong(&result.name).faint(format!("  {}", result.path)))?;
    tell_course(&trace.given, &trace.dice, &trace.log, screen)
}

/// Prints the position, dice and log of a spec.
fn tell_course(given: &str, dice: &[u32], log: &[String], screen: &mut Screen) -> Result<()> {
    let mut led: Vec<Vec<Span>> = Vec::new();
    if !given.is_empty() {
        led.push(vec![Span::faint("given"), Span::plain(given)]);
    }
    if !dice.is_empty() {
        let dice: Vec<String> = dice.iter().map(u32::to_string).collect();
        led.push(vec![Span::faint("dice"), Span::plain(dice.join(", "))]);
    }
    let earlier = log.len().saturating_sub(LINES_TOLD);
    let mut lines: Vec<Span> = log[earlier..].iter().map(Span::plain).collect();
    if earlier > 0 {
        lines.insert(0, Span::faint(format!("... {earlier} lines")));
    }
    let happened = |at: usize| Span::faint(if at == 0 { "happened" } else { "" });
    led.extend(lines.into_iter().enumerate().map(|(at, line)| vec![happened(at), line]));
    screen.columns(2, led)?;
    Ok(screen.row(&Row::default())?)
}

fn covers_all(coverage: &Coverage) -> bool {
    coverage.count(RuleStatus::Uncovered) == 0 && coverage.unknown.is_empty()
}

fn tell_coverage(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    let coverage = &told.coverage;
    if screen.json() {
        screen.event("coverage", &json!({ "ruleset": told.ruleset, "coverage": coverage }))?;
        return Ok(());
    }
    let cells = coverage.rules.iter().map(|rule| {
        let (mark, tone) = match rule.status {
            RuleStatus::Covered => ("", Tone::Plain),
            RuleStatus::GameMaster => ("the game master's", Tone::Faint),
            RuleStatus::Uncovered => ("no spec", Tone::Bad),
        };
        let text = if rule.specs.is_empty() { mark.to_owned() } else { rule.specs.join(" · ") };
        vec![Span::plain(&rule.id), Span::new(text, tone)]
    });
    screen.columns(2, cells.collect())?;
    if !coverage.unknown.is_empty() {
        let unknown = format!("specs name rules that no RULES.md has: {}", coverage.unknown.join(", "));
        screen.row(&Row::at(0).with(unknown, Tone::Bad))?;
    }
    let total = format!(
        "{} rules: {} with a spec, {} the game master's, {} without",
        coverage.rules.len(),
        coverage.count(RuleStatus::Covered),
        coverage.count(RuleStatus::GameMaster),
        coverage.count(RuleStatus::Uncovered)
    );
    screen.row(&Row::at(0).strong(&told.ruleset).plain(format!(": {total}")))?;
    match &told.lines {
        Some(lines) => tell_lines(&told.ruleset, lines, screen),
        None => Ok(()),
    }
}

/// Prints the lines of the scripts that neither a spec nor random play reached.
fn tell_lines(ruleset: &str, lines: &LineCoverage, screen: &mut Screen) -> Result<()> {
    let range = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    if !lines.files.is_empty() {
        screen.row(&Row::at(0).plain("lines that were never reached:"))?;
    }
    let cells = lines.files.iter().map(|file| {
        let ranges: Vec<String> = file.unreached.iter().map(range).collect();
        vec![Span::plain(&file.path), Span::new(ranges.join(", "), Tone::Bad)]
    });
    screen.columns(2, cells.collect())?;
    if !lines.unplayed.is_empty() {
        let unplayed = format!("cards that were never played: {}", lines.unplayed.join(", "));
        screen.row(&Row::at(0).with(unplayed, Tone::Bad))?;
    }
    let total = format!(": {} of {} lines reached by specs and random play", lines.reached, lines.lines);
    Ok(screen.row(&Row::at(0).strong(ruleset).plain(total))?)
}

fn tell_broken(error: &LoadError, library: &Library, screen: &mut Screen) -> Result<()> {
    for problem in &error.problems {
        if screen.json() {
            screen.event("problem", &json!({ "ruleset": error.ruleset, "problem": problem }))?;
        } else {
            let told = report::problem(problem, library, screen.coloured(), screen.width());
            screen.verbatim(&format!("{told}\n"))?;
        }
    }
    let told = format!(": cannot be loaded, {}", counted(error.problems.len(), "problem", "problems"));
    Ok(screen.row(&Row::at(0).strong(&error.ruleset).with(told, Tone::Bad))?)
}
