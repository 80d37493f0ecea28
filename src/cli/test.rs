use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::{Coverage, Library, LoadError, RuleStanding, SpecReport, SpecResult, SpecSource, run_specs};
use serde_json::json;

use super::row::{Row, Span, Tone};
use super::screen::Screen;
use super::{call_error, library, report};

/// Runs the specs of rulesets
#[derive(clap::Args)]
pub struct Args {
    /// The ruleset; all that are found if none is named
    #[arg(value_name = "RULESET")]
    ruleset: Option<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// Runs the specs of this folder, too
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,

    /// Only specs whose name or file contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Lists every rule with the specs that cover it
    #[arg(long)]
    coverage: bool,

    /// Writes one JSON object a spec
    #[arg(long)]
    json: bool,
}

pub fn test(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let further = match &args.specs {
        Some(folder) => SpecSource::read_folder(folder).map_err(call_error)?,
        None => Vec::new(),
    };
    if args.specs.is_some() && further.is_empty() {
        return Err(call_error("no spec file is in that folder: they end in .luau or .lua"));
    }
    let ids = match &args.ruleset {
        Some(id) => {
            library::known(&library, id)?;
            vec![id.clone()]
        }
        None if args.specs.is_some() || !args.layers.is_empty() => vec![library::default_ruleset(&library)?],
        None => library::all(&library)?,
    };
    let mut screen = Screen::stdout(args.json);
    let mut green = true;
    let mut found = 0;
    for id in &ids.iter().flat_map(|id| library.ways_to_play(id)).collect::<Vec<_>>() {
        match run_specs(&library, id, &args.layers, further.clone(), args.filter.as_deref()) {
            Ok(told) => {
                found += told.results.len() + told.broken.len();
                green &= told.is_green();
                tell(&told, &mut screen)?;
                if args.coverage {
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
    if let (0, true, Some(filter)) = (found, green, &args.filter) {
        return Err(call_error(format!("no spec has `{filter}` in its name or file")));
    }
    Ok(if green { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
        return Ok(());
    }
    for fault in &told.broken {
        screen.verbatim(&report::fault(fault, screen.coloured(), screen.width()))?;
        screen.row(&Row::default())?;
    }
    for result in &told.results {
        tell_failure(result, screen)?;
    }
    tell_overruled(told, screen)?;
    let mut total = Row::at(0).strong(&told.ruleset).plain(": ");
    total = match (told.passed(), told.failed()) {
        (0, 0) if told.broken.is_empty() => total.plain("no specs"),
        (passed, 0) => total.with(format!("{passed} specs hold"), Tone::Good),
        (passed, failed) => total.plain(format!("{passed} specs hold, ")).with(format!("{failed} do not"), Tone::Bad),
    };
    match told.overruled().count() {
        0 => {}
        n => total = total.plain(format!(", {n} of what lies below overruled")),
    }
    if !told.broken.is_empty() {
        total = total.with(format!(", {} files cannot be read as specs", told.broken.len()), Tone::Bad);
    }
    Ok(screen.row(&total)?)
}

/// The specs of what lies below that come out otherwise now: what house rules have changed, said by the rules themselves.
pub fn tell_overruled(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    for result in told.overruled() {
        let why = result.failure.as_ref().map(|failure| format!("  {}", failure.fault.message)).unwrap_or_default();
        screen.row(&Row::at(0).with("overruled  ", Tone::Note).strong(&result.name).faint(why))?;
    }
    Ok(())
}

/// How much of what happened is told: the rest is further back than anybody looks.
const LINES_TOLD: usize = 40;

/// A spec that fails, with what led there: enough to see it without running it again.
pub fn tell_failure(result: &SpecResult, screen: &mut Screen) -> Result<()> {
    let Some(failure) = result.failure.as_ref().filter(|_| result.has_failed()) else { return Ok(()) };
    screen.row(&Row::at(0).with("failed  ", Tone::Bad).strong(&result.name).faint(format!("  {}", result.path)))?;
    screen.verbatim(&report::fault(&failure.fault, screen.coloured(), screen.width()))?;
    let mut led: Vec<Vec<Span>> = Vec::new();
    if !failure.given.is_empty() {
        led.push(vec![Span::faint("given"), Span::plain(&failure.given)]);
    }
    if !failure.dice.is_empty() {
        let dice: Vec<String> = failure.dice.iter().map(u32::to_string).collect();
        led.push(vec![Span::faint("dice"), Span::plain(dice.join(", "))]);
    }
    let earlier = failure.log.len().saturating_sub(LINES_TOLD);
    let mut lines: Vec<Span> = failure.log[earlier..].iter().map(Span::plain).collect();
    if earlier > 0 {
        lines.insert(0, Span::faint(format!("... {earlier} lines")));
    }
    let happened = |at: usize| Span::faint(if at == 0 { "happened" } else { "" });
    led.extend(lines.into_iter().enumerate().map(|(at, line)| vec![happened(at), line]));
    screen.columns(2, led)?;
    Ok(screen.row(&Row::default())?)
}

fn covers_all(coverage: &Coverage) -> bool {
    coverage.count(RuleStanding::Uncovered) == 0 && coverage.unknown.is_empty()
}

fn tell_coverage(told: &SpecReport, screen: &mut Screen) -> Result<()> {
    let coverage = &told.coverage;
    if screen.json() {
        screen.event("coverage", &json!({ "ruleset": told.ruleset, "coverage": coverage }))?;
        return Ok(());
    }
    let cells = coverage.rules.iter().map(|rule| {
        let (mark, tone) = match rule.standing {
            RuleStanding::Covered => ("", Tone::Plain),
            RuleStanding::GameMaster => ("the game master's", Tone::Faint),
            RuleStanding::Uncovered => ("no spec", Tone::Bad),
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
        coverage.count(RuleStanding::Covered),
        coverage.count(RuleStanding::GameMaster),
        coverage.count(RuleStanding::Uncovered)
    );
    Ok(screen.row(&Row::at(0).strong(&told.ruleset).plain(format!(": {total}")))?)
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
    let count = error.problems.len();
    let told = format!(": cannot be loaded, {count} problem{}", if count == 1 { "" } else { "s" });
    Ok(screen.row(&Row::at(0).strong(&error.ruleset).with(told, Tone::Bad))?)
}
