use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::Serialize;

use super::Coverage;
use super::case::Case;
use super::lines::{LineCoverage, play_at_random};
use riskbreaker_play::{DICE_RUN_OUT, Fault, MACHINE_STACK, Ruleset};
use riskbreaker_ruleset::{Library, LoadError, Source, read_regular};
use riskbreaker_script::SpecFile;
use riskbreaker_work::WorkBudget;

/// A file of specs.
#[derive(Clone, Debug)]
pub struct SpecSource {
    /// The file, as messages name it.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// What came of all specs of a ruleset.
#[derive(Debug, Serialize)]
pub struct SpecReport {
    /// The id of the ruleset.
    pub ruleset: String,
    /// In the order of the files, and of the specs in each.
    pub results: Vec<SpecResult>,
    /// Files that could not be read as specs.
    pub broken: Vec<Fault>,
    /// Which rules have specs.
    pub coverage: Coverage,
    /// What of the scripts was reached, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCoverage>,
    /// Specs that were not run, since the budget of work was spent or somebody interrupted the run: `FILE: NAME`, or the file
    /// alone if its specs are not known. Empty after a whole run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unexamined: Vec<String>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

/// What came of one spec.
#[derive(Clone, Debug, Serialize)]
pub struct SpecResult {
    /// The file that it stands in.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Ids of the rules that it covers.
    pub rules: Vec<String>,
    /// Why it failed, if it did.
    pub failure: Option<SpecFailure>,
    /// It is a spec of a ruleset below that holds there and has another result here. House rules may do that: it is no failure.
    pub overruled: bool,
    /// What led to the end of a spec that holds, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<SpecTrace>,
    /// Cards that were played in it.
    pub cards: Vec<String>,
    /// What should be written differently, though the spec holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SpecWarning>,
}

/// Something that a spec should write differently, though it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SpecWarning {
    /// The line in the spec's file, from 1.
    pub line: Option<u32>,
    /// What it is, and what to write instead.
    pub text: String,
}

/// What led to the end of a spec.
#[derive(Clone, Debug, Serialize)]
pub struct SpecTrace {
    /// The position that was given.
    pub given: String,
    /// The faces that it was given.
    pub dice: Vec<u32>,
    /// What happened.
    pub log: Vec<String>,
}

/// Why a spec failed, with what led there.
#[derive(Clone, Debug, Serialize)]
pub struct SpecFailure {
    /// What did not hold, and where.
    pub fault: Fault,
    /// The position that was given.
    pub given: String,
    /// The faces that it was given.
    pub dice: Vec<u32>,
    /// What happened.
    pub log: Vec<String>,
}

impl SpecReport {
    /// How many specs failed.
    pub fn failed(&self) -> usize {
        self.results.iter().filter(|result| result.has_failed()).count()
    }

    /// How many specs passed.
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|result| result.failure.is_none()).count()
    }

    /// What the specs should write differently, with the spec of each.
    pub fn warnings(&self) -> impl Iterator<Item = (&SpecResult, &SpecWarning)> {
        self.results.iter().flat_map(|result| result.warnings.iter().map(move |warning| (result, warning)))
    }

    /// Specs of rulesets below that have another result under these rules.
    pub fn overruled(&self) -> impl Iterator<Item = &SpecResult> {
        self.results.iter().filter(|result| result.overruled)
    }

    /// Whether every spec was read and run, and holds.
    pub fn is_green(&self) -> bool {
        self.failed() == 0 && self.broken.is_empty() && !self.is_partial()
    }

    /// Whether some specs were not run.
    pub fn is_partial(&self) -> bool {
        !self.unexamined.is_empty()
    }
}

impl SpecResult {
    /// Whether it does not hold, and is not overruled.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some() && !self.overruled
    }
}

