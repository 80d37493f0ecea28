use std::sync::Arc;

use super::{Desk, DicePosition, Played};
use crate::state::{Entry, EntryId};

/// Games that nobody watches run entry after entry without leaving the script machine: what that needs, and where it stands.
///
/// Entries that recur are put on the agenda again before they run, as everywhere. What is known by rote is done on the way.
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
    /// No script has been told of it yet.
    pub waits: bool,
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
        Onward { left, boundary, most_idle, idle, done: 0, current: None, waits: false }
    }

    /// An action is over; `pulsed`: it has rolled or asked.
    fn count(&mut self, pulsed: bool) {
        self.done += 1;
        self.left = self.left.saturating_sub(1);
        if pulsed {
            self.idle = 0;
        }
    }
}

impl Desk {
    /// Lets the action under way stand and takes the next entry off the agenda that a script has to run; nothing where it is
    /// not the time for one.
    ///
    /// `pulsed`: the action has rolled or asked. `played`: the card that was played in it.
    pub fn go_on(&mut self, pulsed: bool, played: impl FnOnce() -> Option<Played>) -> Option<&Entry> {
        let onward = self.onward.as_mut()?;
        if std::mem::take(&mut onward.waits) {
            return self.due();
        }
        if onward.current.take().is_some() {
            self.state.settle_unread();
            onward.count(pulsed);
            if let Some(rote) = &mut self.rote {
                rote.learn(&self.state, pulsed, played);
            }
        }
        if self.rote.is_some() {
            self.recall()?;
        }
        let id = self.next_due()?.id;
        let before = self.position();
        let entry = self.take_entry(id)?;
        let onward = self.onward.as_mut()?;
        onward.idle += 1;
        Some(&onward.current.insert(Current { entry, before }).entry)
    }

    /// Does what is known by rote, up to an entry that is not: that one is still due, and a lesson has begun.
    fn recall(&mut self) -> Option<()> {
        loop {
            self.next_due()?;
            let before = self.position();
            let Some(pulsed) = self.rote.as_mut()?.recall(&mut self.state, &mut self.chance) else {
                self.set_position(before);
                return Some(());
            };
            self.state.settle_unread();
            let onward = self.onward.as_mut()?;
            onward.idle += 1;
            onward.count(pulsed);
        }
    }

    /// The next entry of the agenda, if it is the time for one.
    fn next_due(&self) -> Option<&Entry> {
        let onward = self.onward.as_ref()?;
        if self.state.outcome().is_some() || onward.left == 0 || onward.idle >= onward.most_idle {
            return None;
        }
        let first = self.state.agenda().first()?;
        if onward.done > 0 && onward.boundary.as_ref().is_some_and(|boundary| *boundary == first.what) {
            return None;
        }
        // What is left out is told, where somebody listens.
        (!self.state.left_out().contains(&first.what)).then_some(first)
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
            self.state.schedule(entry.what.clone(), key, entry.owner, entry.args.clone(), Some(**step));
        }
        Some(entry)
    }
}
