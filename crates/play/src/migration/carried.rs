//! The result of a change of rules.

use serde::Serialize;

use crate::{Fault, MigrationFate, MigrationNote};

/// The effects of a change of rules on a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Migration {
    /// The ruleset in force.
    pub from: String,
    /// The ruleset that takes effect.
    pub to: String,
    /// The differences in the rules, a sentence each: ``changes `max_risk` of Kill Damage from 3 to 2``.
    pub changes: Vec<String>,
    /// The effects on the game, sorted by [`MigrationFate`]: those that need attention come first.
    pub notes: Vec<MigrationNote>,
    /// The agenda entry that it waits for. `None` if it takes effect with the next [`Session::advance`](crate::Session::advance).
    pub waits_for: Option<String>,
}

/// The reason why a game cannot change to other rules. Leaves the game unchanged.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// These rules are in force already.
    #[error("{0} is in force already")]
    Same(String),
    /// The rulesets are not connected: there is no conversion, and no ruleset that both extend.
    #[error(
        "there is no way from {from} to {to}: {to} has no convert/{from}.luau, and there is no ruleset that both of them extend"
    )]
    NoWay {
        /// The rules in force.
        from: String,
        /// The rules that were asked for.
        to: String,
    },
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// The game has not begun.
    #[error("the game has not begun: answer the questions of its start first")]
    NotBegun,
    /// No change of rules is pending.
    #[error("no change of rules is pending")]
    NothingPending,
    /// The new rules cannot hold this game; the notes list the reasons.
    #[error("{to} cannot hold this game: {}", reasons(.notes))]
    Refused {
        /// The rules that were asked for.
        to: String,
        /// The effects of the rules, including the reasons.
        notes: Vec<MigrationNote>,
    },
    /// The conversion script failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn reasons(notes: &[MigrationNote]) -> String {
    notes.iter().map(|note| format!("{}: {}", note.topic, note.text)).collect::<Vec<_>>().join("; ")
}

impl Migration {
    /// The notes of one fate.
    pub fn of(&self, fate: MigrationFate) -> impl Iterator<Item = &MigrationNote> {
        self.notes.iter().filter(move |note| note.fate == fate)
    }

    /// True if the new rules cannot hold the game as it is now.
    pub fn is_refused(&self) -> bool {
        self.of(MigrationFate::Refused).next().is_some()
    }

    pub(crate) fn allowed(self) -> Result<Migration, MigrationError> {
        if self.is_refused() {
            let notes = self.of(MigrationFate::Refused).cloned().collect();
            return Err(MigrationError::Refused { to: self.to, notes });
        }
        Ok(self)
    }
}