impl SpecSource {
    /// Reads all spec files of a folder, sorted by path.
    ///
    /// # Errors
    ///
    /// A sentence: a folder or file that cannot be read.
    pub fn read_folder(folder: &Path) -> Result<Vec<SpecSource>, String> {
        if !folder.is_dir() {
            return Err(match folder.exists() {
                true => format!("{} is a file, not a folder of specs", folder.display()),
                false => format!("there is no folder {}", folder.display()),
            });
        }
        let (mut files, mut folders) = (Vec::<PathBuf>::new(), vec![folder.to_path_buf()]);
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
            for entry in entries.flatten() {
                let path = entry.path();
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                // A link to a folder may lead round in a circle.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if !hidden {
                        folders.push(path);
                    }
                } else if path.extension().is_some_and(|ending| ending == "luau" || ending == "lua") && !hidden {
                    files.push(path);
                }
            }
        }
        files.sort();
        let read = |path: PathBuf| {
            let bytes = match read_regular(&path) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Err(format!("{} is no regular file", path.display())),
                Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
            };
            let source =
                Source::read(path.display().to_string(), &bytes).map_err(|problems| problems[0].to_string())?;
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            Ok(SpecSource { path: name, text: source.text.to_string() })
        };
        files.into_iter().map(read).collect()
    }
}

/// Which specs of a ruleset are played, and how.
#[derive(Clone, Debug, Default)]
pub struct SpecRun {
    /// Specs that are kept elsewhere.
    pub further: Vec<SpecSource>,
    /// Plays only those, and none of the ruleset's own.
    pub only_further: bool,
    /// Keeps the specs whose name or path contains it.
    pub filter: Option<String>,
    /// Keeps what led to the end of each spec that holds.
    pub traced: bool,
    /// Plays some games at random, too, and counts which lines of the scripts were reached.
    pub measured: bool,
    /// What the run may do. Once it is spent or interrupted, the report has the specs that are done, and names the others.
    pub budget: WorkBudget,
}

impl SpecRun {
    /// The usual work of a run, in steps of a script: at least half a minute.
    pub const WORK: u64 = 3_000_000_000;

    /// Plays the specs of a ruleset, each twice, by two loads of the ruleset that share nothing; both must agree.
    ///
    /// # Errors
    ///
    /// The problems of a ruleset that cannot be loaded.
    pub fn of(&self, library: &Library, id: &str, layers: &[String]) -> Result<SpecReport, LoadError> {
        let first = match self.measured {
            true => Ruleset::load_measured(library, id, layers)?,
            false => Ruleset::load_with(library, id, layers)?,
        };
        let second = Ruleset::load_with(library, id, layers)?;
        let shelf = |rules| Arc::new(SpecRulesets::new(library, rules, &self.budget));
        let machines = [shelf(first), shelf(second)];
        let own = machines[0].rules.specs().filter(|_| !self.only_further);
        let own = own.map(|(path, text)| SpecSource { path: path.to_string(), text: text.to_string() });
        let sources = own.chain(self.further.iter().cloned()).collect();
        let mut report = run_all(id, layers, &machines, sources, self);
        if self.measured && !report.is_partial() {
            let measured = &machines[0].rules;
            let mut played = play_at_random(measured);
            played.extend(report.results.iter().flat_map(|result| result.cards.iter().cloned()));
            report.lines = Some(LineCoverage::of(measured, &measured.hits(), &played));
        }
        Ok(report)
    }
}

/// Plays the specs of a ruleset, and further ones kept elsewhere. `filter` keeps those whose name or path contains it.
///
/// # Errors
///
/// As for [`SpecRun::of`].
pub fn run_specs(
    library: &Library,
    id: &str,
    layers: &[String],
    further: Vec<SpecSource>,
    filter: Option<&str>,
) -> Result<SpecReport, LoadError> {
    let budget = WorkBudget::new(SpecRun::WORK);
    SpecRun { further, filter: filter.map(str::to_owned), budget, ..SpecRun::default() }.of(library, id, layers)
}

