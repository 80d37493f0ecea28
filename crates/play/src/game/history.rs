use std::ops::{Deref, DerefMut};

use super::action::{Done, last_seq_of};
use crate::push_sparing;
use riskbreaker_state::Schema;

/// The finished actions that are not undone, oldest first. It grows and shrinks at its end.
///
/// It knows how many of them are unchanged since it was last saved, so that saving writes only what is new.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Done>,
    kept: usize,
    identity: Identity,
    /// The number of the last save in a campaign.
    kept_as: Option<u64>,
}

/// Identifies a history within this process.
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

    /// The number of the last decision in the history. It need not be in the last action.
    pub fn last_decision(&self) -> Option<u32> {
        self.done.last()?.decided
    }

    /// The number of actions, from the oldest on, that are unchanged since the last [`History::keep`].
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Marks the whole history as saved, under this number.
    pub fn keep(&mut self, number: u64) {
        self.kept = self.done.len();
        self.kept_as = Some(number);
    }

    /// The number under which it was last saved.
    pub fn kept_as(&self) -> Option<u64> {
        self.kept_as
    }

    /// The number that identifies this history within the process.
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

/// The history, newest first, each action with the schema of its changes.
pub(crate) fn with_schemas<'g>(
    history: &'g [Done],
    current: &'g Schema,
) -> impl Iterator<Item = (&'g Done, &'g Schema)> {
    let mut schema = current;
    history.iter().rev().map(move |done| {
        let of = schema;
        if let Some(swap) = &done.swap {
            schema = &swap.schema;
        }
        (done, of)
    })
}
