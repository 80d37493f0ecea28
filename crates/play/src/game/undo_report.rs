//! The effect of an undo or a redo.

use std::sync::Arc;

use super::revision_note::RevisionNote;
use crate::{Happening, MASTER, Viewer};
use riskbreaker_state::Audience;

/// The effect of an undo or a redo.
pub struct UndoReport {
    pub text: String,
    /// The seat that decided.
    pub seat: Option<Arc<str>>,
    /// The viewers who may know the decision; others learn only whose it was.
    pub audience: Audience,
    pub changes: Vec<(Audience, Happening)>,
}

impl UndoReport {
    /// A report for everybody. `seat` is `None` for an act of the game master.
    pub fn open(text: String, seat: Option<Arc<str>>, changes: Vec<(Audience, Happening)>) -> UndoReport {
        UndoReport { text, seat, audience: Audience::Everybody, changes }
    }

    /// The report for a viewer, as a sentence.
    pub fn text_for(&self, viewer: &Viewer, verb: &str) -> String {
        if viewer.sees(&self.audience) { self.text.clone() } else { self.public_text(verb) }
    }

    fn public_text(&self, verb: &str) -> String {
        format!("{verb} a decision of {}", self.seat.as_deref().unwrap_or(MASTER))
    }

    pub(crate) fn note(&self, cause: &'static str, verb: &str) -> RevisionNote {
        RevisionNote { cause, text: self.text.clone(), public: self.public_text(verb), audience: self.audience.clone() }
    }
}