fn run_all(
    id: &str,
    layers: &[String],
    machines: &[Arc<SpecRulesets>; 2],
    sources: Vec<SpecSource>,
    run: &SpecRun,
) -> SpecReport {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, OfFile)>> = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len().max(1));
    thread::scope(|scope| {
        for _ in 0..workers {
            let worker = thread::Builder::new().name("specs".into()).stack_size(MACHINE_STACK);
            let work = || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(at) else { return };
                    let of_file = run_file(source, machines, run.filter.as_deref(), run.traced);
                    if let Ok(mut found) = found.lock() {
                        found.push((at, of_file));
                    }
                }
            };
            // Without a thread the others do its share; without any, nothing is found and the report says so.
            let _ = worker.spawn_scoped(scope, work);
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(at, ..)| *at);
    let (mut results, mut broken, mut unexamined) = (Vec::new(), Vec::new(), Vec::new());
    for (_, of_file) in found {
        results.extend(of_file.results);
        broken.extend(of_file.broken);
        unexamined.extend(of_file.unexamined);
    }
    mark_overruled(&mut results, &machines[0].library, &machines[0].rules, layers, &machines[0].budget);
    let mut coverage = Coverage::of(machines[0].rules.own_rule_texts(), &results);
    coverage.unknown = Coverage::of(machines[0].rules.rule_texts(), &results).unknown;
    let interrupted = machines[0].budget.is_interrupted();
    SpecReport { ruleset: id.to_string(), results, broken, coverage, lines: None, unexamined, interrupted }
}

/// The ruleset whose specs are played, and the rulesets of its library that specs change to, each loaded once.
pub struct SpecRulesets {
    pub rules: Arc<Ruleset>,
    library: Library,
    others: Mutex<BTreeMap<String, Arc<Ruleset>>>,
    /// Ends the run once it is spent.
    pub budget: WorkBudget,
}

impl SpecRulesets {
    fn new(library: &Library, rules: Arc<Ruleset>, budget: &WorkBudget) -> SpecRulesets {
        SpecRulesets { rules, library: library.clone(), others: Mutex::default(), budget: budget.clone() }
    }

