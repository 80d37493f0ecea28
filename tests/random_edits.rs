//! Random edits in an editor, against a check of the same texts from nothing.
#![cfg(all(feature = "cli", feature = "check"))]

#[path = "files/editor.rs"]
mod editor;
mod files;

use std::collections::{BTreeMap, BTreeSet};

use editor::Editor;
use riskbreaker::check::{Analysis, CheckReport, check};
use riskbreaker::ruleset::Cure;
use riskbreaker::{Library, WorkBudget};
use serde_json::json;

const EDITS: usize = 1_000;

/// After so many edits, the diagnostics are compared. The edits between them interrupt each other's checks.
const BETWEEN: usize = 20;

/// A linear congruential generator: the same edits in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// A text with one random change: a line removed, doubled or moved, a word replaced by another one of the text, or a
/// letter removed.
fn edited(text: &str, chance: &mut Chance) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return "local rb = require(\"@riskbreaker\")\n".into();
    }
    let (at, other) = (chance.below(lines.len()), chance.below(lines.len()));
    let is_word = |word: &&str| !word.is_empty();
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(is_word).collect();
    match chance.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[other].clone()),
        2 => lines.swap(at, other),
        3 if !words.is_empty() => {
            let (word, instead) = (words[chance.below(words.len())], words[chance.below(words.len())]);
            lines[at] = lines[at].replacen(word, instead, 1);
        }
        4 => lines[at] = lines[at].replace("==", "=").replace("rb.", "rb:"),
        _ => {
            let letters = lines[at].chars().count();
            let gone = chance.below(letters);
            lines[at] = lines[at].chars().enumerate().filter(|(place, _)| *place != gone).map(|(_, one)| one).collect();
        }
    }
    lines.join("\n") + "\n"
}

/// The findings of a check from nothing, as `path:line message`.
fn fresh(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let budget = WorkBudget::new(CheckReport::WORK);
    shown(&check(&Library::from_files(files.clone()), "tug", &[], &budget))
}

/// The findings of a check, as `path:line message`.
fn shown(report: &CheckReport) -> BTreeSet<String> {
    let shown = |cure: Option<&Cure>| cure.map_or(String::new(), |cure| format!("\n{cure}"));
    report
        .problems
        .iter()
        .map(|one| format!("{}:{} {}{}", one.path, one.line.unwrap_or(1), one.message, shown(one.cure.as_ref())))
        .collect()
}

#[test]
fn after_random_edits_the_diagnostics_are_those_of_a_fresh_check() {
    let original = files::of(&["tug"]);
    let paths: Vec<String> =
        original.keys().filter(|path| path.ends_with(".luau") || path.ends_with(".toml")).cloned().collect();
    let mut files = original.clone();
    let mut editor = Editor::over(&["tug"]);
    paths.iter().for_each(|path| drop(editor.open(path)));
    let mut chance = Chance(7);
    for edit in 1..=EDITS {
        let path = &paths[chance.below(paths.len())];
        // Some edits are taken back, so that the ruleset does not stay broken.
        let text = match chance.below(3) {
            0 => original[path].clone(),
            _ => edited(&files[path], &mut chance),
        };
        editor.set(path, &text, &json!({ "text": &text }));
        files.insert(path.clone(), text);
        if edit % BETWEEN == 0 {
            assert_eq!(editor.all_diagnostics(), fresh(&files), "after {edit} edits");
            if edit % (4 * BETWEEN) == 0 {
                for path in &paths {
                    editor.set(path, &original[path], &json!({ "text": &original[path] }));
                }
                files = original.clone();
            }
        }
    }
    editor.end();
}

/// Edits of one file after the other, as an author makes them, each with a check that reuses what the last one has read.
fn edit_and_check_again(ruleset: &str, ids: &[&str], edits: usize) {
    let original = files::of(ids);
    let is_edited = |path: &&String| path.ends_with(".luau") || path.ends_with(".toml") || path.ends_with("RULES.md");
    let paths: Vec<&String> = original.keys().filter(is_edited).collect();
    let (mut files, mut chance) = (original.clone(), Chance(11));
    let budget = || WorkBudget::new(CheckReport::WORK);
    let mut last = Analysis::new(&Library::from_files(files.clone()), ruleset, &budget());
    let mut path = paths[0];
    for edit in 1..=edits {
        // Mostly the file of the last edit.
        if chance.below(4) == 0 {
            path = paths[chance.below(paths.len())];
        }
        match chance.below(8) {
            0 => files = original.clone(),
            1 => {
                drop(files.insert(format!("{}/lib/new{}.luau", ids[0], chance.below(3)), "return { new = 1 }\n".into()))
            }
            2 | 3 => drop(files.insert(path.clone(), original[path].clone())),
            _ => drop(files.insert(path.clone(), edited(&files[path], &mut chance))),
        }
        let library = Library::from_files(files.clone());
        let again = last.again(&library, ruleset, &budget());
        let (found, new) = (shown(&again.report), shown(&Analysis::new(&library, ruleset, &budget()).report));
        assert_eq!(found, new, "{ruleset}: edit {edit}, of {path}");
        last = again;
    }
}

#[test]
fn a_check_that_reuses_the_last_one_finds_what_a_new_check_finds() {
    edit_and_check_again("tug", &["tug"], 300);
    edit_and_check_again("arena", &["arena"], 100);
    let over = ["house-armour", "riskbreaker-0.0.1", "riskbreaker-common"];
    edit_and_check_again("riskbreaker-0.0.1+house-armour", &over, 15);
    edit_and_check_again("silent-winter", &["silent-winter"], 10);
}
