//! The check of a ruleset: mistakes that are no load errors. They would show only in play, or never.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod analysis;
mod calls;
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
mod member;
mod members;
mod names;
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

pub use self::analysis::Analysis;
use self::known::KnownNames;
pub use self::members::Members;
use self::script::ScriptReader;
use riskbreaker_play::{Driver, MACHINE_STACK, Ruleset, Scenario, Session, Setup, Step};
use riskbreaker_ruleset::{
    Library, Problem, Rulebook, SCRIPT_FILES, SCRIPT_FOLDERS, Source, SourceKind, Stack, instead, nearest, with_layers,
};
use riskbreaker_script::meant;
use riskbreaker_work::WorkBudget;

/// What a check has found, and how far it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// In the order of the files and lines.
    pub problems: Vec<Problem>,
    /// What was not examined, since the budget was spent, the check was interrupted, or a file has too many problems: files, and
    /// pieces of files. Empty after a whole check.
    pub unexamined: Vec<String>,
    /// Whether somebody interrupted the check.
    pub interrupted: bool,
}

impl CheckReport {
    /// The work of a check by default: about ten seconds. To read a byte of a script is [`CheckReport::WORK_OF_BYTE`].
    pub const WORK: u64 = 4_000_000_000;

    /// The work of reading a byte of a script or of data.
    pub const WORK_OF_BYTE: u64 = 200;

    /// Whether something was not examined.
    pub fn is_partial(&self) -> bool {
        !self.unexamined.is_empty()
    }

    /// The problems. After a partial check, the last one names what was not examined.
    fn into_problems(self, id: &str) -> Vec<Problem> {
        let CheckReport { mut problems, unexamined, .. } = self;
        if !unexamined.is_empty() {
            let problem = Problem::new(id, format!("not examined: {}", first_and_count(&unexamined)));
            problems.push(problem.with_cure("correct what is listed, or split the ruleset, and check again"));
        }
        problems
    }
}