    /// A ruleset by its id.
    ///
    /// # Errors
    ///
    /// The problems of a ruleset that cannot be loaded.
    pub fn ruleset(&self, id: &str) -> Result<Arc<Ruleset>, LoadError> {
        if id == self.rules.id() {
            return Ok(self.rules.clone());
        }
        let mut others = match self.others.lock() {
            Ok(others) => others,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(known) = others.get(id) {
            return Ok(known.clone());
        }
        let loaded = Ruleset::load(&self.library, id)?;
        others.insert(id.to_string(), loaded.clone());
        Ok(loaded)
    }
}

/// Marks failed specs of rulesets below that hold there as overruled. Not if a script of the rules on top has failed: that stays
/// a failure, unless it only ran out of written dice.
fn mark_overruled(
    results: &mut [SpecResult],
    library: &Library,
    rules: &Ruleset,
    layers: &[String],
    budget: &WorkBudget,
) {
    if results.iter().all(|result| result.failure.is_none()) {
        return;
    }
    let below = match library.read(rules.id()) {
        _ if !layers.is_empty() => rules.id().to_owned(),
        Ok(folder) => match folder.manifest.extends {
            Some(parent) => parent.id,
            None => return,
        },
        Err(_) => return,
    };
    let Ok(below) = Ruleset::load(library, &below) else { return };
    let (lower, sources) = (below.parts(), below.specs().collect::<Vec<_>>());
    let on_top: Vec<String> =
        rules.parts().into_iter().filter(|part| !lower.contains(part)).map(|part| format!("{part}/")).collect();
    let shelf = || Arc::new(SpecRulesets::new(library, below.clone(), budget));
    let machines = [shelf(), shelf()];
    for result in results {
        let Some(failure) = &result.failure else { continue };
        let Some(&(path, text)) = sources.iter().find(|(path, _)| *path == result.path) else { continue };
        let message = &failure.fault.message;
        let broken = on_top.iter().any(|part| message.starts_with(part)) && !message.contains(DICE_RUN_OUT);
        if failure.fault.fatal || broken {
            continue;
        }
        let source = SpecSource { path: path.to_owned(), text: text.to_owned() };
        let found = run_file(&source, &machines, Some(&result.name), false).results;
        let mut there = found.iter().filter(|spec| spec.name == result.name).peekable();
        result.overruled = there.peek().is_some() && there.all(|spec| spec.failure.is_none());
    }
}

/// What came of the specs of a file.
#[derive(Default)]
struct OfFile {
    results: Vec<SpecResult>,
    /// Why the file cannot be read as specs.
    broken: Option<Fault>,
    /// Specs that were not run, as [`SpecReport::unexamined`] names them.
    unexamined: Vec<String>,
}

/// The work of a run of a spec, and of a byte of a file that is read, without scripts.
const WORK_OF_SPEC: u64 = 50_000;
const WORK_OF_BYTE: u64 = 20;

fn run_file(source: &SpecSource, machines: &[Arc<SpecRulesets>; 2], filter: Option<&str>, traced: bool) -> OfFile {
    let budget = &machines[0].budget;
    if !budget.spend(2 * source.text.len() as u64 * WORK_OF_BYTE) {
        return OfFile { unexamined: vec![source.path.clone()], ..OfFile::default() };
    }
    let (file, again) = match (SpecFile::load(&source.path, &source.text), SpecFile::load(&source.path, &source.text)) {
        (Ok(file), Ok(again)) => (file, again),
        (Err(fault), _) | (_, Err(fault)) => return OfFile { broken: Some(fault), ..OfFile::default() },
    };
    budget.spend(file.work() + again.work());
    let mut of_file = OfFile::default();
    for (at, (name, rules)) in file.list().enumerate() {
        if filter.is_some_and(|filter| !name.contains(filter) && !source.path.contains(filter)) {
            continue;
        }
        let unexamined = format!("{}: {name}", source.path);
        if !budget.spend(2 * WORK_OF_SPEC) {
            of_file.unexamined.push(unexamined);
            continue;
        }
        let first = play(&file, at, &machines[0]);
        let mut fault = first.fault.clone();
        if fault.is_none() {
            let second = play(&again, at, &machines[1]);
            if let Some(second) = second.fault {
                fault = Some(Fault { message: format!("only in a second run: {}", second.message), ..second });
            } else if first.end != second.end {
                let mut differs =
                    Fault::new("two runs over the same dice differ: a script keeps something between calls");
                differs.cure = Some("keep what must last in a field of an entity".into());
                differs.path = Some(source.path.clone());
                fault = Some(differs);
            }
        }
        // What came of a spec that was cut short says nothing.
        if budget.is_spent() && fault.is_some() || budget.is_interrupted() {
            of_file.unexamined.push(unexamined);
            continue;
        }
        let (given, dice, log) = (first.position, first.dice, first.log);
        let (failure, trace) = match fault {
            Some(fault) => (Some(SpecFailure { fault, given, dice, log }), None),
            None => (None, traced.then_some(SpecTrace { given, dice, log })),
        };
        of_file.results.push(SpecResult {
            path: source.path.clone(),
            name: name.to_string(),
            rules: rules.to_vec(),
            overruled: false,
            failure,
            trace,
            cards: first.cards,
            warnings: first.warnings,
        });
    }
    of_file
}

/// What came of one spec.
struct PlayedSpec {
    fault: Option<Fault>,
    position: String,
    dice: Vec<u32>,
    log: Vec<String>,
    /// State and log at the end, to compare two runs.
    end: Vec<u8>,
    /// Ids of the cards that were played.
    cards: Vec<String>,
    warnings: Vec<SpecWarning>,
}

/// Plays one spec of a file with a ruleset.
fn play(file: &SpecFile, at: usize, shelf: &Arc<SpecRulesets>) -> PlayedSpec {
    let case = Rc::new(RefCell::new(Case::new(shelf)));
    let (fault, work) = file.run(at, &case);
    let case = case.borrow();
    shelf.budget.spend(work);
    let (position, dice, cards) = (case.position.clone(), case.dice.clone(), case.cards.clone());
    let warnings = case.warnings.clone();
    PlayedSpec { fault, position, dice, log: case.log(), end: case.end(), cards, warnings }
}
