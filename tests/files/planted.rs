//! Plants a mistake in a correct ruleset and checks it.

use std::collections::BTreeMap;

use riskbreaker::check::{CheckReport, check};
use riskbreaker::ruleset::Problem;
use riskbreaker::{Library, WorkBudget};

/// The problems found in a ruleset with one mistake.
pub struct Planted {
    /// The line of the first character that differs, from 1.
    pub line: usize,
    pub found: Vec<Problem>,
}

/// Replaces one text, once, and checks the ruleset.
pub fn planted(mut files: BTreeMap<String, String>, ruleset: &str, path: &str, from: &str, to: &str) -> Planted {
    let text = files.get_mut(path).unwrap_or_else(|| panic!("there is no {path}"));
    let at = text.find(from).unwrap_or_else(|| panic!("{path} has no `{from}`"));
    let same = from.bytes().zip(to.bytes()).take_while(|(one, other)| one == other).count();
    let line = 1 + text[..at + same].matches('\n').count();
    *text = text.replacen(from, to, 1);
    Planted { line, found: all_findings(files, ruleset) }
}

/// Everything that is found in a ruleset, warnings too. The verbs of older rulesets have no types, which is left out.
pub fn all_findings(files: BTreeMap<String, String>, ruleset: &str) -> Vec<Problem> {
    let budget = WorkBudget::new(CheckReport::WORK);
    let mut found = check(&Library::from_files(files), ruleset, &[], &budget).problems;
    found.retain(|problem| problem.lint != Some("untyped-verb"));
    found
}
