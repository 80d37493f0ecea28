//! A game that goes over to the rules of another ruleset: looked at first, done at a boundary, taken back by one undo.

use std::sync::Arc;

use serde::Serialize;

use super::{Fault, Session, SessionError};
use crate::ruleset::Ruleset;

/// What other rules would do to a game, or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// The ruleset in force.
    pub from: String,
    /// The ruleset that is to come into force.
    pub to: String,
    /// What becomes of what; what somebody has to look at comes first.
    pub notes: Vec<TransferNote>,
    /// The agenda entry that it waits for; nothing where it comes into force with the next [`Session::advance`].
    pub waits_for: Option<String>,
}

/// What becomes of one thing under other rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransferNote {
    pub fate: TransferFate,
    /// What it is about: a kind, the title of an entity, or a word of the ruleset.
    pub topic: String,
    pub text: String,
    /// The rule that is broken, for a breach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What becomes of a thing under other rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferFate {
    /// The other rules cannot hold it: they do not come into force before it is changed.
    Refused,
    /// It breaks a rule of the other ruleset, and is taken over all the same.
    Breach,
    /// The game master has to look after it.
    Decide,
    Carried,
    /// The old rules do not have it.
    Defaulted,
    /// It was kept aside, and is there again.
    Returned,
    /// The new rules have no place for it: it is kept aside until rules come that have one.
    Dormant,
}

/// Why a game cannot go over to other rules. Nothing has changed then.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    #[error("{0} is in force already")]
    Same(String),
    #[error(
        "there is no way from {from} to {to}: {to} has no convert/{from}.luau, and there is no ruleset that both of them extend"
    )]
    NoWay { from: String, to: String },
    #[error("the game is over")]
    Over,
    #[error("the game has not begun: advance it first")]
    NotBegun,
    #[error("no other rules are to come into force")]
    NothingPending,
    /// The notes say what is in the way.
    #[error("{to} cannot hold this game: {}", reasons(.notes))]
    Refused { to: String, notes: Vec<TransferNote> },
    /// The script that converts the state did something wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn reasons(notes: &[TransferNote]) -> String {
    notes.iter().map(|note| format!("{}: {}", note.topic, note.text)).collect::<Vec<_>>().join("; ")
}

impl TransferFate {
    pub(crate) fn named(name: &str) -> Option<TransferFate> {
        Some(match name {
            "refused" => TransferFate::Refused,
            "breach" => TransferFate::Breach,
            "decide" => TransferFate::Decide,
            "carried" => TransferFate::Carried,
            "defaulted" => TransferFate::Defaulted,
            "returned" => TransferFate::Returned,
            "dormant" => TransferFate::Dormant,
            _ => return None,
        })
    }

    /// The word for it in a table.
    pub fn word(self) -> &'static str {
        match self {
            TransferFate::Refused => "refused",
            TransferFate::Breach => "breach",
            TransferFate::Decide => "to decide",
            TransferFate::Carried => "carried",
            TransferFate::Defaulted => "new",
            TransferFate::Returned => "there again",
            TransferFate::Dormant => "kept aside",
        }
    }
}

impl Transfer {
    /// The notes of one fate.
    pub fn of(&self, fate: TransferFate) -> impl Iterator<Item = &TransferNote> {
        self.notes.iter().filter(move |note| note.fate == fate)
    }

    /// Whether the game as it stands cannot go over.
    pub fn is_refused(&self) -> bool {
        self.of(TransferFate::Refused).next().is_some()
    }

    pub(super) fn allowed(self) -> Result<Transfer, TransferError> {
        if self.is_refused() {
            let notes = self.of(TransferFate::Refused).cloned().collect();
            return Err(TransferError::Refused { to: self.to, notes });
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
    pub fn preview_rules(&self, to: &Arc<Ruleset>) -> Result<Transfer, TransferError> {
        Ok(self.game().prepare(to)?.transfer)
    }

    /// Asks for the rules of another ruleset. They come into force with the [`Session::advance`] that reaches the boundary
    /// which the ruleset in force declares (between two actions if it declares none), as one entry of the game: one
    /// [`Session::undo`] takes it back whole. Until then they are [`Session::pending_rules`].
    ///
    /// # Errors
    ///
    /// As [`Session::preview_rules`], and a state that the other rules cannot hold. Nothing has changed then.
    pub fn change_rules(&mut self, to: &Arc<Ruleset>) -> Result<Transfer, TransferError> {
        let transfer = self.preview_rules(to)?.allowed()?;
        self.game_mut().ask_for(to.clone());
        Ok(transfer)
    }

    /// The rules that are to come into force at the next boundary.
    pub fn pending_rules(&self) -> Option<&Arc<Ruleset>> {
        self.game().pending.as_ref().map(|pending| &pending.rules)
    }

    /// Calls off what [`Session::change_rules`] asked for, as long as it has not come into force.
    ///
    /// # Errors
    ///
    /// [`TransferError::NothingPending`].
    pub fn keep_rules(&mut self) -> Result<(), TransferError> {
        self.game_mut().pending.take().map(|_| ()).ok_or(TransferError::NothingPending)
    }

    /// Puts the rules in force that were asked for, now that their boundary is reached.
    pub(super) fn put_in_force(&mut self) {
        let Some(pending) = self.game_mut().pending.take() else { return };
        if let Err(error) = self.go_over(&pending.rules) {
            let id = pending.rules.name();
            self.game_mut().notice(&format!("{id} does not come into force: {error}"));
        }
    }

    /// Goes over to other rules at once.
    pub(super) fn go_over(&mut self, to: &Arc<Ruleset>) -> Result<(), TransferError> {
        let ready = self.game().prepare(to)?;
        let transfer = ready.transfer.allowed()?;
        self.game_mut().install(&transfer, ready.desk);
        self.set_rules(to.clone());
        Ok(())
    }

    /// As [`Session::advance`], but stops at the boundary that other rules wait for.
    pub(super) fn advance_within(&mut self) -> Result<super::Step, SessionError> {
        let standing = self.lend(|game, vm| game.advance(vm, u64::MAX))?;
        Ok(standing.into())
    }
}
