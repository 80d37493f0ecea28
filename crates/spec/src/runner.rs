use super::report::SpecFailure;
use super::report::SpecReport;
use super::report::SpecResult;
use super::report::SpecTrace;
use super::report::SpecWarning;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, thread};

use super::Coverage;
use super::case::Case;
use super::lines::{LineCoverage, play_at_random};
use super::reach::{RanBySpec, RanLines, SpecChoice, SpecReach, lines_between};
use riskbreaker_play::{DICE_RUN_OUT, Fault, Hits, MACHINE_STACK, Machines, Ruleset};
use riskbreaker_ruleset::{Library, LoadError, PartRole, Problem, Source, StackPart, read_regular};
use riskbreaker_script::SpecFile;
use riskbreaker_work::WorkBudget;

/// A file of specs.
#[derive(Clone, Debug)]
pub struct SpecSource {
    /// The path used in messages.
    pub path: String,
    /// The content.
    pub text: String,
}

impl SpecSource {
    /// Reads all spec files of a folder, sorted by path.
    ///
    /// # Errors
    ///
    /// A sentence about a folder or file that cannot be read.
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
                // Do not follow a link to a folder, which may form a cycle.
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

/// The choice of specs of a ruleset to run, and how.
#[derive(Clone, Debug, Default)]
pub struct SpecRun {
    /// Further specs from another place.
    pub further: Vec<SpecSource>,
    /// Runs only the further specs, not those of the ruleset.
    pub only_further: bool,
    /// Of a ruleset with layers on top, runs only the specs of the layers.
    pub only_layers: bool,
    /// Runs only the specs whose name or path contains this text; `=` before it: whose name is this text, in which braces
    /// match any text.
    pub filter: Option<String>,
    /// Runs only these specs.
    pub only: Option<SpecChoice>,
    /// Records a trace of each spec that holds.
    pub traced: bool,
    /// Also plays some random games, and counts the script lines reached.
    pub measured: bool,
    /// The rules, if they are loaded already, from the same files. Otherwise they are loaded for the run.
    pub loaded: Option<Arc<Ruleset>>,
    /// The budget of the run. Once it is spent or interrupted, the report contains the finished specs and names the
    /// others.
    pub budget: WorkBudget,
}

impl SpecRun {
    /// The default budget of a run, in steps of a script: at least half a minute.
    pub const WORK: u64 = 3_000_000_000;

    /// Runs the specs of a ruleset, each twice, on two separate loads of the ruleset; the results must be equal.
    ///
    /// # Errors
    ///
    /// The problems of a ruleset that cannot be loaded.
    pub fn of(&self, library: &Library, id: &str, layers: &[String]) -> Result<SpecReport, LoadError> {
        self.run(library, id, layers, None)
    }

    /// Like [`SpecRun::of`]; also notes which lines each spec ran. That takes longer, and one thread counts.
    ///
    /// # Errors
    ///
    /// As for [`SpecRun::of`].
    pub fn with_reach(
        &self,
        library: &Library,
        id: &str,
        layers: &[String],
        reach: &mut SpecReach,
    ) -> Result<SpecReport, LoadError> {
        self.run(library, id, layers, Some(reach))
    }

