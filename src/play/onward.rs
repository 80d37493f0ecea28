use std::sync::Arc;

use super::{Desk, DicePosition};
use crate::state::{Entry, EntryId};

/// Games that nobody watches run entry after entry without leaving the script machine: what that needs, and where it stands.
///
/// Entries that recur are put on the agenda again before they run, as everywhere.
#[derive(Debug)]
pub(crate) struct Onward {
    /// Most actions that may still be done.
    left: u64,
    /// Stop when this entry is due, unless it is the first.
    boundary: Option<Arc<str>>,
    /// Most entries in a row without a roll, a question or an outcome.
    most_idle: u32,
    pub idle: u32,
    /// Actions that have been done.
    pub done: u64,
    /// The action under way.
    pub current: Option<Current>,
}

/// The action that a game is in while it runs on.
#[derive(Debug)]
pub(crate) struct Current {
    pub entry: Entry,
    /// Where the dice stood when it began.
    pub before: DicePosition,
}

impl Onward {
    pub fn new(left: u64, boundary: Option<Arc<str>>, idle: u32, most_idle: u32) -> Onward {
        Onward { left, boundary, most_idle, idle, done: 0, current: None }
    }
}

impl Desk {
    /// Lets the action under way stand and takes the next entry off the agenda; nothing where it is not the time for one.
    ///
    /// `pulsed`: the action has rolled or asked.
    pub fn go_on(&mut self, pulsed: bool) -> Option<&Entry> {
        let before = self.position();
        let onward = self.onward.as_mut()?;
        if onward.current.take().is_some() {
            self.state.settle_unread();
            onward.done += 1;
            onward.left = onward.left.saturating_sub(1);
            if pulsed {
                onward.idle = 0;
            }
        }
        if self.state.outcome().is_some() || onward.left == 0 || onward.idle >= onward.most_idle {
            return None;
        }
        let first = self.state.agenda().first()?;
        if onward.done > 0 && onward.boundary.as_ref().is_some_and(|boundary| *boundary == first.what) {
            return None;
        }
        // What is left out is told, where somebody listens.
        if self.state.left_out().contains(&first.what) {
            return None;
        }
        onward.idle += 1;
        let id = first.id;
        let entry = self.take_entry(id)?;
        let onward = self.onward.as_mut()?;
        Some(&onward.current.insert(Current { entry, before }).entry)
    }

    /// The entry that runs, while the game runs on.
    pub fn due(&self) -> Option<&Entry> {
        Some(&self.onward.as_ref()?.current.as_ref()?.entry)
    }

    /// Takes an entry off the agenda; one that recurs is put there again at once, so that leaving it out ends nothing.
    pub fn take_entry(&mut self, id: EntryId) -> Option<Entry> {
        let entry = self.state.unschedule(id)?;
        if let Some(step) = &entry.every {
            let key = entry.key.plus(step);
            self.state.schedule(entry.what.clone(), key, entry.owner, entry.args.clone(), Some(*step));
        }
        Some(entry)
    }
}
