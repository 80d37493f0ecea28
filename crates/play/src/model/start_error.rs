//! The reasons why a game cannot begin.

use riskbreaker_ruleset::SwitchRefusal;

/// The reason why a game cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The ruleset has no such scenario.
    #[error("{ruleset} has no scenario `{name}`; {instead}")]
    NoScenario {
        /// The id of the ruleset.
        ruleset: String,
        /// The given name.
        name: String,
        /// The most similar name, or all names, as a clause.
        instead: String,
    },
    /// The ruleset has no such house rule.
    #[error("{0}")]
    Switch(String),
    /// A house rule does not accept its value.
    #[error(transparent)]
    SwitchValue(SwitchRefusal),
    /// The ruleset has no such seat or policy.
    #[error("{0}")]
    Seat(String),
    /// The rules of a saved game cannot be loaded.
    #[error(transparent)]
    Load(#[from] riskbreaker_ruleset::LoadError),
    /// A table is nested too deeply.
    #[error("a table in the starting position is nested more than {most} levels deep")]
    TooDeep {
        /// The largest depth that is allowed.
        most: usize,
    },
    /// The saved game cannot be read; contains the reason.
    #[error("the saved game cannot be read: {0}")]
    Unreadable(String),
    /// The saved game belongs to other rules, or its tape leads to another state.
    #[error("the saved game does not fit its rules: {0}")]
    Diverged(String),
}