    /// Runs the specs on a thread with the stack that scripts need.
    fn run(
        &self,
        library: &Library,
        id: &str,
        layers: &[String],
        reach: Option<&mut SpecReach>,
    ) -> Result<SpecReport, LoadError> {
        thread::scope(|scope| {
            let runner = worker().spawn_scoped(scope, || self.run_here(library, id, layers, reach));
            let failed = |message: String| LoadError::new(id.to_owned(), vec![Problem::new(id, message)]);
            let runner = runner.map_err(|error| failed(format!("cannot start a thread for specs: {error}")))?;
            runner.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn run_here(
        &self,
        library: &Library,
        id: &str,
        layers: &[String],
        reach: Option<&mut SpecReach>,
    ) -> Result<SpecReport, LoadError> {
        // The scripts of a spec's games run on its own thread: thousands of short calls would else change threads.
        let load = || Ruleset::load_on(Machines::CallersThread, library, id, layers);
        let first = match self.measured || reach.is_some() {
            true => Ruleset::load_measured(library, id, layers)?,
            false => load()?,
        };
        let second = match &self.loaded {
            Some(rules) => rules.clone(),
            None => load()?,
        };
        let shelf = |rules| Arc::new(SpecRulesets::new(library, rules, &self.budget));
        let machines = [shelf(first), shelf(second)];
        let rules = &machines[0].rules;
        let own: Vec<(&str, &str)> = match (self.only_further, self.only_layers) {
            (true, _) => Vec::new(),
            (false, true) => rules.own_specs().collect(),
            (false, false) => rules.specs().collect(),
        };
        let own = own.into_iter().map(|(path, text)| SpecSource { path: path.to_string(), text: text.to_string() });
        let mut sources: Vec<SpecSource> = own.chain(self.further.iter().cloned()).collect();
        sources.retain(|source| self.only.as_ref().is_none_or(|only| only.has_file(&source.path)));
        let (mut report, ran) = run_all(id, &machines, sources, self, reach.is_some());
        if let Some(reach) = reach {
            reach.note(&machines[0].rules, ran);
        }
        if self.measured && !report.is_partial() {
            let measured = &machines[0].rules;
            let mut played = play_at_random(measured);
            played.extend(report.results.iter().flat_map(|result| result.cards.iter().cloned()));
            report.lines = Some(LineCoverage::of(measured, &measured.hits(), &played));
        }
        Ok(report)
    }
}

/// Runs the specs of a ruleset, and further ones from another place. `filter`: runs only those whose name or path
/// contains it.
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

impl SpecRun {
    fn wants(&self, path: &str, name: &str) -> bool {
        let by_text = self.filter.as_ref().is_none_or(|text| match text.strip_prefix('=') {
            Some(whole) => is_named(name, whole),
            None => name.contains(&**text) || path.contains(&**text),
        });
        by_text && self.only.as_ref().is_none_or(|only| only.has(path, name))
    }
}

/// True if a name is a text in which `{key}` and `{}` match any text.
fn is_named(name: &str, text: &str) -> bool {
    let Some((head, rest)) = text.split_once('{') else { return name == text };
    let (Some(after), Some((_, tail))) = (name.strip_prefix(head), rest.split_once('}')) else { return name == text };
    let ends = after.char_indices().map(|(at, _)| at).chain([after.len()]);
    name == text || ends.into_iter().any(|at| is_named(&after[at..], tail))
}

fn run_all(
    id: &str,
    machines: &[Arc<SpecRulesets>; 2],
    sources: Vec<SpecSource>,
    run: &SpecRun,
    reaches: bool,
) -> (SpecReport, Vec<RanBySpec>) {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, OfFile)>> = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.len().max(1));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(source) = sources.get(at) else { return };
            let wanted = |path: &str, name: &str| run.wants(path, name);
            let of_file = run_file(source, machines, &wanted, run.traced, reaches);
            if let Ok(mut found) = found.lock() {
                found.push((at, of_file));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers {
            // If a thread cannot be started, the others do its work.
            let _ = worker().spawn_scoped(scope, work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(at, ..)| *at);
    let (mut results, mut broken, mut unexamined, mut ran) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (_, of_file) in found {
        ran.extend(of_file.ran);
        results.extend(of_file.results);
        broken.extend(of_file.broken);
        unexamined.extend(of_file.unexamined);
    }
    mark_overruled(&mut results, &machines[0].library, &machines[0].rules, &machines[0].budget);
    let mut coverage = Coverage::of(machines[0].rules.own_rule_texts(), &results);
    coverage.unknown = Coverage::of(machines[0].rules.rule_texts(), &results).unknown;
    let interrupted = machines[0].budget.is_interrupted();
    let report =
        SpecReport { ruleset: id.to_string(), results, broken, coverage, lines: None, unexamined, interrupted };
    (report, ran)
}

/// A thread that can run scripts.
fn worker() -> thread::Builder {
    thread::Builder::new().name("specs".into()).stack_size(MACHINE_STACK)
}

/// The ruleset whose specs are run, and other rulesets of its library that specs change to, each loaded once.
pub struct SpecRulesets {
    pub rules: Arc<Ruleset>,
    library: Library,
    others: Mutex<BTreeMap<String, Arc<Ruleset>>>,
    /// The budget of the run.
    pub budget: WorkBudget,
}

impl SpecRulesets {
    fn new(library: &Library, rules: Arc<Ruleset>, budget: &WorkBudget) -> SpecRulesets {
        SpecRulesets { rules, library: library.clone(), others: Mutex::default(), budget: budget.clone() }
    }

    /// Returns a ruleset by its id.
    ///
    /// # Errors
    ///
    /// The problems of a ruleset that cannot be loaded.
    pub fn ruleset(&self, id: &str) -> Result<Arc<Ruleset>, LoadError> {
        // A file may have another id for a ruleset than the id here.
        let stack = self.rules.book().stack();
        let here = id.split('+').map(|id| stack.id_here(id)).collect::<Vec<_>>().join("+");
        let id = here.as_str();
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
        let loaded = Ruleset::load_on(Machines::CallersThread, &self.library, id, &[])?;
        others.insert(id.to_string(), loaded.clone());
        Ok(loaded)
    }
}

/// Marks failed specs of lower parts that pass in the stack of their own part as overruled. A failed script of a part
/// above it stays a failure, unless only the written dice were too few.
fn mark_overruled(results: &mut [SpecResult], library: &Library, rules: &Ruleset, budget: &WorkBudget) {
    let mut stacks: BTreeMap<String, Option<OwnStack>> = BTreeMap::new();
    for result in results {
        let Some(failure) = &result.failure else { continue };
        let Some((part, _)) = result.path.split_once('/') else { continue };
        if failure.fault.fatal {
            continue;
        }
        let own = stacks.entry(part.to_owned()).or_insert_with(|| OwnStack::of(part, library, rules, budget));
        let Some(own) = own else { continue };
        let place = failure.fault.path.as_deref().and_then(|path| path.split('/').next()).unwrap_or_default();
        let is_broken = own.above.iter().any(|above| above == place);
        if is_broken && !failure.fault.message.contains(DICE_RUN_OUT) {
            continue;
        }
        let Some(source) = own.sources.iter().find(|source| source.path == result.path) else { continue };
        let wanted = |_: &str, name: &str| name == result.name;
        let found = run_file(source, &own.machines, &wanted, false, false).results;
        let mut there = found.iter().filter(|spec| spec.name == result.name).peekable();
        result.overruled = there.peek().is_some() && there.all(|spec| spec.failure.is_none());
    }
}

/// The rules that a part of a stack is written for: the parts below it and itself.
struct OwnStack {
    machines: [Arc<SpecRulesets>; 2],
    sources: Vec<SpecSource>,
    /// The ids of the parts above it.
    above: Vec<String>,
}

impl OwnStack {
    /// Loads the stack of a part; `None` if nothing is above the part, or if the stack cannot be loaded.
    fn of(part: &str, library: &Library, rules: &Ruleset, budget: &WorkBudget) -> Option<OwnStack> {
        let (id, layers) = name_of_own_stack(part, rules)?;
        let own = Ruleset::load_on(Machines::CallersThread, library, &id, &layers).ok()?;
        let lower = own.parts();
        let above = rules.parts().into_iter().filter(|part| !lower.contains(part)).collect();
        let sources = own.specs().map(|(path, text)| SpecSource { path: path.to_owned(), text: text.to_owned() });
        let sources = sources.collect();
        let shelf = || Arc::new(SpecRulesets::new(library, own.clone(), budget));
        Some(OwnStack { machines: [shelf(), shelf()], sources, above })
    }
}

/// The id and the further layers of the stack of a part. The layers that a ruleset names in its manifest belong to that
/// ruleset. `None` if no other part is above that stack.
fn name_of_own_stack(part: &str, rules: &Ruleset) -> Option<(String, Vec<String>)> {
    let book = rules.book();
    let (parts, main) = (book.stack().parts(), book.stack().main().index);
    let at = parts.iter().position(|known| known.id() == part)?;
    let layers = book.extra_layers();
    let is_extra = |part: &StackPart| layers.iter().any(|layer| layer == part.id());
    if is_extra(&parts[at]) {
        let below: Vec<String> =
            parts[..=at].iter().filter(|part| is_extra(part)).map(|part| part.id().into()).collect();
        return (below.len() < layers.len()).then(|| (parts[main].id().to_owned(), below));
    }
    let is_base = |part: &&StackPart| part.role == PartRole::Base;
    let base = parts[..=at].iter().rev().find(is_base).or_else(|| parts.iter().find(is_base))?;
    (base.index != main || !layers.is_empty()).then(|| (base.id().to_owned(), Vec::new()))
}

/// The results of a file.
#[derive(Default)]
struct OfFile {
    results: Vec<SpecResult>,
    /// The reason why the file cannot be read as specs.
    broken: Option<Fault>,
    /// Specs that were not run, as in [`SpecReport::unexamined`].
    unexamined: Vec<String>,
    /// The lines that each spec ran, by file and name, if they are noted.
    ran: Vec<RanBySpec>,
}

/// The work of running a spec, without its scripts.
const WORK_OF_SPEC: u64 = 50_000;
/// The work of reading a byte of a file.
const WORK_OF_BYTE: u64 = 20;

fn run_file(
    source: &SpecSource,
    machines: &[Arc<SpecRulesets>; 2],
    wanted: &dyn Fn(&str, &str) -> bool,
    traced: bool,
    reaches: bool,
) -> OfFile {
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
    let mut lines = LinesOfSpecs::begin(&machines[0].rules, reaches);
    for (at, (name, rules)) in file.list().enumerate() {
        if !wanted(&source.path, name) {
            continue;
        }
        let unexamined = format!("{}: {name}", source.path);
        if !budget.spend(2 * WORK_OF_SPEC) {
            of_file.unexamined.push(unexamined);
            continue;
        }
        let first = play(&file, at, &machines[0]);
        of_file
            .ran
            .extend(lines.since_last(&machines[0].rules).map(|ran| ((source.path.clone(), name.to_string()), ran)));
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
        // The result of an interrupted spec has no meaning.
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

/// Counts the lines that one spec after the other runs. Another thread may run a spec meanwhile; its lines count for both.
struct LinesOfSpecs(Option<Hits>);

impl LinesOfSpecs {
    fn begin(rules: &Ruleset, reaches: bool) -> LinesOfSpecs {
        LinesOfSpecs(reaches.then(|| rules.hits()))
    }

    /// The lines that ran since the last call. `None` if they are not noted.
    fn since_last(&mut self, rules: &Ruleset) -> Option<RanLines> {
        let before = self.0.as_mut()?;
        let after = rules.hits();
        let ran = lines_between(before, &after);
        *before = after;
        Some(ran)
    }
}

/// The result of one run of a spec.
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

/// Adds the source line of a fault in a script of the rules.
fn show_source(fault: &mut Fault, rules: &Ruleset) {
    let Some((path, line)) = fault.path.as_deref().zip(fault.line).filter(|_| fault.source_line.is_none()) else {
        return;
    };
    fault.source_line = rules.book().stack().line_of(path, line).map(str::to_owned);
}

/// Runs one spec of a file with a ruleset.
fn play(file: &SpecFile, at: usize, shelf: &Arc<SpecRulesets>) -> PlayedSpec {
    let case = Rc::new(RefCell::new(Case::new(shelf)));
    let (mut fault, work) = file.run(at, &case);
    if let Some(fault) = &mut fault {
        show_source(fault, &shelf.rules);
    }
    let case = case.borrow();
    shelf.budget.spend(work);
    let (position, dice, cards) = (case.position.clone(), case.dice.clone(), case.cards.clone());
    let warnings = case.warnings.clone();
    PlayedSpec { fault, position, dice, log: case.log(), end: case.end(), cards, warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_fits_with_any_text_for_its_braces() {
        for (name, text, fits) in [
            ("A-1: it", "A-1: it", true),
            ("A-1: it costs", "A-1: it", false),
            ("2 costs 3", "{risk} costs {loss}", true),
            ("2 costs", "{risk} costs {loss}", false),
            ("a {b", "a {b", true),
            ("on 7", "on {}", true),
        ] {
            assert_eq!(is_named(name, text), fits, "{name}, {text}");
        }
    }
}
