//! Checks a ruleset for mistakes that loading does not find: they would show only in play, or never.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod allow;
mod analysis;
mod argument;
mod calls;
mod comment;
mod data;
mod declared;
mod elsewhere;
mod evidence;
mod expression;
mod facts;
mod field;
mod flow;
mod hook;
mod known;
mod lint;
mod lints;
mod member;
mod members;
mod names;
mod old_form;
mod open_block;
mod outer_change;
mod question;
mod script;
mod signature;
mod silent;
mod slip;
mod spec;
mod statement;
mod symbol;
mod syntax;
mod thrown_away;
mod unreadable;
mod value_type;
mod word;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use self::allow::Allowances;
pub use self::analysis::Analysis;
use self::known::KnownNames;
pub use self::lints::{Example, LINTS, Lint, Severity};
pub use self::members::Members;
use self::script::ScriptReader;
use riskbreaker_play::{Driver, MACHINE_STACK, Ruleset, Scenario, Session, Setup, Step};
use riskbreaker_ruleset::{
    Library, Problem, Rulebook, SCRIPT_FILES, SCRIPT_FOLDERS, Source, SourceKind, Stack, instead, nearest, with_layers,
};
use riskbreaker_script::meant;
use riskbreaker_work::WorkBudget;

/// The problems that a check has found, and what it has not examined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The problems, in the order of the files and lines.
    pub problems: Vec<Problem>,
    /// The files and parts of files that were not examined: the budget was spent, the check was interrupted, or a file
    /// has too many problems. Empty after a complete check.
    pub unexamined: Vec<String>,
    /// Whether the check was interrupted.
    pub interrupted: bool,
}

impl CheckReport {
    /// The default budget of a check, about ten seconds, in units of which [`CheckReport::WORK_OF_BYTE`] reads one byte
    /// of a script.
    pub const WORK: u64 = 4_000_000_000;

    /// The work of reading one byte of a script or of data.
    pub const WORK_OF_BYTE: u64 = 200;

    /// Whether something was not examined.
    pub fn is_partial(&self) -> bool {
        !self.unexamined.is_empty()
    }

    /// Whether it has found nothing but warnings.
    pub fn is_passed(&self) -> bool {
        self.problems.iter().all(|problem| problem.is_warning)
    }

    /// Returns the problems. After a partial check, the last one names what was not examined.
    fn into_problems(self, id: &str) -> Vec<Problem> {
        let CheckReport { mut problems, unexamined, .. } = self;
        problems.retain(|problem| !problem.is_warning);
        if !unexamined.is_empty() {
            let problem =
                lints::unexamined::LINT.problem(id, format!("not examined: {}", first_and_count(&unexamined)));
            problems.push(problem.with_cure("correct what is listed, or split the ruleset, and check again"));
        }
        problems
    }
}

