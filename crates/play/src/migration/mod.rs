//! Migration: a running game changes to another ruleset. It can be previewed, takes effect at a boundary, and is undone
//! by one undo.

mod boundary;
mod comparison;
mod former;

use std::sync::Arc;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Serialize};

use super::{Fault, Ruleset, Session};

pub(super) use boundary::Pending;
pub use former::Former;

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
    /// The agenda entry that it waits for. `None` if it takes effect with the next [`Session::advance`].
    pub waits_for: Option<String>,
}

/// The effect of other rules on one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct MigrationNote {
    /// The kind of effect.
    pub fate: MigrationFate,
    /// The subject: a kind, the title of an entity, or a name of the ruleset.
    pub topic: String,
    /// The effect, as a sentence.
    pub text: String,
    /// The id of the broken rule, for a breach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The possible effects of other rules on a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MigrationFate {
    /// The new rules cannot hold it. They do not take effect until it is changed.
    Refused,
    /// It breaks a rule of the new ruleset, but is carried over.
    Breach,
    /// The game master has to decide about it.
    Decide,
    /// It is carried over unchanged.
    Carried,
    /// The old rules do not have it, so it gets its default.
    Defaulted,
    /// It was dormant and is restored.
    Returned,
    /// The new rules do not have it. It becomes dormant and is restored under rules that have it.
    Dormant,
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

impl MigrationFate {
    #[doc(hidden)]
    pub fn named(name: &str) -> Option<MigrationFate> {
        let found: Result<_, serde::de::value::Error> = MigrationFate::deserialize(name.into_deserializer());
        found.ok()
    }

    /// The name of the fate in a table.
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

impl Session {
    /// Previews a change to another ruleset. Leaves the game unchanged.
    ///
    /// # Errors
    ///
    /// The rulesets are not connected, or the conversion script fails.
    pub fn preview_rules(&self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        Ok(self.game().prepare(to, self.game().at_boundary())?.migration)
    }

    /// Requests a change to another ruleset. It takes effect with the [`Session::advance`] that reaches the boundary of
    /// the current ruleset, or between two actions if that declares none. The change is one entry of the history: one
    /// [`Session::undo`] undoes it. Until then, [`Session::pending_rules`] returns the new rules.
    ///
    /// # Errors
    ///
    /// As [`Session::preview_rules`], or the other rules cannot hold the state. The game is unchanged then.
    pub fn change_rules(&mut self, to: &Arc<Ruleset>) -> Result<Migration, MigrationError> {
        let migration = self.preview_rules(to)?.allowed()?;
        self.game_mut().ask_for(Some(to.clone()));
        Ok(migration)
    }

    /// The rules that take effect at the next boundary. `None` if no change is pending.
    pub fn pending_rules(&self) -> Option<&Arc<Ruleset>> {
        self.game().awaited()
    }

    /// True if pending rules would take effect now, before the next action.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn is_at_boundary(&self) -> bool {
        self.game().at_boundary()
    }

    /// Cancels the change that [`Session::change_rules`] requested and that has not taken effect. Undo restores the
    /// request.
    ///
    /// # Errors
    ///
    /// [`MigrationError::NothingPending`].
    pub fn keep_rules(&mut self) -> Result<(), MigrationError> {
        self.pending_rules().ok_or(MigrationError::NothingPending)?;
        self.game_mut().ask_for(None);
        Ok(())
    }

    /// Puts the requested rules into force, at their boundary.
    pub(crate) fn put_in_force(&mut self) {
        let asked = std::mem::take(&mut self.game_mut().pending);
        let Some(rules) = asked.into_iter().next_back().and_then(|pending| pending.rules) else { return };
        if let Err(error) = self.go_over(&rules) {
            let (id, may_read) = (rules.name(), self.game().readers_of_anything(&rules));
            self.game_mut().notice_to(&format!("{id} does not come into force: {error}"), may_read);
        }
    }

    /// Changes to other rules at once, at a boundary. A replayed change of rules counts as at a boundary even if the
    /// keys of entries are not computed yet.
    pub(crate) fn go_over(&mut self, to: &Arc<Ruleset>) -> Result<(), MigrationError> {
        let mut ready = self.game().prepare(to, true)?;
        ready.migration = ready.migration.allowed()?;
        self.game_mut().install(ready);
        self.set_rules(to.clone());
        Ok(())
    }
}
