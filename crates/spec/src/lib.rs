//! Specs: tests of rules as examples with dice. Finds and plays them, and computes which rules they cover.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod case;
mod checked_step;
mod coverage;
mod events;
mod from_game;
mod lines;
mod methods;
mod odds;
mod reach;
mod refusals;
mod report;
mod runner;

pub use coverage::{Coverage, RuleLine, RuleStatus};
#[doc(hidden)]
pub use coverage::{is_id, leading_ids};
#[doc(hidden)]
pub use events::SORTS as EVENT_SORTS;
pub use from_game::{spec_of_fault, spec_of_game, spec_of_unended};
pub use lines::{FileLines, LineCoverage};
pub use reach::{SpecChoice, SpecReach};
#[doc(hidden)]
pub use refusals::KINDS as REFUSAL_KINDS;
pub use report::{SpecFailure, SpecReport, SpecResult, SpecTrace, SpecWarning};
pub use runner::{SpecRun, SpecSource, run_specs};

use runner::SpecRulesets;
