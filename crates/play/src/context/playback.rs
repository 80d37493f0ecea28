//! The tape of an action while it is read and written.

use crate::{DicePosition, Slot, Tape};

/// The tape of the running action, and the place at which the run reads or writes it.
#[derive(Default)]
pub struct Playback {
    pub tape: Tape,
    /// The index of the next slot.
    pub cursor: usize,
    /// The position of the dice when the last slot was added to the tape, or when the run began.
    pub end: DicePosition,
    /// True if a tape that does not fit is a fault (a replay). If false, the tape is cut where it stops fitting.
    pub strict: bool,
    /// True if the `check` of a question may still refuse answers on a `strict` tape: a game may have been saved after
    /// an answer and before its action ran again.
    pub unread_answers: bool,
    /// Index of the first tape slot that did not fit and was dropped.
    pub dropped: Option<usize>,
    /// The tape slot at which the running race of questions began.
    pub race: Option<usize>,
}

impl Playback {
    /// True if the run has read all slots of the tape.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.cursor >= self.tape.slots.len()
    }

    /// The tape before the next roll or answer.
    pub fn before(&self) -> &[Option<Slot>] {
        self.tape.before(self.cursor)
    }
}
