//! Checks a ruleset, and keeps what was read for the next check of one file.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::thread;

use crate::allow::Allowances;
use crate::inference::value_type::ValueType;
use crate::kept_values::values_that_nobody_keeps;
use crate::lints::cast_fails::cast_that_fails;
use crate::lints::changelog_version::versions_of_changelogs;
use crate::lints::conflict_copy::conflict_copies;
use crate::lints::old_value::wrong_old_values;
use crate::lints::rule_id::wrong_rule_ids;
use crate::lints::scenario_fails::scenarios_that_fail;
use crate::lints::unattached_hook::unattached;
use crate::lints::unknown_rule::{no_rule_text, unknown_in_rule_texts};
use crate::lints::unknown_topic::words_for_nothing;
use crate::lints::unread_file::unread_files;
use crate::lints::unread_switch::wrong_switches;
use crate::lints::{load, unexamined, unknown_name};
use crate::place::{DATA_PLACES, is_in_folder, place};
use crate::reader::ScriptReader;
use crate::reading::{CheckCache, ReadFiles, Reading, ScriptsToRead};
use crate::report::CheckReport;
use crate::script_messages::cure_by_message;
use crate::symbols::file_names::FileNames;
use crate::symbols::known::KnownNames;
use crate::symbols::names::NamesOfFiles;
use crate::{data, facts};
use riskbreaker_play::{MACHINE_STACK, Ruleset};
use riskbreaker_ruleset::{
    Cure, Library, Problem, Rulebook, Source, SourceKind, Stack, Subject, TextChange, slips, with_layers,
};
use riskbreaker_work::WorkBudget;

/// The result of a check and what it has read, so that one file can be checked again without reading the others.
pub struct Analysis {
    /// The problems that the check has found.
    pub report: CheckReport,
    /// The index in [`Stack::parts`] of the first part that is checked.
    pub(crate) own: usize,
    pub(crate) stack: Option<Arc<Stack>>,
    pub(crate) rules: Option<Arc<Ruleset>>,
    pub(crate) names: Option<Arc<NamesOfFiles>>,
    /// What was read, for the next check.
    cache: CheckCache,
}

impl Analysis {
    /// Checks a ruleset as [`crate::check`] does.
    pub fn new(library: &Library, id: &str, budget: &WorkBudget) -> Analysis {
        analyse(library, id, &[], Depth::Everything, budget, CheckCache::default())
    }

    /// Checks the same ruleset again, perhaps with other texts. The result is that of [`Analysis::new`]. Files are read
    /// again only if their text has changed, or a name that they look up.
    pub fn again(&self, library: &Library, id: &str, budget: &WorkBudget) -> Analysis {
        analyse(library, id, &[], Depth::Everything, budget, self.cache.clone())
    }

    pub(crate) fn of(report: CheckReport, cache: CheckCache) -> Analysis {
        Analysis { report, own: 0, stack: None, rules: None, names: None, cache }
    }

    /// Returns the ruleset with its parents and layers; `None` if it could not be resolved.
    pub fn stack(&self) -> Option<&Arc<Stack>> {
        self.stack.as_ref()
    }

    /// Returns the loaded ruleset; `None` if it does not load.
    pub fn rules(&self) -> Option<&Arc<Ruleset>> {
        self.rules.as_ref()
    }

