//! Migration: a running game changes to another ruleset. It can be previewed, takes effect at a boundary, and one undo takes it
//! back.

mod boundary;
mod comparison;
mod former;

use std::sync::Arc;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Serialize};

use super::{Fault, Ruleset, Session};

pub(super) use boundary::Pending;
pub use former::Former;

/// What other rules would do to a game, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Migration {
    /// The ruleset in force.
    pub from: String,
    /// The ruleset that is to come into force.
    pub to: String,
    /// What differs in the rules, a sentence each: ``changes `max_risk` of Kill Damage from 3 to 2``.
    pub changes: Vec<String>,
    /// What happens to each thing, sorted by [`MigrationFate`]: what needs attention comes first.
    pub notes: Vec<MigrationNote>,
    /// The agenda entry that it waits for; nothing where it comes into force with the next [`Session::advance`].
    pub waits_for: Option<String>,
}

/// What happens to one thing under other rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct MigrationNote {
    /// What happens to it.
    pub fate: MigrationFate,
    /// What it is about: a kind, the title of an entity, or a word of the ruleset.
    pub topic: String,
    /// What is to be said of it, as a sentence.
    pub text: String,
    /// The rule that is broken, for a breach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What can happen to a thing under other rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MigrationFate {
    /// The other rules cannot hold it: they do not come into force before it is changed.
    Refused,
    /// It breaks a rule of the other ruleset, and is taken over all the same.
    Breach,
    /// The game master has to look after it.
    Decide,
    /// It goes over as it is.
    Carried,
    /// The old rules do not have it.
    Defaulted,
    /// It was kept aside earlier and is restored.
    Returned,
    /// The new rules have no place for it: it is kept aside, and restored by rules that have one.
    Dormant,
}

/// Why a game cannot go over to other rules. Nothing has changed then.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// These rules are in force already.
    #[error("{0} is in force already")]
    Same(String),
    /// Nothing leads there: no conversion, and no ruleset that both extend.
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
    #[error("the game has not begun: its start has to end first, with an answer to everything that it asks")]
    NotBegun,
    /// No other rules are asked for.
    #[error("no change of rules is pending")]
    NothingPending,
    /// The notes say what is in the way.
    #[error("{to} cannot hold this game: {}", reasons(.notes))]
    Refused {
        /// The rules that were asked for.
        to: String,
        /// What they cannot hold, among all that was found.
        notes: Vec<MigrationNote>,
    },
    /// The script that converts the state did something wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn reasons(notes: &[MigrationNote]) -> String {
    notes.iter().map(|note| format!("{}: {}", note.topic, note.text)).collect::<Vec<_>>().join("; ")
}

impl MigrationFate {
    #[doc(hidden)]
    pub fn named(name: &str) -> Option<MigrationFate> {
        let found: Result<_, serde::de::value::Error> = MigrationFate::deserialize(name.into_deserializer());
        found.ok()
    }

    /// The word for it in a table.
    pub fn word(self) -> &'static str {
        match self {
            MigrationFate::Refused => "refused",
            MigrationFate::Breach => "breach",
            MigrationFate::Decide => "to decide",
            MigrationFate::Carried => "carried",
            MigrationFate::Defaulted => "new",
            MigrationFate::Returned => "there again",
            MigrationFate::Dormant => "kept aside",
        }
    }
}

impl Migration {
    /// The notes of one fate.
    pub fn of(&self, fate: MigrationFate) -> impl Iterator<Item = &MigrationNote> {
        self.notes.iter().filter(move |note| note.fate == fate)
    }

    /// Whether the game as it stands cannot go over.
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

impl Session {
    /// What the rules of another ruleset would do to the game as it stands. Nothing changes.
    ///
    /// # Errors
    ///
    /// No way leads there, or the script that converts the state fails.
    pub fn preview_rules(&self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        Ok(self.game().prepare(to, self.game().at_boundary())?.migration)
    }

    /// Asks for the rules of another ruleset. They take effect with the [`Session::advance`] that reaches the boundary of the
    /// ruleset in force, or between two actions if it declares none. The change is one entry of the game: one [`Session::undo`]
    /// takes it back. Until then they are [`Session::pending_rules`].
    ///
    /// # Errors
    ///
    /// As [`Session::preview_rules`], and a state that the other rules cannot hold. Nothing has changed then.
    pub fn change_rules(&mut self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        let migration = self.preview_rules(to)?.allowed()?;
        self.game_mut().ask_for(Some(to.clone()));
        Ok(migration)
    }

    /// The rules that are to come into force at the next boundary.
    pub fn pending_rules(&self) -> Option<&Arc<Ruleset>> {
        self.game().awaited()
    }

    /// Whether other rules would come into force here, before anything else is done.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn is_at_boundary(&self) -> bool {
        self.game().at_boundary()
    }

    /// Calls off what [`Session::change_rules`] asked for, as long as it has not come into force. An undo brings it back.
    ///
    /// # Errors
    ///
    /// [`MigrationError::NothingPending`].
    pub fn keep_rules(&mut self) -> Result<(), MigrationError> {
        self.pending_rules().ok_or(MigrationError::NothingPending)?;
        self.game_mut().ask_for(None);
        Ok(())
    }

    /// Puts the rules in force that were asked for, now that their boundary is reached.
    pub(crate) fn put_in_force(&mut self) {
        let asked = std::mem::take(&mut self.game_mut().pending);
        let Some(rules) = asked.into_iter().next_back().and_then(|pending| pending.rules) else { return };
        if let Err(error) = self.go_over(&rules) {
            let (id, may_read) = (rules.name(), self.game().readers_of_anything(&rules));
            self.game_mut().notice_to(&format!("{id} does not come into force: {error}"), may_read);
        }
    }

    /// Goes over to other rules at once, at a boundary. A recorded change of rules stood at one, also where the keys of entries
    /// have not been computed yet.
    pub(crate) fn go_over(&mut self, to: &Arc<Ruleset>) -> Result<(), MigrationError> {
        let mut ready = self.game().prepare(to, true)?;
        ready.migration = ready.migration.allowed()?;
        self.game_mut().install(ready);
        self.set_rules(to.clone());
        Ok(())
    }
}
