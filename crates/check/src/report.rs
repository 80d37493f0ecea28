//! What a check has found.

use crate::lints::unexamined;
use riskbreaker_ruleset::Problem;

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
    pub(crate) fn into_problems(self, id: &str) -> Vec<Problem> {
        let CheckReport { mut problems, unexamined, .. } = self;
        problems.retain(|problem| !problem.is_warning);
        if !unexamined.is_empty() {
            let problem = unexamined::LINT.problem(id, format!("not examined: {}", first_and_count(&unexamined)));
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
