//! Checks a ruleset for mistakes that loading does not find: they would show only in play, or never.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod allow;
mod analysis;
mod comment;
mod completion;
mod control_flow;
mod data;
mod data_words;
mod derived;
mod elsewhere;
mod fact;
mod facts;
mod implication;
mod inference;
mod kept_values;
mod lint;
mod lints;
mod members;
mod misspelling;
mod open_block;
mod place;
mod reader;
mod reading;
mod report;
mod script_messages;
mod spec_calls;
mod symbols;
mod syntax;
mod syntax_lints;
mod syntax_repair;
mod table_keys;
mod type_pieces;
mod value_use;
mod walk;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::analysis::{Depth, of_loading, run};
use riskbreaker_ruleset::{Library, Problem};
use riskbreaker_work::WorkBudget;

pub use self::analysis::Analysis;
pub use self::derived::derived_types;
pub use self::lint::{Example, Lint, Severity};
pub use self::lints::LINTS;
pub use self::lints::lost_field::lost_since;
pub use self::members::Members;
pub use self::report::{CheckReport, first_and_count};
#[doc(hidden)]
pub use self::type_pieces::{closing_bracket, pieces_of_type};

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

/// Returns the problems of folders that have files of a ruleset and are not read as one: their name is no id, or they
/// have no manifest.
pub fn left_out(library: &Library) -> Vec<Problem> {
    of_loading(library.left_out())
}
