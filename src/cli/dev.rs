use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use riskbreaker::check::findings;
use riskbreaker::ruleset::{FileChange, Problem};
use riskbreaker::spec::{SpecChoice, SpecReach, SpecReport, SpecRun, run_specs};
use riskbreaker::watch::{Watched, Watcher};
use riskbreaker::{Library, LoadError, Ruleset, WorkBudget};
use serde_json::json;

use super::figures::counted;
use super::play::{TableArgs, play_beside};
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, check, report, test};

/// Watches a ruleset; checks and tests it at every save
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder (default: the one that `play` starts)
    ruleset: Option<PathBuf>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// Checks and tests once; the exit code is 1 if there is a problem
    #[arg(long)]
    once: bool,

    /// Plays this scenario beside the editor: at each save the game is played again from its start under the new rules, with the
    /// same answers and dice
    #[arg(long, value_name = "SCENARIO", conflicts_with = "once")]
    play: Option<String>,

    /// With `--play`: the seed of the dice; a random one if none is given
    #[arg(long, value_name = "N", requires = "play", value_parser = super::whole::<u64>)]
    seed: Option<u64>,

    /// Writes one JSON object per verdict
    #[arg(long)]
    json: bool,
}

pub fn dev(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let (library, id) = match args.ruleset {
        Some(path) => {
            let (library, mut ids) = check::chosen(Some(path), folder)?;
            if ids.len() != 1 {
                return Err(call_error(format!("name one ruleset: {}", ids.join(", "))));
            }
            (library, ids.remove(0))
        }
        None => {
            let library = super::library::open(folder.as_deref())?;
            let id = super::library::default_ruleset(&library)?;
            (library, id)
        }
    };
    let ways = library.ways_to_play(&id);
    if let Some(scenario) = args.play {
        let table = TableArgs::beside(args.layers, args.seed, args.json);
        return play_beside(&library, &ways[0], scenario, table);
    }
    let mut room = Room {
        library,
        id,
        ways,
        layers: args.layers,
        screen: Screen::stdout(args.json),
        reach: Vec::new(),
        loaded: Vec::new(),
        once: args.once,
    };
    if args.once {
        let green = room.all(&[])?;
        return Ok(if green { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let Some(watcher) = Watcher::of_files(&room.library, &room.ways[0], &room.layers) else {
        return Err(call_error(format!(
            "{0} is built into the program and cannot change; `riskbreaker new ruleset NAME --extends {0}` makes one to edit",
            room.id
        )));
    };
    room.say(&format!("watching {}; press Ctrl-C to stop", room.id))?;
    loop {
        let Some(news) = watcher.wait(Duration::from_secs(3600)) else { continue };
        match &news {
            Watched::Loaded { rules, changed, .. } => {
                // The other ways to play it are loaded when their specs are chosen.
                room.loaded = vec![Some(rules.clone())];
                match (room.touched(), touched_specs(changed)) {
                    (Some(choices), _) => room.chosen(changed, choices)?,
                    (None, Some(specs)) if !specs.is_empty() => room.some(changed, &specs)?,
                    (None, _) => room.all(changed)?,
                };
            }
            Watched::Broken(error) => room.broken(error)?,
            other => {
                for line in other.lines() {
                    room.say(&line)?;
                }
            }
        }
    }
}

/// A ruleset under development, and where its verdicts are printed.
struct Room {
    library: Library,
    id: String,
    /// The ids under which it can be played: for a layer, one for each ruleset that it extends.
    ways: Vec<String>,
    layers: Vec<String>,
    screen: Screen,
    /// The lines that the specs ran, for each of `ways`; empty until all have run.
    reach: Vec<SpecReach>,
    /// The rules of the last save for each of `ways`, as far as they are loaded.
    loaded: Vec<Option<Arc<Ruleset>>>,
    /// True if nothing is watched, so that the lines need not be known.
    once: bool,
}

impl Room {
    /// For each of the ways, the specs that the change may affect. `None` if that is not known, or if all must run.
    fn touched(&mut self) -> Option<Vec<SpecChoice>> {
        if self.reach.is_empty() {
            return None;
        }
        self.loaded.resize(self.ways.len(), None);
        for (way, loaded) in self.ways.iter().zip(&mut self.loaded) {
            if loaded.is_none() {
                *loaded = Some(Ruleset::load_with(&self.library, way, &self.layers).ok()?);
            }
        }
        let touched = |(rules, reach): (&Option<Arc<Ruleset>>, &SpecReach)| reach.touched_by(rules.as_ref()?);
        let choices: Vec<SpecChoice> = self.loaded.iter().zip(&self.reach).map(touched).collect::<Option<_>>()?;
        choices.iter().any(|choice| !choice.is_empty()).then_some(choices)
    }

    /// Checks the ruleset and runs some specs of each of the ways.
    fn chosen(&mut self, changed: &[FileChange], choices: Vec<SpecChoice>) -> Result<bool> {
        let begun = Instant::now();
        self.show_changes(changed)?;
        let (library, layers) = (&self.library, &self.layers);
        let loaded = std::mem::take(&mut self.loaded).into_iter().chain(std::iter::repeat(None));
        let run = |(((way, loaded), choice), reach): (((&String, _), SpecChoice), &mut SpecReach)| {
            let budget = WorkBudget::new(SpecRun::WORK);
            let run = SpecRun { only: Some(choice), only_layers: true, loaded, budget, ..SpecRun::default() };
            run.with_reach(library, way, layers, reach)
        };
        let reports: Result<Vec<SpecReport>, LoadError> =
            self.ways.iter().zip(loaded).zip(choices).zip(&mut self.reach).map(run).collect();
        let reports = match reports {
            Ok(reports) => reports,
            Err(error) => {
                self.broken(&error)?;
                return Ok(false);
            }
        };
        self.verdict(&reports, begun)
    }

    fn say(&mut self, text: &str) -> Result<()> {
        if self.screen.json() {
            return Ok(self.screen.event("notice", &json!({ "text": text }))?);
        }
        Ok(self.screen.row(&Row::at(0).faint(text))?)
    }

    /// Checks the ruleset and runs all its specs.
    fn all(&mut self, changed: &[FileChange]) -> Result<bool> {
        let begun = Instant::now();
        self.show_changes(changed)?;
        let (mut reports, mut reach) = (Vec::new(), Vec::new());
        let loaded = std::mem::take(&mut self.loaded).into_iter().chain(std::iter::repeat(None));
        for (way, loaded) in self.ways.clone().iter().zip(loaded) {
            let budget = WorkBudget::new(SpecRun::WORK);
            let run = SpecRun { only_layers: true, loaded, budget, ..SpecRun::default() };
            let mut ran = SpecReach::default();
            let told = match self.once {
                true => run.of(&self.library, way, &self.layers),
                false => run.with_reach(&self.library, way, &self.layers, &mut ran),
            };
            match told {
                Ok(report) => reports.push(report),
                Err(error) => {
                    self.broken(&error)?;
                    return Ok(false);
                }
            }
            reach.push(ran);
        }
        // If specs are missing, the next run is again of all.
        self.reach = if reports.iter().any(SpecReport::is_partial) { Vec::new() } else { reach };
        self.verdict(&reports, begun)
    }

    /// Checks the ruleset and runs the specs of some files.
    fn some(&mut self, changed: &[FileChange], specs: &[String]) -> Result<bool> {
        let begun = Instant::now();
        self.show_changes(changed)?;
        let mut reports = Vec::new();
        let ways = self.ways.clone();
        for (path, way) in specs.iter().flat_map(|path| ways.iter().map(move |way| (path, way))) {
            match run_specs(&self.library, way, &self.layers, Vec::new(), Some(path)) {
                Ok(report) => reports.push(report),
                Err(error) => {
                    self.broken(&error)?;
                    return Ok(false);
                }
            }
        }
        if reports.iter().all(|report| report.results.is_empty() && report.broken.is_empty()) {
            return self.all(&[]);
        }
        self.verdict(&reports, begun)
    }

    fn show_changes(&mut self, changed: &[FileChange]) -> Result<()> {
        for line in changed.iter().take(5) {
            self.screen.row(&Row::at(0).with(format!("~ {line}"), Tone::Note))?;
        }
        if changed.len() > 5 {
            self.screen.row(&Row::at(0).with(format!("~ and {} more files", changed.len() - 5), Tone::Note))?;
        }
        Ok(())
    }

    fn verdict(&mut self, reports: &[SpecReport], begun: Instant) -> Result<bool> {
        let mut found: Vec<Problem> = Vec::new();
        for way in &self.ways {
            found.extend(findings(&self.library, way, &self.layers));
        }
        found.sort();
        // A problem of a layer over several rulesets counts once, even if the remedies differ.
        found.dedup_by(|one, two| (&one.path, one.line, one.column) == (&two.path, two.line, two.column));
        for told in reports {
            for fault in &told.broken {
                self.screen.verbatim(&report::fault(fault, self.screen.coloured(), self.screen.width()))?;
            }
            for result in &told.results {
                test::tell_failure(result, &mut self.screen)?;
            }
            test::tell_overruled(told, &mut self.screen)?;
            test::tell_warnings(told, &mut self.screen)?;
        }
        // Printed last, next to the verdict: it may be the reason why specs fail.
        for finding in &found {
            check::tell(&self.id, finding, &self.library, &mut self.screen)?;
        }
        let passed: usize = reports.iter().map(SpecReport::passed).sum();
        let failed: usize = reports.iter().map(|told| told.failed() + told.broken.len()).sum();
        let green = failed == 0 && found.is_empty();
        if self.screen.json() {
            let verdict = json!({ "ruleset": self.id, "passed": passed, "failed": failed, "findings": found });
            self.screen.event("verdict", &verdict)?;
            return Ok(green);
        }
        let mut row = Row::at(0).strong(&self.id).plain(": ");
        row = match found.len() {
            0 => row.plain("no problem, "),
            n => row.with(format!("{}, ", counted(n, "problem", "problems")), Tone::Bad),
        };
        row = match (passed, failed) {
            (0, 0) => row.plain("no spec to run"),
            (passed, 0) => row.with(counted(passed, "spec passes", "specs pass"), Tone::Good),
            (passed, failed) => {
                let pass = counted(passed, "spec passes", "specs pass");
                row.plain(format!("{pass}, ")).with(counted(failed, "fails", "fail"), Tone::Bad)
            }
        };
        self.screen.row(&row.faint(format!("  {:.1} s", begun.elapsed().as_secs_f32())))?;
        Ok(green)
    }

    fn broken(&mut self, error: &LoadError) -> Result<()> {
        if self.screen.json() {
            let verdict = json!({ "ruleset": self.id, "problems": error.problems });
            return Ok(self.screen.event("verdict", &verdict)?);
        }
        for problem in &error.problems {
            let told = report::problem(problem, &self.library, self.screen.coloured(), self.screen.width());
            self.screen.verbatim(&format!("{told}\n"))?;
        }
        let told = format!(": does not load, {}", counted(error.problems.len(), "error", "errors"));
        Ok(self.screen.row(&Row::at(0).strong(&self.id).with(told, Tone::Bad))?)
    }
}

/// The spec files of changed cards and specs; `None` if a changed file may affect all specs.
fn touched_specs(changed: &[FileChange]) -> Option<Vec<String>> {
    let mut specs: Vec<String> = Vec::new();
    for FileChange { path, .. } in changed {
        // A file of a parent or a layer has the id of its ruleset in front, and affects all specs.
        let (folder, _) = path.split_once('/')?;
        let stem = path.trim_end_matches(".luau").trim_end_matches(".lua");
        match folder {
            "specs" => specs.push(stem.to_owned()),
            "maneuvers" | "items" => specs.push(format!("specs/{stem}")),
            _ => return None,
        }
    }
    specs.sort();
    specs.dedup();
    (specs.len() <= 4).then_some(specs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_card_reruns_its_specs_and_a_changed_verb_reruns_all() {
        let change = |path: &&str| FileChange { path: path.to_string(), what: "2 lines".into() };
        let touched = |paths: &[&str]| touched_specs(&paths.iter().map(change).collect::<Vec<_>>());
        assert_eq!(
            touched(&["maneuvers/feint.luau", "specs/maneuvers/feint.luau"]),
            Some(vec!["specs/maneuvers/feint".to_owned()])
        );
        assert_eq!(touched(&["verbs.luau"]), None);
        assert_eq!(touched(&["maneuvers/feint.luau", "kinds.luau"]), None);
        assert_eq!(touched(&["wet/maneuvers/feint.luau"]), None);
    }
}
