//! The beginnings of every shipped file, checked as if an author typed the file: nothing panics, and no check of a file
//! takes more than a second of work.
//!
//! A run checks a sample. `PREFIXES=all` checks every beginning that ends with a line, and more that end within one.
#![cfg(feature = "check")]

mod files;
mod parallel;

use std::collections::BTreeMap;
use std::panic;

use parallel::on_every_core;
use riskbreaker::check::{Analysis, CheckReport};
use riskbreaker::{Library, WorkBudget};

/// The rulesets whose files are typed, each with what else it needs.
const RULESETS: [(&str, &[&str]); 9] = [
    ("contest", &["contest"]),
    ("rbf", &["rbf"]),
    ("riskbreaker-common", &["riskbreaker-common"]),
    ("riskbreaker-0.0.1", &["riskbreaker-0.0.1", "riskbreaker-common"]),
    ("riskbreaker-0.0.3", &["riskbreaker-0.0.3", "riskbreaker-common"]),
    ("silent-winter", &["silent-winter"]),
    ("riskbreaker-0.0.1+house-armour", &["house-armour", "riskbreaker-0.0.1", "riskbreaker-common"]),
    ("riskbreaker-0.0.1+house-critical", &["house-critical", "riskbreaker-0.0.1", "riskbreaker-common"]),
    ("riskbreaker-0.0.3+house-taunt", &["house-taunt", "riskbreaker-0.0.3", "riskbreaker-common"]),
];

/// A second of work: [`CheckReport::WORK`] is about ten.
const SECOND: u64 = CheckReport::WORK / 10;

/// In a sample, every so manieth beginning is checked.
const SAMPLE: usize = 211;

/// Besides the ends of lines, a file is cut after every so many letters. It is no multiple of a tab stop.
const LETTERS: usize = 97;

/// The ends of the beginnings of a text, in bytes.
fn ends(text: &str) -> Vec<usize> {
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let letters = text.char_indices().map(|(at, _)| at).step_by(LETTERS);
    let mut ends: Vec<usize> = lines.chain(letters).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Checks beginnings of the files of a ruleset; returns their number, and what went wrong.
fn type_files((ruleset, ids): &(&str, &[&str]), step: usize) -> (usize, Vec<String>) {
    let files = files::shipped(ids);
    let analysis = Analysis::new(&Library::from_files(files.clone()), ruleset, &WorkBudget::new(CheckReport::WORK));
    let own = format!("{}/", ids[0]);
    let is_typed = |path: &&String| path.starts_with(&own) && (path.ends_with(".luau") || path.ends_with(".toml"));
    let typed: BTreeMap<&String, &String> = files.iter().filter(|(path, _)| is_typed(path)).collect();
    let (mut count, mut wrong) = (0, Vec::new());
    let mut last = None;
    for (at, (path, text, end)) in
        typed.iter().flat_map(|(path, text)| ends(text).into_iter().map(move |end| (*path, *text, end))).enumerate()
    {
        if at % step != 0 {
            continue;
        }
        let (beginning, budget) = (&text[..end], WorkBudget::new(CheckReport::WORK));
        drop(analysis.read_again(path, beginning, &budget));
        if budget.used() > SECOND {
            wrong.push(format!("{path} up to {:?} took {} of {SECOND}", tail(beginning), budget.used()));
        }
        count += 1;
        // Now and then the whole ruleset is checked with the unfinished file, as after each pause of an author.
        if count % 8 == 0 {
            let mut unfinished = files.clone();
            unfinished.insert(path.clone(), beginning.to_owned());
            let (library, budget) = (Library::from_files(unfinished), WorkBudget::new(CheckReport::WORK));
            let whole = last.as_ref().unwrap_or(&analysis).again(&library, ruleset, &budget);
            let failed =
                whole.report.problems.iter().find(|problem| problem.message.contains("the check itself failed"));
            wrong.extend(failed.map(|problem| format!("{path} up to {:?}: {problem}", tail(beginning))));
            last = Some(whole);
        }
    }
    (count, wrong)
}

/// The last letters of a text.
fn tail(text: &str) -> &str {
    let from = text.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    &text[from..]
}

#[test]
fn no_beginning_of_a_shipped_file_panics_or_takes_long() {
    let step = if std::env::var("PREFIXES").is_ok_and(|which| which == "all") { 1 } else { SAMPLE };
    // The check catches panics of its threads, so they are counted as they happen.
    static PANICS: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("check") {
            PANICS.lock().unwrap().push(info.to_string());
        } else {
            before(info);
        }
    }));
    let found = on_every_core(&RULESETS, |ruleset| type_files(ruleset, step));
    drop(panic::take_hook());
    let count: usize = found.iter().map(|(count, _)| count).sum();
    let wrong: Vec<String> = found.into_iter().flat_map(|(_, wrong)| wrong).collect();
    let panics = PANICS.lock().unwrap();
    println!("{count} beginnings");
    assert!(panics.is_empty() && wrong.is_empty(), "{}\n{}", panics.join("\n"), wrong.join("\n"));
    assert!(count >= 300, "only {count} beginnings");
}
