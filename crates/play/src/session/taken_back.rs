//! Undone decisions of a session.

use super::Session;
use crate::game::NumberedDecision;
use crate::{TakenBack, Viewer};

impl Session {
    /// The decisions that `steps` undos would take back, newest first, as far as the viewer may know them. Leaves the
    /// game unchanged. There may be fewer if earlier ones are only in the campaign of the session.
    pub fn would_take_back(&self, viewer: &Viewer, steps: usize) -> Vec<TakenBack> {
        let known = |decision: NumberedDecision| {
            let sees = viewer.sees(&decision.audience);
            let (about, text) = if sees { (decision.about, Some(decision.text)) } else { (None, None) };
            TakenBack { seat: decision.seat, about, text }
        };
        self.game().last_decisions(steps).into_iter().map(known).collect()
    }

    /// True if the rules let the viewer undo the last `decisions`, as far as this is known without a replay.
    #[cfg(feature = "serve")]
    pub fn lets_take_back(&self, viewer: &Viewer, decisions: u32) -> bool {
        self.game().may_take_back(viewer, decisions).is_ok()
    }

    /// True if an undone decision can be redone.
    pub fn can_redo(&self) -> bool {
        !self.game().redo.is_empty()
    }
}