/// The first of some names, and the number of the others: `a, b and 3 more`.
pub fn first_and_count(names: &[String]) -> String {
    const NAMED: usize = 10;
    match names.len().checked_sub(NAMED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

/// All problems of a ruleset, in the order of its files and lines: load errors, unknown names, switches that nothing
/// reads, rules without a text, state kept between calls, and others.
///
/// Of the rulesets below it, only load errors are reported. `game+house` checks the layer `house` over `game`, without
/// the files of `game`. The time limits of loading hold here, too. If the ruleset is more than [`CheckReport::WORK`] covers, the
/// last problem names what was not examined.
pub fn findings(library: &Library, id: &str, layers: &[String]) -> Vec<Problem> {
    check(library, id, layers, &WorkBudget::new(CheckReport::WORK)).into_problems(id)
}

/// The same within a budget of work. Once that is spent, or interrupted, the report names what was not examined.
pub fn check(library: &Library, id: &str, layers: &[String], budget: &WorkBudget) -> CheckReport {
    run(library, id, layers, Depth::Everything, budget)
}

/// The same without setting up the scenarios, which is fast enough for every save.
///
/// The check stops soon after `stop` is set, and then returns an incomplete list.
pub fn findings_at_save(library: &Library, id: &str, layers: &[String], stop: &Arc<AtomicBool>) -> Vec<Problem> {
    let budget = WorkBudget::new(CheckReport::WORK).until(stop);
    run(library, id, layers, Depth::Files, &budget).problems
}

/// When so many problems are found, the files that are left are not read.
const MOST_PROBLEMS: usize = 2_000;

/// The work of setting up a scenario, without its scripts.
const WORK_OF_SCENARIO: u64 = 200_000;

/// How much is checked.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Files,
    /// The files, and that every scenario can be set up.
    Everything,
}

fn run(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> CheckReport {
    analyse(library, id, layers, depth, budget).report
}

fn analyse(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> Analysis {
    let (library, name, layers, budget) = (library.clone(), id.to_string(), layers.to_vec(), budget.clone());
    // Nested code is read by recursion: a large stack keeps deep nesting from ending the host.
    let reader = thread::Builder::new().name("check".into()).stack_size(MACHINE_STACK);
    let found = reader.spawn(move || find(&library, &name, &layers, depth, &budget)).map(thread::JoinHandle::join);
    match found {
        Ok(Ok(found)) => found,
        _ => {
            let problem = Problem::new(id, "could not be checked: the check itself failed");
            Analysis::of(CheckReport { problems: vec![problem], ..CheckReport::default() })
        }
    }
}

fn find(library: &Library, id: &str, layers: &[String], depth: Depth, budget: &WorkBudget) -> Analysis {
    let stack = match Stack::resolve(library, id, layers) {
        Ok(stack) => Arc::new(stack),
        Err(error) => return Analysis::of(CheckReport { problems: error.problems, ..CheckReport::default() }),
    };
    // `game+house` asks about the house rules alone.
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
        Err(error) => (None, error.problems),
    };
    let Some(known) = KnownNames::new(&stack, rules.as_deref().map(Ruleset::book), budget) else {
        return nothing_examined(found);
    };
    let Scripts { used, words, mut unreadable, mut idle, mut unexamined } =
        read_scripts(&stack, own, &known, &mut found);
    for part in &stack.parts()[own..] {
        for base in part.manifest().over.iter().filter(|base| !library.contains(&base.id)) {
            let problem = Problem::new(part.manifest_path(), format!("`over` names `{}`, which is not there", base.id));
            found.push(problem.at((base.line, base.column)).with_cure(library.instead_of(&base.id)));
        }
    }
    if unexamined.is_empty() {
        found.extend(unread_files(&stack, own, &used));
    } else {
        // What they use is not known.
        unreadable = true;
    }
    found.extend(known.no_rule_text());
    if let Some(rules) = &rules {
        found.extend(words_for_nothing(library, &stack, own, (rules, &known)));
        found.extend(facts::findings(&stack, own, rules));
    }
    found.extend(wrong_switches(&stack, own, &known, &found, &words, unreadable));
    // What another file lacks because of one that cannot be read is no mistake of its own.
    if unreadable {
        found.retain(|problem| problem.line.is_some() || !problem.message.contains(" needs `"));
    }
    if let Some(rules) = &rules {
        // What is found of a line of which something was found already says nothing new.
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
    if found.is_empty() {
        // A card that is wrong may be what attaches them.
        found.append(&mut idle);
    }
    for problem in &mut found {
        if let Some(text) = stack.text_of(&problem.path) {
            place(problem, text);
        }
    }
    found.sort();
    found.dedup_by(|one, two| one.path == two.path && one.line == two.line && one.message == two.message);
    let report = CheckReport { problems: found, unexamined, interrupted: budget.is_interrupted() };
    let names = known.names;
    Analysis { report, own, stack: Some(stack), rules, names: Some(names) }
}

/// The scripts and data files of a stack from a part on.
fn paths_from(stack: &Stack, own: usize) -> impl Iterator<Item = String> {
    let files = stack.parts()[own..].iter().flat_map(|part| part.folder.files.values());
    files.filter(|source| source.kind().is_some()).map(|source| source.path.to_string())
}

/// What the scripts of a stack say of the other files.
#[derive(Default)]
struct Scripts {
    /// Files that they require.
    used: BTreeSet<String>,
    /// Every name and every text in them.
    words: BTreeSet<String>,
    /// Whether some cannot be read.
    unreadable: bool,
    /// Hooks that nothing attaches.
    idle: Vec<Problem>,
    /// Files that were not read to their end.
    unexamined: Vec<String>,
}

/// Reads the scripts, and adds what is wrong with them.
fn read_scripts(stack: &Stack, own: usize, known: &KnownNames<'_>, found: &mut Vec<Problem>) -> Scripts {
    let mut scripts = Scripts::default();
    for (part, path, source) in stack.scripts() {
        // Specs of the rulesets below do not concern this one.
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
            // A finding of the check replaces the load error of the same line, since it is more precise.
            let surer = |problem: &Problem| {
                let same = |found: &Problem| found.line == problem.line || !reader.reads;
                problem.path == source.path && reader.found.iter().any(same)
            };
            found.retain(|problem| !surer(problem));
            scripts.unreadable |= !reader.reads;
            found.append(&mut reader.found);
        }
    }
    scripts
}

/// Switches that nothing reads, or that name rules which are not there.
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
        // A ruleset that cannot be played is there for others to extend, and they may read it.
        let quoted = format!("`{}`", switch.name);
        let meant = || found.iter().any(|problem| problem.cure.as_ref().is_some_and(|cure| cure.contains(&quoted)));
        let unread = !words.contains(&switch.name) && !known.reads_switches_by_name() && !unreadable && !meant();
        if unread && stack.file("play").is_some() {
            let message = format!("nothing reads the switch `{}`", switch.name);
            let cure = format!("read it where it matters, by rb.switches.{}, or take it out", switch.name);
            wrong.push(Problem::new(&*switch.path, message).at((switch.line, 1)).with_cure(cure));
        }
        for id in &switch.rules {
            if let Some(message) = known.wrong_rule(id) {
                let line = line_from(stack, &switch.path, switch.line, id);
                let mut problem = Problem::new(&*switch.path, message.0).with_cure(message.1);
                problem.line = Some(line);
                wrong.push(problem);
            }
        }
    }
    wrong
}

/// Whether a file is in one of the parts of a stack from a place on.
fn is_from(stack: &Stack, own: usize, path: &str) -> bool {
    stack.parts()[own..].iter().any(|part| path.starts_with(&format!("{}/", part.id())))
}

/// Findings of the data files of a ruleset and its layers.
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

