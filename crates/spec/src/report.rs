//! The results of specs.

use serde::Serialize;

use super::coverage::Coverage;
use super::lines::LineCoverage;
use riskbreaker_play::Fault;

/// The results of all specs of a ruleset.
#[derive(Debug, Serialize)]
pub struct SpecReport {
    /// The id of the ruleset.
    pub ruleset: String,
    /// The results in the order of the files and of the specs in each.
    pub results: Vec<SpecResult>,
    /// Files that could not be read as specs.
    pub broken: Vec<Fault>,
    /// The coverage of rules by specs.
    pub coverage: Coverage,
    /// The line coverage, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCoverage>,
    /// Specs that were not run, since the budget was spent or the run was interrupted: `FILE: NAME`, or the file alone
    /// if its specs are unknown. Empty after a complete run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unexamined: Vec<String>,
    /// True if the run was interrupted.
    pub interrupted: bool,
}

/// The result of one spec.
#[derive(Clone, Debug, Serialize)]
pub struct SpecResult {
    /// Its file.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Ids of the rules that it covers.
    pub rules: Vec<String>,
    /// The reason why it failed. `None` if it passed.
    pub failure: Option<SpecFailure>,
    /// True for a spec of a lower ruleset that passes there and has another result here. House rules may cause that, so
    /// it is no failure.
    pub overruled: bool,
    /// The trace of a spec that holds, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<SpecTrace>,
    /// Cards that were played in it.
    pub cards: Vec<String>,
    /// Suggestions for a spec that passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SpecWarning>,
}

/// A suggestion to write a part of a spec differently, though it passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SpecWarning {
    /// The line in the spec's file, from 1.
    pub line: Option<u32>,
    /// The problem, and what to write instead.
    pub text: String,
}

/// The steps of a spec: position, dice and log.
#[derive(Clone, Debug, Serialize)]
pub struct SpecTrace {
    /// The position at the start.
    pub given: String,
    /// The prepared faces of the dice.
    pub dice: Vec<u32>,
    /// The log of the game.
    pub log: Vec<String>,
}

/// The failure of a spec, with the game before it.
#[derive(Clone, Debug, Serialize)]
pub struct SpecFailure {
    /// The failed expectation, and its place.
    pub fault: Fault,
    /// The position that was given.
    pub given: String,
    /// The given faces.
    pub dice: Vec<u32>,
    /// The log of the game.
    pub log: Vec<String>,
}

impl SpecReport {
    /// The number of failed specs.
    pub fn failed(&self) -> usize {
        self.results.iter().filter(|result| result.has_failed()).count()
    }

    /// The number of passed specs.
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|result| result.failure.is_none()).count()
    }

    /// The suggestions, with the spec of each.
    pub fn warnings(&self) -> impl Iterator<Item = (&SpecResult, &SpecWarning)> {
        self.results.iter().flat_map(|result| result.warnings.iter().map(move |warning| (result, warning)))
    }

    /// Specs of lower rulesets that have another result under these rules.
    pub fn overruled(&self) -> impl Iterator<Item = &SpecResult> {
        self.results.iter().filter(|result| result.overruled)
    }

    /// True if every spec was read and run, and passed or is overruled.
    pub fn is_green(&self) -> bool {
        self.failed() == 0 && self.broken.is_empty() && !self.is_partial()
    }

    /// True if some specs were not run.
    pub fn is_partial(&self) -> bool {
        !self.unexamined.is_empty()
    }
}

impl SpecResult {
    /// True if it failed and is not overruled.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some() && !self.overruled
    }
}
