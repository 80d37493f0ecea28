use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::ruleset::plain_json;

/// Messages for one connection, in order, until its transport has written them.
///
/// Replies always find room; what is told without being asked for does not, once too much waits.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    /// Messages have come, or it was closed.
    filled: Condvar,
    /// Messages have gone.
    emptied: Condvar,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<String>,
    bytes: usize,
    closed: bool,
    /// How many threads wait for messages, and how many for room. Only if there are any, the system is asked to wake them.
    for_messages: usize,
    for_room: usize,
}

/// Notices beyond these find no room.
const MOST_MESSAGES: usize = 2_000;
const MOST_BYTES: usize = 8 << 20;

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds the reply to a request.
    pub(super) fn reply(&self, message: String) {
        let mut waiting = self.lock();
        if !waiting.closed {
            waiting.push(message);
            self.wake(waiting.for_messages, &self.filled);
        }
    }

    /// Adds what nobody asked for; says whether there was room.
    pub(super) fn notice(&self, message: String) -> bool {
        let mut waiting = self.lock();
        if waiting.closed {
            return true;
        }
        if waiting.messages.len() >= MOST_MESSAGES || waiting.bytes >= MOST_BYTES {
            return false;
        }
        waiting.push(message);
        self.wake(waiting.for_messages, &self.filled);
        true
    }

    fn wake(&self, waiting: usize, event: &Condvar) {
        if waiting > 0 {
            event.notify_all();
        }
    }

    /// Whether so much waits that no more requests should be read.
    pub fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// Waits until there is room again, or the outbox is closed.
    pub fn wait_for_room(&self) {
        let mut waiting = self.lock();
        while waiting.is_full() {
            waiting.for_room += 1;
            waiting = self.emptied.wait(waiting).unwrap_or_else(std::sync::PoisonError::into_inner);
            waiting.for_room -= 1;
        }
    }

    /// All that waits now.
    pub fn take(&self) -> Vec<String> {
        self.drain(self.lock())
    }

    fn drain(&self, mut waiting: MutexGuard<'_, Waiting>) -> Vec<String> {
        waiting.bytes = 0;
        self.wake(waiting.for_room, &self.emptied);
        waiting.messages.drain(..).collect()
    }

    /// Waits for messages; nothing once the outbox is closed and empty.
    pub fn wait(&self) -> Option<Vec<String>> {
        let mut waiting = self.lock();
        while waiting.messages.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting.for_messages += 1;
            waiting = self.filled.wait(waiting).unwrap_or_else(std::sync::PoisonError::into_inner);
            waiting.for_messages -= 1;
        }
        Some(self.drain(waiting))
    }

    /// Takes no more messages; what waits is still given out.
    pub fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

impl Waiting {
    fn is_full(&self) -> bool {
        !self.closed && (self.messages.len() >= 2 * MOST_MESSAGES || self.bytes >= 2 * MOST_BYTES)
    }

    fn push(&mut self, message: String) {
        let message = plain_json(message);
        self.bytes += message.len();
        self.messages.push_back(message);
    }
}
