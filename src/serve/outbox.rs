use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Messages for one connection, in order, until its transport has written them.
///
/// Replies always find room; what is told without being asked for does not, once too much waits.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    messages: VecDeque<String>,
    bytes: usize,
    closed: bool,
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
            self.changed.notify_all();
        }
    }

    /// Adds a message that answers no request; says whether there was room.
    pub(super) fn notice(&self, message: String) -> bool {
        let mut waiting = self.lock();
        if waiting.closed {
            return true;
        }
        if waiting.messages.len() >= MOST_MESSAGES || waiting.bytes >= MOST_BYTES {
            return false;
        }
        waiting.push(message);
        self.changed.notify_all();
        true
    }

    /// Whether so much waits that no more requests should be read.
    pub fn is_full(&self) -> bool {
        let waiting = self.lock();
        !waiting.closed && (waiting.messages.len() >= 2 * MOST_MESSAGES || waiting.bytes >= 2 * MOST_BYTES)
    }

    /// Waits until there is room again, or the outbox is closed.
    pub fn wait_for_room(&self) {
        while self.is_full() {
            let waiting = self.lock();
            // A time limit, since room may have come between the look and the wait.
            drop(self.changed.wait_timeout(waiting, Duration::from_millis(50)));
        }
    }

    /// All that waits now.
    pub fn take(&self) -> Vec<String> {
        let mut waiting = self.lock();
        waiting.bytes = 0;
        self.changed.notify_all();
        waiting.messages.drain(..).collect()
    }

    /// Waits for messages; nothing once the outbox is closed and empty.
    pub fn wait(&self) -> Option<Vec<String>> {
        let mut waiting = self.lock();
        while waiting.messages.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        waiting.bytes = 0;
        self.changed.notify_all();
        Some(waiting.messages.drain(..).collect())
    }

    /// Takes no more messages; what waits is still given out.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

impl Waiting {
    fn push(&mut self, message: String) {
        self.bytes += message.len();
        self.messages.push_back(message);
    }
}