/// Returns the first ten names and the number of the others: `a, b and 3 more`.
pub fn first_and_count(names: &[String]) -> String {
    const NAMED: usize = 10;
    match names.len().checked_sub(NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

/// Returns all problems of a ruleset, in the order of its files and lines: load errors, unknown names, switches that
/// nothing reads, rules without a text, state kept between calls, and others.
///
/// For the parents, only load errors are reported. `game+house` checks the layer `house` over `game`, without the files
/// of `game`. The time limits of loading apply. If the ruleset needs more work than [`CheckReport::WORK`], the last
/// problem names what was not examined.
pub fn findings(library: &Library, id: &str, layers: &[String]) -> Vec<Problem> {
    check(library, id, layers, &WorkBudget::new(CheckReport::WORK)).into_problems(id)
}

/// Checks a ruleset as [`findings`] does, within a budget of work. If the budget is spent or interrupted, the report
/// names what was not examined.
pub fn check(library: &Library, id: &str, layers: &[String], budget: &WorkBudget) -> CheckReport {
    run(library, id, layers, Depth::Everything, budget)
}

/// Checks a ruleset as [`findings`] does, but does not set up the scenarios, which makes it fast enough for every save.
///
/// The check ends soon after `stop` is set, and then the list is incomplete.
pub fn findings_at_save(library: &Library, id: &str, layers: &[String], stop: &Arc<AtomicBool>) -> Vec<Problem> {
    let budget = WorkBudget::new(CheckReport::WORK).until(stop);
    let problems = run(library, id, layers, Depth::Files, &budget).problems.into_iter();
    problems.filter(|problem| !problem.is_warning).collect()
}

/// The number of problems after which no further files are read.
const MOST_PROBLEMS: usize = 2_000;

/// The work of setting up a scenario, without its scripts.
const WORK_OF_SCENARIO: u64 = 200_000;

/// How much is checked.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Files,
    /// The files, and whether every scenario can be set up.
    Everything,
}

fn run(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> CheckReport {
    analyse(library, id, layers, depth, budget).report
}

fn analyse(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> Analysis {
    let (library, name, layers, budget) = (library.clone(), id.to_string(), layers.to_vec(), budget.clone());
    // Nested code is read by recursion. The large stack keeps deep nesting from ending the host.
    let reader = thread::Builder::new().name("check".into()).stack_size(MACHINE_STACK);
    let found = reader.spawn(move || find(&library, &name, &layers, depth, &budget)).map(thread::JoinHandle::join);
    match found {
        Ok(Ok(found)) => found,
        _ => {
            let problem = lints::unexamined::LINT.problem(id, "could not be checked: the check itself failed");
            Analysis::of(CheckReport { problems: vec![problem], ..CheckReport::default() })
        }
    }
}

fn find(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> Analysis {
    let stack = match Stack::resolve(library, id, layers) {
        Ok(stack) => Arc::new(stack),
        Err(error) => {
            return Analysis::of(CheckReport { problems: of_loading(error.problems), ..CheckReport::default() });
        }
    };
    // For `game+house`, only the house rules are checked.
    let own = stack.main().index + usize::from(id.contains('+'));
    let nothing_examined = |problems| {
        let unexamined = paths_from(&stack, own).collect();
        Analysis::of(CheckReport { problems, unexamined, interrupted: budget.is_interrupted() })
    };
    if budget.is_spent() {
        return nothing_examined(Vec::new());
    }
    let (rules, mut found) = match Ruleset::load_read(stack.clone(), &with_layers(id, layers).1) {
        Ok(rules) => (Some(rules), Vec::new()),
        Err(error) => (None, of_loading(error.problems)),
    };
    let Some(known) = KnownNames::new(&stack, rules.as_deref().map(Ruleset::book), budget) else {
        return nothing_examined(found);
    };
    let Scripts { used, words, mut unreadable, mut idle, mut unexamined } =
        read_scripts(&stack, own, &known, &mut found);
    for part in &stack.parts()[own..] {
        for base in part.manifest().over.iter().filter(|base| !library.contains(&base.id)) {
            let message = format!("`over` names `{}`, which is not there", base.id);
            let problem = lints::unknown_name::LINT.problem(part.manifest_path(), message);
            found.push(problem.at((base.line, base.column)).with_cure(library.instead_of(&base.id)));
        }
    }
    if unexamined.is_empty() {
        found.extend(unread_files(&stack, own, &used));
    } else {
        // What the unread files use is not known.
        unreadable = true;
    }
    found.extend(known.no_rule_text());
    if let Some(rules) = &rules {
        found.extend(words_for_nothing(library, &stack, own, (rules, &known)));
        found.extend(facts::findings(&stack, own, rules));
    }
    found.extend(wrong_switches(&stack, own, &known, &found, &words, unreadable));
    // If a file cannot be read, what other files lack because of it is not their mistake.
    if unreadable {
        found.retain(|problem| problem.line.is_some() || !problem.message.contains(" needs `"));
    }
    if let Some(rules) = &rules {
        // A line that already has a problem gets no second one.
        let of_data = of_data(&stack, own, rules, &known, &mut unexamined);
        let scenarios = match depth {
            Depth::Everything => scenarios_that_fail(rules, budget, &mut unexamined),
            Depth::Files => Vec::new(),
        };
        for more in [of_data, scenarios] {
            let told: HashSet<_> = found.iter().map(|one| (one.path.clone(), one.line)).collect();
            found.extend(more.into_iter().filter(|problem| !told.contains(&(problem.path.clone(), problem.line))));
        }
    }
    for problem in found.iter_mut().chain(&mut idle) {
        if let Some(text) = stack.text_of(&problem.path) {
            place(problem, text);
        }
    }
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
    Analysis { report, own, stack: Some(stack), rules, names: Some(names) }
}

/// Marks problems that loading has found.
fn of_loading(problems: Vec<Problem>) -> Vec<Problem> {
    problems.into_iter().map(|problem| lints::load::LINT.finds(problem)).collect()
}

/// Returns what the comments in the scripts and data files of a stack allow, from a part on.
fn allowances(stack: &Stack, own: usize) -> Vec<Allowances> {
    let files = stack.parts()[own..].iter().flat_map(|part| part.folder.files.values());
    files.map(Allowances::of).collect()
}

/// Returns the paths of the scripts and data files of a stack, from a part on.
fn paths_from(stack: &Stack, own: usize) -> impl Iterator<Item = String> {
    let files = stack.parts()[own..].iter().flat_map(|part| part.folder.files.values());
    files.filter(|source| source.kind().is_some()).map(|source| source.path.to_string())
}

/// What the scripts of a stack use and declare.
#[derive(Default)]
struct Scripts {
    /// The files that scripts require.
    used: BTreeSet<String>,
    /// All names and texts in the scripts.
    words: BTreeSet<String>,
    /// Whether some script cannot be read.
    unreadable: bool,
    /// Problems of hooks that nothing attaches.
    idle: Vec<Problem>,
    /// The files that were not read to their end.
    unexamined: Vec<String>,
}

/// Reads the scripts of a stack and adds their problems to `found`.
fn read_scripts(stack: &Stack, own: usize, known: &KnownNames<'_>, found: &mut Vec<Problem>) -> Scripts {
    let mut scripts = Scripts::default();
    for (part, path, source) in stack.scripts() {
        // Specs of the parents are not part of this ruleset.
        if stack.is_spec_of_another(part, path) || part < own && path.starts_with("specs/") {
            continue;
        }
        if found.len() >= MOST_PROBLEMS || !known.spend_on(source) {
            scripts.unexamined.push(source.path.to_string());
            continue;
        }
        let mut reader = ScriptReader::new(known, part, path, source);
        reader.read();
        if reader.is_over() {
            scripts.unexamined.push(reader.rest());
        }
        scripts.used.append(&mut reader.required);
        if !path.starts_with("specs/") {
            scripts.words.append(&mut reader.words);
        }
        if part >= own {
            if reader.reads && !reader.always {
                scripts.idle.extend(unattached(known, path, source));
            }
            // A problem that the check finds replaces the load error of the same line, because it is more precise.
            let surer = |problem: &Problem| {
                let same = |found: &Problem| !found.is_warning && (found.line == problem.line || !reader.reads);
                problem.path == source.path && reader.found.iter().any(same)
            };
            found.retain(|problem| !surer(problem));
            scripts.unreadable |= !reader.reads;
            found.append(&mut reader.found);
        }
    }
    scripts
}

/// Returns the problems of switches: those that nothing reads, and those that name unknown rules.
fn wrong_switches(
    stack: &Stack,
    own: usize,
    known: &KnownNames<'_>,
    found: &[Problem],
    words: &BTreeSet<String>,
    unreadable: bool,
) -> Vec<Problem> {
    let mut wrong = Vec::new();
    for switch in stack.switches() {
        if !is_from(stack, own, &switch.path) {
            continue;
        }
        // A ruleset that cannot be played is extended by others, which may read the switch.
        let quoted = format!("`{}`", switch.name);
        let meant = || found.iter().any(|problem| problem.cure.as_ref().is_some_and(|cure| cure.contains(&quoted)));
        let unread = !words.contains(&switch.name) && !known.reads_switches_by_name() && !unreadable && !meant();
        if unread && stack.file("play").is_some() {
            let message = format!("nothing reads the switch `{}`", switch.name);
            let cure = format!("read it where it matters, by rb.switches.{}, or take it out", switch.name);
            wrong.push(lints::unread_switch::LINT.problem(&*switch.path, message).at((switch.line, 1)).with_cure(cure));
        }
        for id in &switch.rules {
            if let Some(message) = known.wrong_rule(id) {
                let line = line_from(stack, &switch.path, switch.line, id);
                let mut problem = lints::unknown_rule::LINT.problem(&*switch.path, message.0).with_cure(message.1);
                problem.line = Some(line);
                wrong.push(problem);
            }
        }
    }
    wrong
}

/// Whether a path belongs to one of the parts of a stack, from a part on.
fn is_from(stack: &Stack, own: usize, path: &str) -> bool {
    stack.parts()[own..].iter().any(|part| path.starts_with(&format!("{}/", part.id())))
}

/// Returns the problems of the data files of a ruleset and its layers.
fn of_data(
    stack: &Stack,
    own: usize,
    rules: &Rulebook,
    known: &KnownNames<'_>,
    unexamined: &mut Vec<String>,
) -> Vec<Problem> {
    let parts = &stack.parts()[own..];
    let files = parts.iter().flat_map(|part| &part.folder.files);
    let data = files.filter(|(path, _)| path.ends_with(".toml") && DATA_PLACES.iter().any(|place| inside(path, place)));
    let mut found = Vec::new();
    for (path, source) in data {
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

fn inside(path: &str, folder: &str) -> bool {
    path.split_once('/').is_some_and(|(first, _)| first == folder)
}

/// Returns the problem of a hook that nothing attaches; `None` if a script attaches it.
fn unattached(known: &KnownNames<'_>, path: &str, source: &Source) -> Option<Problem> {
    let id = path.strip_prefix("hooks/")?.rsplit_once('.')?.0;
    if known.names.is_attached(id) {
        return None;
    }
    let message = format!("nothing attaches the hook `{id}`, and it is not always on");
    let problem = lints::unattached_hook::LINT.problem(&*source.path, message);
    let line = 1 + source.text.lines().position(|line| line.contains("rb.hook"))?;
    let cure = format!("write `always = true` in it, or `rb.attach(\"{id}\", entity)` where it begins");
    Some(problem.at((line as u32, 1)).with_cure(cure))
}

/// Returns the problems of words of the prompt whose topic no question has. A ruleset that others extend may leave the
/// questions to them.
fn words_for_nothing(
    library: &Library,
    stack: &Stack,
    own: usize,
    (rules, known): (&Rulebook, &KnownNames<'_>),
) -> Vec<Problem> {
    let topics = known.names.topics();
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        for (word, topic) in &part.manifest().words {
            let is_near = || known.nearest(topic, topics.iter().map(String::as_str)).is_some();
            if topics.contains(topic) || rules.may_ask(topic) || (!is_near() && is_extended(library, part.id())) {
                continue;
            }
            let path = part.manifest_path();
            let line = line_from(stack, &path, 1, &format!("{word} = \"{topic}\""));
            let message = format!("the word `{word}` answers `{topic}`, and no question has that topic");
            let cure = instead(topic, topics.iter().map(String::as_str));
            found.push(lints::unknown_topic::LINT.problem(path, message).at((line, 1)).with_cure(cure));
        }
    }
    found
}

fn is_extended(library: &Library, id: &str) -> bool {
    let extends =
        |other: &String| library.manifest(other).is_ok_and(|other| other.extends.is_some_and(|base| base.id == id));
    library.ids().iter().any(extends)
}

/// Returns the first line, from a given one on, that contains a word; the given line if none does.
fn line_from(stack: &Stack, path: &str, line: u32, word: &str) -> u32 {
    let Some(text) = stack.text_of(path) else { return line };
    let on = text.lines().skip(line as usize - 1).position(|text| text.contains(word));
    line + on.unwrap_or_default() as u32
}

/// Gives a problem that has only a line a column: that of a name in its message, or the start of the line's text.
fn place(problem: &mut Problem, text: &str) {
    let (Some(line), None) = (problem.line, problem.column) else { return };
    let Some(text) = text.lines().nth(line as usize - 1) else { return };
    let named =
        problem.message.split('`').skip(1).step_by(2).find_map(|name| text.find(name).filter(|_| !name.is_empty()));
    let at = named.unwrap_or_else(|| text.len() - text.trim_start().len());
    problem.column = Some(text[..at].chars().count() as u32 + 1);
}

/// The folders of data files that the host reads without a script.
const DATA_PLACES: &[&str] = &["cast", "scenarios"];

/// Returns the problems of scripts that the host does not read and that no other script requires.
fn unread_files(stack: &Stack, own: usize, used: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (part, path, source) in stack.scripts() {
        let stem = path.trim_end_matches(".luau").trim_end_matches(".lua");
        let folder = path.split_once('/').map(|(folder, _)| folder);
        let placed = SCRIPT_FILES.contains(&folder.unwrap_or(stem))
            || folder.is_some_and(|folder| SCRIPT_FOLDERS.contains(&folder));
        // Modules in `lib` may be for rulesets that extend this one.
        if placed || folder == Some("lib") || used.contains(stem) || part < own {
            continue;
        }
        let near = match folder {
            Some(folder) => nearest(folder, SCRIPT_FOLDERS.iter().copied()),
            None => nearest(stem, SCRIPT_FILES.iter().copied()),
        };
        let problem = lints::unread_file::LINT.problem(&*source.path, "nothing reads this file");
        found.push(problem.with_cure(match (near, folder) {
            (Some(near), Some(_)) => format!("is its folder meant to be `{near}`?"),
            (Some(near), None) => format!("is its name meant to be `{near}.luau`?"),
            (None, _) => format!("require it by `{stem}`, or delete it"),
        }));
    }
    for (path, source) in stack.parts()[own..].iter().flat_map(|part| &part.folder.files) {
        let Some((folder, _)) = path.split_once('/').filter(|_| source.kind() == Some(SourceKind::Data)) else {
            continue;
        };
        if !DATA_PLACES.contains(&folder) {
            let cure = match nearest(folder, DATA_PLACES.iter().copied()) {
                Some(near) => format!("is its folder meant to be `{near}`?"),
                None => format!("data stands in {}", DATA_PLACES.join("/ and ") + "/"),
            };
            found.push(lints::unread_file::LINT.problem(&*source.path, "nothing reads this file").with_cure(cure));
        }
    }
    for part in &stack.parts()[own..] {
        let misnamed = part.folder.misnamed.iter().filter_map(|path| Some((path, SourceKind::meant(path)?)));
        for (path, meant) in misnamed {
            let stem = meant.rsplit_once('.').map_or(&*meant, |(stem, _)| stem);
            let place = path.split_once('/').map_or(stem, |(folder, _)| folder);
            let of_scripts = SCRIPT_FILES.contains(&place) || SCRIPT_FOLDERS.contains(&place) || place == "lib";
            if of_scripts || DATA_PLACES.contains(&place) {
                let problem =
                    lints::unread_file::LINT.problem(format!("{}/{path}", part.id()), "nothing reads this file");
                found.push(problem.with_cure(format!("is its name meant to be `{meant}`?")));
            }
        }
        for path in &part.folder.conflict_copies {
            let wrong = "a program for synchronisation has made this copy, and nothing reads it";
            let cure = "put what is right into the file and delete the copy";
            let path = format!("{}/{path}", part.id());
            found.push(lints::conflict_copy::LINT.problem(path, wrong).with_cure(cure));
        }
    }
    found
}

/// Returns the problems of scenarios that cannot be set up.
fn scenarios_that_fail(rules: &Arc<Ruleset>, budget: &WorkBudget, unexamined: &mut Vec<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for name in rules.scenarios().keys() {
        let path = format!("{}/scenarios/{name}.toml", rules.id());
        if !budget.spend(WORK_OF_SCENARIO) {
            unexamined.push(format!("{path} (setting it up)"));
            continue;
        }
        let mut setup = Setup { scenario: Scenario::Named(name.clone()), ..Setup::default() };
        for seat in rules.seats().keys() {
            setup = setup.seat(seat, Driver::Human);
        }
        let started = Session::start(rules, setup).map(|mut session| {
            let step = session.advance_by(1);
            budget.spend(session.work());
            step
        });
        match started {
            Err(error) => {
                let message = error.to_string();
                let (path, at) = data::blamed(rules, name, &message).unwrap_or((path, (1, 1)));
                let problem = lints::scenario_fails::LINT.problem(path, message).at(at);
                found.push(problem.with_cure("look at the values that it names"));
            }
            Ok(Ok(Step::Fault(fault))) => {
                let (message, meant) = meant(fault.message);
                let problem = match data::blamed(rules, name, &message) {
                    Some((path, at)) => lints::scenario_fails::LINT.problem(path, message).at(at),
                    None => {
                        let at = fault.path.unwrap_or_else(|| path.clone());
                        let message = format!("scenario `{name}`: {message}");
                        let mut problem = lints::scenario_fails::LINT.problem(at, message);
                        problem.line = fault.line;
                        problem
                    }
                };
                let cure = meant.or(fault.cure).unwrap_or_else(|| format!("the scenario `{name}` cannot be set up"));
                found.push(problem.with_cure(cure));
            }
            Ok(_) => {}
        }
    }
    // One mistake in `cast/` can keep many positions from being set up.
    let mut seen = BTreeSet::new();
    found.retain(|problem| seen.insert(problem.message.clone()));
    found
}