    /// Returns what a derived value is, in the words of a message: `a number`. `None` if it is not known.
    pub fn type_of_derived(&self, name: &str) -> Option<&'static str> {
        self.names.as_ref()?.type_of_derived(name).map(ValueType::words)
    }

    /// The text of a script with what it writes in an old form in the new one; `None` if there is nothing old in it.
    pub fn in_new_form(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<String> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        let source = Source::read(path, text.as_bytes()).ok()?;
        let read = || {
            // Only a complete check knows the calls of its verbs.
            let is_checked = stack.text_of(path) == Some(&*source.text);
            let names =
                if is_checked { names.clone() } else { Arc::new(names.with_script(inside, path, &source.text)) };
            let known = KnownNames::with_names(stack, self.rules.as_deref().map(Ruleset::book), names, budget);
            let mut reader = ScriptReader::new(&known, part, inside, &source);
            reader.read();
            Some(reader.rewrites)
        };
        let mut rewrites = on_large_stack(read)?;
        rewrites.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut written = source.text.to_string();
        for (range, new) in &rewrites {
            written.replace_range(range.clone(), new);
        }
        (!rewrites.is_empty()).then_some(written)
    }

    /// Checks a new text of one file, using the names that the check has found in the other files.
    ///
    /// The path begins with the ruleset's id. Returns only the problems that reading the file shows, and `None` if the
    /// whole ruleset has to be checked instead.
    pub fn read_again(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<Vec<Problem>> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        if part < self.own || stack.is_for_another(part, inside) {
            return None;
        }
        let source = match Source::read(path, text.as_bytes()) {
            Ok(source) => source,
            Err(problems) => {
                return Some(problems.into_iter().map(|problem| load::LINT.finds(problem)).collect());
            }
        };
        let rules = self.rules.as_deref();
        let read = || match source.kind()? {
            SourceKind::Script => {
                let names = Arc::new(names.with_script(inside, path, &source.text));
                let known = KnownNames::with_names(stack, rules.map(Ruleset::book), names, budget);
                let mut reader = ScriptReader::new(&known, part, inside, &source);
                reader.read();
                Some(reader.found)
            }
            SourceKind::Data if DATA_PLACES.iter().any(|place| is_in_folder(inside, place)) => {
                let known = KnownNames::with_names(stack, rules.map(Ruleset::book), names.clone(), budget);
                Some(data::findings(&source, inside, rules?, &known))
            }
            _ => None,
        };
        let mut found = on_large_stack(read)?;
        found.iter_mut().for_each(|problem| place(problem, &source.text));
        // Whether an allowance is needed is only known after a check of the whole ruleset.
        let mut allowances = Allowances::of(&source);
        found.retain(|problem| !allowances.allows(problem));
        found.extend(allowances.unknown());
        found.sort();
        Some(found)
    }

    /// True if a change of a file removes a problem that the check has found in it, and causes no other; `None` if only a
    /// check of the whole ruleset can tell.
    pub fn helps(&self, problem: &Problem, text: &str, change: &TextChange, budget: &WorkBudget) -> Option<bool> {
        let fixed = change.applied_to(text)?;
        let before = self.read_again(&problem.path, text, budget)?;
        before.iter().find(|found| found.message == problem.message && found.line == problem.line)?;
        let after = self.read_again(&problem.path, &fixed, budget)?;
        Some(after.len() < before.len())
    }
}

/// Runs a recursive reader of nested code on a thread with a large stack; `None` if it returns `None` or panics.
pub(crate) fn on_large_stack<T: Send>(read: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("check".into()).stack_size(MACHINE_STACK);
        thread.spawn_scoped(scope, read).ok()?.join().ok().flatten()
    })
}

/// The number of problems after which no further files are read.
pub(crate) const MOST_PROBLEMS: usize = 2_000;

/// How much is checked.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Depth {
    Files,
    /// The files, and whether every scenario can be set up.
    Everything,
}

