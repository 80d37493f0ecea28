use std::sync::Arc;

use crate::DicePosition;
use crate::memo::ExpectedOutcome;
use riskbreaker_state::Entry;

/// The headless loop, for games without readers: runs entry after entry inside the script machine.
///
/// Entries with a known trace are replayed instead of run.
#[derive(Debug)]
pub struct Headless {
    /// The number of actions that may still run.
    pub(crate) left: u64,
    /// The loop stops when this entry is due, unless it is the first.
    pub(crate) boundary: Option<Arc<str>>,
    /// The most successive entries without a roll, a question or an outcome.
    pub(crate) most_idle: u32,
    /// True if the ruleset decides ties between some entries.
    pub(crate) settles_ties: bool,
    pub idle: u32,
    /// Number of finished actions.
    pub done: u64,
    /// The running action.
    pub current: Option<Current>,
    /// The value of the context's `pulse` when that action began.
    pub(crate) pulse: u64,
    /// Set if replays have reached an entry that the script has to run. Holds the outcome to compare with, if the run
    /// is a check.
    pub(crate) replayed: Option<Option<ExpectedOutcome>>,
}

/// A running action of the headless loop.
#[derive(Debug)]
pub struct Current {
    pub entry: Entry,
    /// The position of the dice when it began.
    pub before: DicePosition,
}

impl Headless {
    pub fn new(left: u64, boundary: Option<Arc<str>>, idle: u32, most_idle: u32, settles_ties: bool) -> Headless {
        Headless { left, boundary, most_idle, settles_ties, idle, done: 0, current: None, pulse: 0, replayed: None }
    }

    /// Counts a finished action. `pulsed`: it has rolled or asked.
    pub(crate) fn count(&mut self, pulsed: bool) {
        self.done += 1;
        self.left = self.left.saturating_sub(1);
        self.idle = if pulsed { 0 } else { self.idle + 1 };
    }
}
