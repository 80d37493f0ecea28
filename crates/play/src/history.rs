use std::ops::{Deref, DerefMut};

use super::action::Done;
use super::packed::push_sparing;
use super::undo::last_seq_of;

/// The actions that were done and not undone, the oldest first. It grows and shrinks at its end.
///
/// It remembers how much of it has not changed since somebody last kept it, so that keeping costs only what is new.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Done>,
    kept: usize,
    identity: Identity,
    /// The number under which a campaign kept it last.
    kept_as: Option<u64>,
}

/// Tells a history from all others of this process.
#[derive(Clone, Copy, Debug)]
struct Identity(u64);

impl Default for Identity {
    fn default() -> Identity {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Identity(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }
}

impl History {
    pub fn push(&mut self, mut done: Done) {
        done.decided = last_seq_of(&done).max(self.last_decision());
        push_sparing(&mut self.done, done);
    }

    pub fn pop(&mut self) -> Option<Done> {
        let last = self.done.pop();
        self.kept = self.kept.min(self.done.len());
        last
    }

    /// The number of the last decision in it, which is not always in the action that was done last.
    pub fn last_decision(&self) -> Option<u32> {
        self.done.last()?.decided
    }

    /// How many actions, counted from the oldest, are as they were when [`History::keep`] was called last.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Notes that all of it is kept, under this number.
    pub fn keep(&mut self, number: u64) {
        self.kept = self.done.len();
        self.kept_as = Some(number);
    }

    /// The number under which it was kept last.
    pub fn kept_as(&self) -> Option<u64> {
        self.kept_as
    }

    /// The number that tells it from those of other games.
    pub fn identity(&self) -> u64 {
        self.identity.0
    }
}

impl Deref for History {
    type Target = [Done];

    fn deref(&self) -> &[Done] {
        &self.done
    }
}

impl DerefMut for History {
    fn deref_mut(&mut self) -> &mut [Done] {
        &mut self.done
    }
}
