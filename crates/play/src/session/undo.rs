//! Undo and redo in a session.

use super::{Session, Step, Undone};
use crate::game::UndoOp;
use crate::{Refusal, Viewer};

/// The decisions up to a moment, for [`Session::back_to`].
#[derive(Clone, Debug)]
pub struct Mark {
    /// The identity of the game.
    game: u64,
    decisions: u32,
    /// The decisions that could be redone then, the next one last.
    redo: Vec<UndoOp>,
}

impl Session {
    /// Undoes the last decision of a person. Call [`Session::advance`] to continue from there.
    pub fn undo(&mut self) -> Result<Undone, Refusal> {
        self.undo_for(&Viewer::master())
    }

    /// Like [`Session::undo`], with a report for a viewer.
    #[doc(hidden)]
    pub fn undo_for(&mut self, viewer: &Viewer) -> Result<Undone, Refusal> {
        if self.game().undo_reaches_unplayed() {
            self.play_unplayed()?;
        }
        self.may_take_back(viewer, 1)?;
        let undone = self.game_mut().undo();
        self.rules = self.game().context.rules.clone();
        let report = undone?;
        self.game_mut().publish(Some(report.note("undo", "undid")));
        Ok(Undone::of(report, viewer, "undid"))
    }

    /// Refuses to undo the last `decisions` decisions if the viewer may not undo all of them.
    #[doc(hidden)]
    pub fn may_take_back(&mut self, viewer: &Viewer, decisions: u32) -> Result<(), Refusal> {
        if !viewer.is_master() {
            // The events that a viewer saw are unknown for actions that were loaded but not replayed.
            self.play_unplayed()?;
        }
        self.game().may_take_back(viewer, decisions)
    }

    /// Redoes the last undone decision.
    pub fn redo(&mut self) -> Result<Undone, Refusal> {
        self.redo_for(&Viewer::master())
    }

    /// Like [`Session::redo`], with a report for a viewer.
    #[doc(hidden)]
    pub fn redo_for(&mut self, viewer: &Viewer) -> Result<Undone, Refusal> {
        if self.game().awaited().is_some() {
            // Decisions after a change of rules can be redone only once the rules are in force.
            let _: Step = self.advance().map_err(Refusal::from)?;
        }
        let report = self.lend(|game, vm| game.redo(vm)).map_err(Refusal::from)??;
        self.game_mut().publish(Some(report.note("redo", "redid")));
        Ok(Undone::of(report, viewer, "redid"))
    }

    /// Marks the decisions up to now.
    pub fn mark(&self) -> Mark {
        let game = self.game();
        Mark { game: game.history.identity(), decisions: game.decisions(), redo: game.redo.clone() }
    }

    /// Removes the decisions made since a mark, as if they had not been made, for example those of a line that was
    /// refused half way. They cannot be redone; what could be redone at the mark can be redone again.
    ///
    /// # Errors
    ///
    /// The mark belongs to another session, such as a fork.
    pub fn back_to(&mut self, before: Mark) -> Result<(), Refusal> {
        if before.game != self.game().history.identity() {
            return Err(Refusal::new(
                "this mark belongs to another session; `Session::mark` of this one makes its marks",
            ));
        }
        self.take_back_to(before);
        self.rules = self.game().context.rules.clone();
        self.game_mut().publish(None);
        Ok(())
    }

    /// Like [`Session::back_to`], without events. Returns true if there were decisions to remove.
    pub(crate) fn take_back_to(&mut self, before: Mark) -> bool {
        let game = self.game_mut();
        let has_more = game.rewind(before.decisions);
        game.redo = before.redo;
        has_more
    }

    /// The number of decisions that are not undone: answers, edits, free acts. Each is undone by one [`Session::undo`].
    pub fn decisions(&self) -> u32 {
        self.game().decisions()
    }
}