/// A hook that nothing ever puts on anybody.
fn unattached(known: &KnownNames<'_>, path: &str, source: &Source) -> Option<Problem> {
    let id = path.strip_prefix("hooks/")?.rsplit_once('.')?.0;
    if known.names.is_attached(id) {
        return None;
    }
    let problem = Problem::new(&*source.path, format!("nothing attaches the hook `{id}`, and it is not always on"));
    let line = 1 + source.text.lines().position(|line| line.contains("rb.hook"))?;
    let cure = format!("write `always = true` in it, or `rb.attach(\"{id}\", entity)` where it begins");
    Some(problem.at((line as u32, 1)).with_cure(cure))
}

/// Words of the prompt whose topic no question has. What other rulesets extend may leave the questions to them.
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
            found.push(
                Problem::new(path, message).at((line, 1)).with_cure(instead(topic, topics.iter().map(String::as_str))),
            );
        }
    }
    found
}

fn is_extended(library: &Library, id: &str) -> bool {
    let extends =
        |other: &String| library.manifest(other).is_ok_and(|other| other.extends.is_some_and(|base| base.id == id));
    library.ids().iter().any(extends)
}

/// The first line from a given one on in which a word stands; the given one where it stands in none.
fn line_from(stack: &Stack, path: &str, line: u32, word: &str) -> u32 {
    let Some(text) = stack.text_of(path) else { return line };
    let on = text.lines().skip(line as usize - 1).position(|text| text.contains(word));
    line + on.unwrap_or_default() as u32
}

/// Finds the column of a problem that has only its line: that of a name in its message, or where the line begins.
fn place(problem: &mut Problem, text: &str) {
    let (Some(line), None) = (problem.line, problem.column) else { return };
    let Some(text) = text.lines().nth(line as usize - 1) else { return };
    let named =
        problem.message.split('`').skip(1).step_by(2).find_map(|name| text.find(name).filter(|_| !name.is_empty()));
    let at = named.unwrap_or_else(|| text.len() - text.trim_start().len());
    problem.column = Some(text[..at].chars().count() as u32 + 1);
}

/// Folders of data files that the host reads by itself.
const DATA_PLACES: &[&str] = &["cast", "scenarios"];

/// Scripts that are in no place where the host looks, and that no other requires.
fn unread_files(stack: &Stack, own: usize, used: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (part, path, source) in stack.scripts() {
        let stem = path.trim_end_matches(".luau").trim_end_matches(".lua");
        let folder = path.split_once('/').map(|(folder, _)| folder);
        let placed = SCRIPT_FILES.contains(&folder.unwrap_or(stem))
            || folder.is_some_and(|folder| SCRIPT_FOLDERS.contains(&folder));
        // Modules in `lib` may be for those that extend this ruleset.
        if placed || folder == Some("lib") || used.contains(stem) || part < own {
            continue;
        }
        let near = match folder {
            Some(folder) => nearest(folder, SCRIPT_FOLDERS.iter().copied()),
            None => nearest(stem, SCRIPT_FILES.iter().copied()),
        };
        let problem = Problem::new(&*source.path, "nothing reads this file");
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
            found.push(Problem::new(&*source.path, "nothing reads this file").with_cure(cure));
        }
    }
    for part in &stack.parts()[own..] {
        let misnamed = part.folder.misnamed.iter().filter_map(|path| Some((path, SourceKind::meant(path)?)));
        for (path, meant) in misnamed {
            let stem = meant.rsplit_once('.').map_or(&*meant, |(stem, _)| stem);
            let place = path.split_once('/').map_or(stem, |(folder, _)| folder);
            let of_scripts = SCRIPT_FILES.contains(&place) || SCRIPT_FOLDERS.contains(&place) || place == "lib";
            if of_scripts || DATA_PLACES.contains(&place) {
                let problem = Problem::new(format!("{}/{path}", part.id()), "nothing reads this file");
                found.push(problem.with_cure(format!("is its name meant to be `{meant}`?")));
            }
        }
        for path in &part.folder.conflict_copies {
            let wrong = "a program for synchronisation has made this copy, and nothing reads it";
            let cure = "put what is right into the file and delete the copy";
            found.push(Problem::new(format!("{}/{path}", part.id()), wrong).with_cure(cure));
        }
    }
    found
}

/// Positions that cannot even be set up.
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
                found.push(Problem::new(path, message).at(at).with_cure("look at the values that it names"));
            }
            Ok(Ok(Step::Fault(fault))) => {
                let (message, meant) = meant(fault.message);
                let problem = match data::blamed(rules, name, &message) {
                    Some((path, at)) => Problem::new(path, message).at(at),
                    None => {
                        let at = fault.path.unwrap_or_else(|| path.clone());
                        let mut problem = Problem::new(at, format!("scenario `{name}`: {message}"));
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
    // One mistake in the cast keeps many positions from being set up.
    let mut seen = BTreeSet::new();
    found.retain(|problem| seen.insert(problem.message.clone()));
    found
}
