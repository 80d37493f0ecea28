//! Unfinished actions of a saved game.

use serde::{Deserialize, Serialize};

use super::open::Open;
use crate::{Cause, DicePosition, Fault, Tape};

/// A saved action that was not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedOpen {
    pub number: u32,
    pub cause: Cause,
    pub tape: Tape,
    pub before: DicePosition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// The fault with which the host stopped an endless game; a new run of the action would not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Box<Fault>>,
}

impl SavedOpen {
    pub fn of(open: &Open) -> SavedOpen {
        let Open { number, before, seq, goes_on, .. } = *open;
        let stopped = open.fault.clone().filter(|_| open.stopped);
        SavedOpen { number, cause: open.cause.clone(), tape: open.tape.clone(), before, seq, goes_on, stopped }
    }

    pub fn reopened(&self) -> Open {
        let mut open = Open::new(self.number, self.cause.clone(), self.before);
        open.tape = self.tape.clone();
        (open.seq, open.goes_on) = (self.seq, self.goes_on);
        (open.fault, open.stopped) = (self.stopped.clone(), self.stopped.is_some());
        open
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        [Some(self.number), self.seq].into_iter().flatten().chain(numbers_of(&self.tape, self.before))
    }
}

/// The numbers on a tape, and those in the position of the dice before it.
pub(crate) fn numbers_of(tape: &Tape, before: DicePosition) -> impl Iterator<Item = u32> {
    let slots = tape.slots.iter().flatten();
    slots.flat_map(|slot| slot.seqs().chain(numbers_at(slot.before()))).chain(numbers_at(before))
}

pub(crate) fn numbers_at(position: DicePosition) -> impl Iterator<Item = u32> {
    [u32::try_from(position.words >> 20).unwrap_or(u32::MAX), position.written].into_iter()
}

/// The largest number of an action, decision or die; no game reaches it.
pub(crate) const LARGEST_NUMBER: u32 = 1 << 30;
