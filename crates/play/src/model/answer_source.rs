//! The origin of an answer that was chosen for a seat.

use std::fmt;
use std::sync::Arc;

/// The origin of an answer that was chosen for a seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AnswerSource {
    /// It was given with the query.
    Given,
    /// The default of the question.
    Default,
    /// The first possible answer, since the question has no default.
    First,
    /// A policy of the ruleset, by its name.
    Policy(Arc<str>),
    /// The answer that is worth most to the asked seat.
    Best,
}

impl fmt::Display for AnswerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerSource::Given => f.write_str("given"),
            AnswerSource::Default => f.write_str("default"),
            AnswerSource::First => f.write_str("first possible"),
            AnswerSource::Policy(policy) => write!(f, "policy {policy}"),
            AnswerSource::Best => f.write_str("best"),
        }
    }
}