pub(crate) fn run(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> CheckReport {
    analyse(library, id, layers, depth, budget, CheckCache::default()).report
}

pub(crate) fn analyse(
    library: &Library,
    id: &str,
    layers: &[String],
    depth: Depth,
    budget: &WorkBudget,
    cache: CheckCache,
) -> Analysis {
    let (library, name, layers, budget) = (library.clone(), id.to_string(), layers.to_vec(), budget.clone());
    // Nested code is read by recursion. The large stack keeps deep nesting from ending the host.
    let reader = thread::Builder::new().name("check".into()).stack_size(MACHINE_STACK);
    let found =
        reader.spawn(move || find((&library, &name, &layers), depth, &budget, cache)).map(thread::JoinHandle::join);
    match found {
        Ok(Ok(found)) => found,
        _ => {
            let problem = unexamined::LINT.problem(id, "could not be checked: the check itself failed");
            Analysis::of(CheckReport { problems: vec![problem], ..CheckReport::default() }, CheckCache::default())
        }
    }
}

pub(crate) fn find(
    (library, id, layers): (&Library, &str, &[String]),
    depth: Depth,
    budget: &WorkBudget,
    mut cache: CheckCache,
) -> Analysis {
    let stack = match Stack::resolve(library, id, layers) {
        Ok(stack) => Arc::new(stack),
        Err(error) => {
            let problems = of_loading(error.problems);
            return Analysis::of(CheckReport { problems, ..CheckReport::default() }, cache);
        }
    };
    // For `game+house`, only the house rules are checked.
    let own = stack.main().index + usize::from(id.contains('+'));
    let nothing_examined = |problems, cache| {
        let unexamined = paths_from(&stack, own).collect();
        Analysis::of(CheckReport { problems, unexamined, interrupted: budget.is_interrupted() }, cache)
    };
    if budget.is_spent() {
        return nothing_examined(Vec::new(), cache);
    }
    let (rules, mut found) = match Ruleset::load_read(stack.clone(), &with_layers(id, layers).1) {
        Ok(rules) => (Some(rules), Vec::new()),
        Err(error) => (None, of_loading(error.problems)),
    };
    let last = cache.last(&stack, own, rules.as_deref());
    let book = rules.as_deref().map(Ruleset::book);
    let collected = FileNames::collect(&stack, book.map(Rulebook::schema), budget, last.map(|last| &last.file_names));
    let Some((names, file_names)) = collected else { return nothing_examined(found, cache) };
    let known = KnownNames::with_names(&stack, book, Arc::new(names), budget);
    found.iter_mut().for_each(|problem| load::blame_misspelt_field(problem, &known));
    let mut to_read = ScriptsToRead::new(&known, last);
    let Scripts { used, read, mut unreadable, mut idle, mut unexamined } =
        read_scripts(&stack, own, &known, &mut to_read, &mut found);
    let readings = to_read.into_readings();
    let is_word = |name: &str| read.iter().any(|reading| reading.words.contains(name));
    found.extend(missing_bases(library, &stack, own));
    if unexamined.is_empty() {
        found.extend(unread_files(&stack, own, &used));
        found.extend(conflict_copies(&stack, own));
        found.extend(versions_of_changelogs(&stack, own));
    } else {
        // What the unread files use is not known.
        unreadable = true;
    }
    found.extend(no_rule_text(&known));
    found.extend(wrong_rule_ids(&stack, own, &known));
    if depth == Depth::Everything {
        found.extend(wrong_old_values(library, &stack, own));
        found.extend(values_that_nobody_keeps(library, &stack, own));
    }
    found.extend(unknown_in_rule_texts(&stack, own, &known));
    if let Some(rules) = &rules {
        found.extend(words_for_nothing(library, &stack, own, (rules, &known)));
        add_on_other_lines(&mut found, facts::findings(&stack, own, (rules, &known.names)));
    }
    found.extend(wrong_switches(&stack, own, &known, &found, is_word, unreadable));
    // If a file cannot be read, what other files lack because of it is not their mistake.
    if unreadable {
        found.retain(|problem| problem.subject != Subject::Undeclared);
    }
    if let Some(rules) = &rules {
        let of_data = of_data(&stack, own, rules, &known, &mut unexamined);
        // A script that fails in play may fail because of what is wrong in another file.
        let is_sound = found.iter().all(|problem| problem.is_warning);
        let scenarios = match depth {
            Depth::Everything => scenarios_that_fail(rules, is_sound, budget, &mut unexamined),
            Depth::Files => Vec::new(),
        };
        let cast = match depth {
            Depth::Everything => cast_that_fails(rules, (&stack, own), budget, &mut unexamined),
            Depth::Files => Vec::new(),
        };
        let is_of_data = |problem: &Problem| !problem.is_warning && problem.path.ends_with(".toml");
        let has_wrong_data = found.iter().chain(&of_data).any(is_of_data);
        add_on_other_lines(&mut found, of_data);
        // A wrong value of a sheet or a scenario is reported at its place. What fails because of it is no other mistake.
        let fails_otherwise = |problem: &Problem| !has_wrong_data || problem.subject == Subject::Value;
        add_on_other_lines(&mut found, scenarios.into_iter().filter(fails_otherwise).collect());
        // What is wrong in a sheet may make its character fail in another line, too.
        let blamed: HashSet<String> = found.iter().filter(|one| is_of_data(one)).map(|one| one.path.clone()).collect();
        let fails_alone =
            |one: &Problem| fails_otherwise(one) && (one.subject == Subject::Value || !blamed.contains(&one.path));
        add_on_other_lines(&mut found, cast.into_iter().filter(fails_alone).collect());
    }
    found.iter_mut().chain(&mut idle).for_each(|problem| cure_in_file(problem, &stack));
    let mut allowances = allowances(&stack, own);
    let mut is_reported = |problem: &Problem| !allowances.iter_mut().any(|file| file.allows(problem));
    found.retain(&mut is_reported);
    idle.retain(&mut is_reported);
    if found.iter().all(|problem| problem.is_warning) {
        // A wrong card may be the one that attaches the hooks.
        found.append(&mut idle);
    }
    found.extend(allowances.iter().flat_map(Allowances::unknown));
    // Rules over several others may need an allowance over one of them only.
    let is_over_several = id.contains('+') && stack.parts()[own..].iter().any(|part| part.manifest().over.len() > 1);
    if unexamined.is_empty() && !is_over_several && found.iter().all(|problem| problem.is_warning) {
        found.extend(allowances.iter().flat_map(Allowances::unused));
    }
    found.sort();
    found.dedup_by(|one, two| one.path == two.path && one.line == two.line && one.message == two.message);
    let report = CheckReport { problems: found, unexamined, interrupted: budget.is_interrupted() };
    let names = known.names;
    if !budget.is_spent() {
        cache.keep(ReadFiles::new((own, stack.clone()), rules.clone(), names.clone(), file_names, readings));
    }
    Analysis { report, own, stack: Some(stack), rules, names: Some(names), cache }
}

/// Adds problems to those that were found. A line that already has one gets none of them.
fn add_on_other_lines(found: &mut Vec<Problem>, more: Vec<Problem>) {
    let told: HashSet<_> = found.iter().map(|one| (one.path.clone(), one.line)).collect();
    found.extend(more.into_iter().filter(|problem| !told.contains(&(problem.path.clone(), problem.line))));
}

/// Gives a problem that a script of the ruleset has told the edit that its message describes, and any problem the place
/// that it is about.
fn cure_in_file(problem: &mut Problem, stack: &Stack) {
    let Some(text) = stack.text_of(&problem.path) else { return };
    if matches!(problem.lint, Some("cast-fails" | "scenario-fails")) {
        cure_by_message(problem, text);
    }
    place(problem, text);
}

/// Marks problems that loading has found. What is missing because files require each other in a circle is left out.
pub(crate) fn of_loading(mut problems: Vec<Problem>) -> Vec<Problem> {
    let is_circle = |problem: &Problem| problem.subject == Subject::Circle;
    if problems.iter().any(is_circle) {
        problems.retain(is_circle);
    }
    problems.into_iter().map(|problem| load::LINT.finds(problem)).collect()
}

/// Returns the problems of rulesets that `over` names and that are not there, from a part on.
fn missing_bases(library: &Library, stack: &Stack, own: usize) -> Vec<Problem> {
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        for base in part.manifest().over.iter().filter(|base| !library.contains(&base.id)) {
            let message = format!("`over` names `{}`, which is not there", base.id);
            let problem = unknown_name::LINT.problem(part.manifest_path(), message);
            let cure = library.instead_of(&base.id);
            let is_listed = |meant: &str| part.manifest().over.iter().any(|other| other.id == meant);
            let cure = match &cure {
                // A ruleset that is on the list already is not meant again.
                Cure::Meant { meant, .. } if is_listed(meant) => {
                    let ids = library.ids();
                    let near = ids.iter().find(|id| !is_listed(id) && slips(&base.id, id, 1).is_some());
                    match near {
                        Some(near) => Cure::meant(&*base.id, near.as_str()),
                        None => "name a ruleset that is there, or take it off the list".into(),
                    }
                }
                _ => cure,
            };
            found.push(problem.at((base.line, base.column)).with_cure(cure));
        }
    }
    found
}

