//! What is wrong with a ruleset beyond what keeps it from loading: mistakes that show only when they are played, or never.

mod known;
mod script;
mod typed;

use std::collections::BTreeSet;
use std::thread;

use self::known::Known;
use self::script::Reader;
use crate::play::{Driver, Scenario, Session, Setup, Step};
use crate::ruleset::{Library, Problem, Ruleset, Stack, nearest};
use crate::script::STACK;

/// Everything that is wrong with a ruleset, in the order of its files and lines: what keeps it from loading, and names
/// that nothing has, house rules that nothing reads, rules that stand in no text, state kept between calls, and the like.
///
/// Of rulesets below it only what keeps it from loading is told. It never runs longer than the loading itself allows.
pub fn findings(library: &Library, id: &str, layers: &[String]) -> Vec<Problem> {
    let (library, id, layers) = (library.clone(), id.to_string(), layers.to_vec());
    let name = id.clone();
    // Deep nesting is read by recursion, and what an author wrote must not end the host.
    let reader = thread::Builder::new().name("check".into()).stack_size(STACK);
    let found = reader.spawn(move || find(&library, &id, &layers)).map(thread::JoinHandle::join);
    match found {
        Ok(Ok(found)) => found,
        _ => vec![Problem::new(name, "could not be checked: the check itself failed")],
    }
}

fn find(library: &Library, id: &str, layers: &[String]) -> Vec<Problem> {
    let stack = match Stack::resolve(library, id, layers) {
        Ok(stack) => stack,
        Err(error) => return error.problems,
    };
    let (rules, mut found) = match Ruleset::load_with(library, id, layers) {
        Ok(rules) => (Some(rules), Vec::new()),
        Err(error) => (None, error.problems),
    };
    let known = Known::new(&stack, rules.as_deref());
    let mut used = BTreeSet::new();
    let mut words = BTreeSet::new();
    let mut scripts = Vec::new();
    let own = stack.main().index;
    for (part, path, source) in stack.scripts() {
        let mut reader = Reader::new(&known, part, path, source);
        reader.read();
        used.append(&mut reader.required);
        if !path.starts_with("specs/") {
            words.append(&mut reader.words);
        }
        if part >= own {
            found.append(&mut reader.found);
            let (path, text) = (source.path.clone(), source.text.to_string());
            scripts.push(typed::Script { path, text, calls: std::mem::take(&mut reader.calls) });
        }
    }
    for part in &stack.parts()[own..] {
        for base in part.manifest().over.iter().filter(|base| !library.contains(&base.id)) {
            let problem = Problem::new(part.manifest_path(), format!("`over` names `{}`, which is not there", base.id));
            found.push(problem.at((base.line, base.column)).with_cure(library.instead_of(&base.id)));
        }
    }
    found.extend(unread_files(&stack, &used));
    found.extend(known.no_rule_text());
    for switch in stack.switches() {
        let of_ours = stack.parts()[own..].iter().any(|part| switch.path.starts_with(&format!("{}/", part.id())));
        if !of_ours {
            continue;
        }
        // A ruleset that cannot be played is there for others to extend, and they may read it.
        if !words.contains(&switch.name) && !known.reads_switches_by_name() && stack.file("play").is_some() {
            let message = format!("nothing reads the switch `{}`", switch.name);
            let cure = format!("read it where it matters, by rb.switches.{}, or take it out", switch.name);
            found.push(Problem::new(&*switch.path, message).at((switch.line, 1)).with_cure(cure));
        }
        for id in &switch.rules {
            if let Some(message) = known.wrong_rule(id) {
                found.push(Problem::new(&*switch.path, message.0).at((switch.line, 1)).with_cure(message.1));
            }
        }
    }
    if let Some(rules) = &rules {
        // What is found of a line of which something was found already says nothing new.
        for more in [typed::findings(scripts, rules), scenarios_that_fail(rules)] {
            let told = |problem: &Problem| found.iter().any(|one| one.path == problem.path && one.line == problem.line);
            let new: Vec<Problem> = more.into_iter().filter(|problem| !told(problem)).collect();
            found.extend(new);
        }
    }
    found.sort();
    found.dedup_by(|one, two| one.path == two.path && one.line == two.line && one.message == two.message);
    found
}

/// Folders and files that the host reads by itself.
const PLACES: &[&str] = &["maneuvers", "items", "hooks", "policies", "convert", "specs"];
const FILES: &[&str] = &["kinds", "verbs", "play", "creation"];

/// Scripts that are in no place where the host looks, and that no other requires.
fn unread_files(stack: &Stack, used: &BTreeSet<String>) -> Vec<Problem> {
    let mut found = Vec::new();
    for (part, path, source) in stack.scripts() {
        let stem = path.trim_end_matches(".luau").trim_end_matches(".lua");
        let folder = path.split_once('/').map(|(folder, _)| folder);
        let placed = folder.map_or(FILES.contains(&stem), |folder| PLACES.contains(&folder) || FILES.contains(&folder));
        // Modules in `lib` may be for those that extend this ruleset.
        if placed || folder == Some("lib") || used.contains(stem) || part < stack.main().index {
            continue;
        }
        let near = match folder {
            Some(folder) => nearest(folder, PLACES.iter().copied()),
            None => nearest(stem, FILES.iter().copied()),
        };
        let problem = Problem::new(&*source.path, "nothing reads this file");
        found.push(problem.with_cure(match (near, folder) {
            (Some(near), Some(_)) => format!("is its folder meant to be `{near}`?"),
            (Some(near), None) => format!("is its name meant to be `{near}.luau`?"),
            (None, _) => format!("require it by `{stem}`, or delete it"),
        }));
    }
    found
}

/// Positions that cannot even be set up.
fn scenarios_that_fail(rules: &std::sync::Arc<Ruleset>) -> Vec<Problem> {
    let mut found = Vec::new();
    for name in rules.scenarios().keys() {
        let mut setup = Setup { scenario: Scenario::Named(name.clone()), ..Setup::default() };
        for seat in rules.seats().keys() {
            setup = setup.seat(seat, Driver::Human);
        }
        let path = format!("{}/scenarios/{name}.toml", rules.id());
        match Session::start(rules, setup).map(|mut session| session.advance_by(1)) {
            Err(error) => found.push(Problem::new(path, error.to_string())),
            Ok(Ok(Step::Fault(fault))) => {
                let at = fault.path.clone().unwrap_or_else(|| path.clone());
                let mut problem = Problem::new(at, format!("scenario `{name}`: {}", fault.message));
                problem.line = fault.line;
                problem.cure = fault.cure;
                found.push(problem);
            }
            Ok(_) => {}
        }
    }
    found
}