/// Returns what the comments in the scripts and data files of a stack allow, from a part on.
pub(crate) fn allowances(stack: &Stack, own: usize) -> Vec<Allowances> {
    let files = stack.parts()[own..].iter().flat_map(|part| part.folder.files.values());
    files.map(Allowances::of).collect()
}

/// Returns the paths of the scripts and data files of a stack, from a part on.
pub(crate) fn paths_from(stack: &Stack, own: usize) -> impl Iterator<Item = String> {
    let files = stack.parts()[own..].iter().flat_map(|part| part.folder.files.values());
    files.filter(|source| source.kind().is_some()).map(|source| source.path.to_string())
}

/// What the scripts of a stack use and declare.
#[derive(Default)]
pub(crate) struct Scripts {
    /// The files that scripts require.
    used: BTreeSet<String>,
    /// What was read of the scripts that are no specs.
    read: Vec<Arc<Reading>>,
    /// Whether some script cannot be read.
    unreadable: bool,
    /// Problems of hooks that nothing attaches.
    idle: Vec<Problem>,
    /// The files that were not read to their end.
    unexamined: Vec<String>,
}

/// Reads the scripts of a stack and adds their problems to `found`.
pub(crate) fn read_scripts(
    stack: &Stack,
    own: usize,
    known: &KnownNames<'_>,
    to_read: &mut ScriptsToRead<'_>,
    found: &mut Vec<Problem>,
) -> Scripts {
    let mut scripts = Scripts::default();
    for (part, path, source) in stack.scripts() {
        // Specs of the parents are not part of this ruleset.
        if part < own && path.starts_with("specs/") {
            continue;
        }
        if found.len() >= MOST_PROBLEMS || !known.spend_on(source) {
            scripts.unexamined.push(source.path.to_string());
            continue;
        }
        let reading = to_read.read(part, path, source);
        scripts.unexamined.extend(reading.rest.clone());
        scripts.used.extend(reading.required.iter().cloned());
        if part >= own {
            if reading.reads && !reading.always {
                scripts.idle.extend(unattached(known, path, source));
            }
            // A problem that the check finds replaces the load error of the same line, because it is more precise.
            let surer = |problem: &Problem| {
                let same = |found: &Problem| !found.is_warning && (found.line == problem.line || !reading.reads);
                problem.path == source.path && reading.found.iter().any(same)
            };
            found.retain(|problem| !surer(problem));
            scripts.unreadable |= !reading.reads;
            found.extend(reading.found.iter().cloned());
        }
        if !path.starts_with("specs/") {
            scripts.read.push(reading);
        }
    }
    scripts
}

/// Returns the problems of the data files of a ruleset and its layers.
pub(crate) fn of_data(
    stack: &Stack,
    own: usize,
    rules: &Rulebook,
    known: &KnownNames<'_>,
    unexamined: &mut Vec<String>,
) -> Vec<Problem> {
    let parts = &stack.parts()[own..];
    let files = parts.iter().flat_map(|part| part.folder.files.iter().map(|(path, source)| (part.index, path, source)));
    let data = files.filter(|&(part, path, _)| {
        let is_data = path.ends_with(".toml") && DATA_PLACES.iter().any(|place| is_in_folder(path, place));
        is_data && !stack.is_for_another(part, path)
    });
    let mut found = Vec::new();
    for (_, path, source) in data {
        let whole = found.len() < MOST_PROBLEMS && known.spend_on(source);
        if whole {
            found.extend(data::findings(source, path, rules, known));
        }
        if !whole || known.budget.is_spent() {
            unexamined.push(source.path.to_string());
        }
    }
    found
}
