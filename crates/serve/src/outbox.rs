use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use riskbreaker_ruleset::plain_json;

/// A queue of messages for one connection, until its transport has written them.
///
/// Replies are always accepted. Notices to a viewer are dropped once too many of that viewer wait.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<WaitingMessages>,
    /// The transport's callback for new messages, and the limits for each viewer.
    transport: OnceLock<Transport>,
    /// Signals that messages were added, or that the outbox was closed.
    filled: Condvar,
    /// Signals that messages were taken.
    emptied: Condvar,
}

#[derive(Default)]
struct WaitingMessages {
    messages: VecDeque<String>,
    bytes: usize,
    /// The number and bytes of waiting notices, by viewer.
    notices: HashMap<u32, (usize, usize)>,
    /// The rate-limited notices: those sent within the last [`APART`], and those that wait.
    rare: Vec<Rare>,
    /// Notices with a time when they are due, the earliest first.
    later: VecDeque<LaterNotice>,
    closed: bool,
    /// The numbers of threads that wait for messages, and for room: without any, no wake-up is sent.
    for_messages: usize,
    for_room: usize,
}

/// Tells a transport that messages wait.
type Wake = Arc<dyn Fn() + Send + Sync>;

thread_local! {
    /// The transports that this thread has messages for, while it carries out a job; otherwise they are woken at once.
    static TO_WAKE: RefCell<Option<Vec<Wake>>> = const { RefCell::new(None) };
}

/// While it lives, this thread wakes no transport; when it is dropped, it wakes each one once. So a thread that is woken finds
/// all messages of a step, and does not compete with the thread that still makes them.
pub(super) struct WakesLater {
    /// Whether no other one lives on this thread.
    is_first: bool,
}

impl WakesLater {
    pub fn begin() -> WakesLater {
        let is_first = TO_WAKE.with_borrow_mut(|later| {
            let is_first = later.is_none();
            later.get_or_insert_default();
            is_first
        });
        WakesLater { is_first }
    }
}

impl Drop for WakesLater {
    fn drop(&mut self) {
        if self.is_first {
            for wake in TO_WAKE.take().into_iter().flatten() {
                wake();
            }
        }
    }
}

/// A transport that needs no thread to wait for messages.
struct Transport {
    wake: Wake,
    most_messages: usize,
    most_bytes: usize,
}

/// A notice that a viewer gets at most once in [`APART`]. A newer one replaces one that waits.
struct Rare {
    viewer: u32,
    /// The method: a notice replaces a waiting one of the same method.
    method: &'static str,
    /// The time from which the next one may be sent.
    due: Instant,
    message: Option<String>,
}

/// A notice to a viewer with a delay.
struct LaterNotice {
    viewer: u32,
    due: Instant,
    message: String,
}

/// The time between two rate-limited notices to a viewer.
const APART: Duration = Duration::from_secs(1);
/// The number of notices to one viewer above which further ones are dropped.
const MOST_MESSAGES: usize = 2_000;
const MOST_BYTES: usize = 8 << 20;
/// The bytes of all messages above which notices are dropped.
const MOST_BYTES_OF_ALL: usize = 256 << 20;

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, WaitingMessages> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Sets the callback for new messages and for closing, which may be called on any thread and must not block, and
    /// the limits for each viewer. A viewer that exceeds them is told that it has missed something.
    pub fn on_filled(&self, wake: impl Fn() + Send + Sync + 'static, most_messages: usize, most_bytes: usize) {
        // The callback is set once, when the connection is made.
        let _ = self.transport.set(Transport { wake: Arc::new(wake), most_messages, most_bytes });
    }

    fn limits(&self) -> (usize, usize) {
        self.transport.get().map_or((MOST_MESSAGES, MOST_BYTES), |to| (to.most_messages, to.most_bytes))
    }

    /// Adds the reply to a request.
    pub(super) fn reply(&self, message: String) {
        let mut waiting = self.lock();
        if !waiting.closed {
            // Notices that are due go before the reply, so that the reply is the last message of a request.
            waiting.release(Instant::now(), self.limits());
            waiting.push(message);
            self.tell_filled(waiting);
        }
    }

    /// Adds a notice to a viewer. Returns false if there was no room.
    pub(super) fn notice(&self, viewer: u32, message: String) -> bool {
        let mut waiting = self.lock();
        let had_room = waiting.closed || waiting.notice(viewer, message, self.limits());
        self.tell_filled(waiting);
        had_room
    }

    /// Adds a notice that a viewer gets at most once a second. Returns false if there was no room. A notice that comes
    /// too early waits and replaces an earlier one that waits.
    pub(super) fn rare_notice(&self, viewer: u32, method: &'static str, message: String) -> bool {
        let (mut waiting, now) = (self.lock(), Instant::now());
        waiting.release(now, self.limits());
        if waiting.closed {
            return true;
        }
        let place = waiting.rare.iter_mut().find(|rare| rare.viewer == viewer && rare.method == method);
        let had_room = if let Some(rare) = place {
            rare.message = Some(message);
            true
        } else {
            waiting.rare.push(Rare { viewer, method, due: now + APART, message: None });
            waiting.notice(viewer, message, self.limits())
        };
        // A thread that waits without a timeout has to compute its timeout again.
        self.tell_filled(waiting);
        had_room
    }

    /// Adds a notice that is sent at `due`. The notices of a viewer are sent in the order of their times.
    pub(super) fn later(&self, viewer: u32, due: Instant, message: String) {
        let mut waiting = self.lock();
        if waiting.closed {
            return;
        }
        let at = waiting.later.partition_point(|other| other.due <= due);
        waiting.later.insert(at, LaterNotice { viewer, due, message });
        // A thread that waits without a timeout has to compute its timeout again.
        self.tell_filled(waiting);
    }

    /// Drops all delayed notices to a viewer.
    pub(super) fn forget_later(&self, viewer: u32) {
        self.lock().later.retain(|later| later.viewer != viewer);
    }

    /// Drops all delayed and rate-limited notices to a viewer.
    pub(super) fn forget(&self, viewer: u32) {
        self.lock().rare.retain(|rare| rare.viewer != viewer);
        self.forget_later(viewer);
    }

    /// Wakes whoever waits for messages. The lock is released first: whoever is woken takes it at once.
    fn tell_filled(&self, waiting: MutexGuard<'_, WaitingMessages>) {
        let for_messages = waiting.for_messages;
        drop(waiting);
        self.wake(for_messages, &self.filled);
        let Some(Transport { wake, .. }) = self.transport.get() else { return };
        let is_kept = TO_WAKE.with_borrow_mut(|later| match later {
            Some(later) => {
                if !later.iter().any(|known| Arc::ptr_eq(known, wake)) {
                    later.push(wake.clone());
                }
                true
            }
            None => false,
        });
        if !is_kept {
            wake();
        }
    }

    fn wake(&self, waiting: usize, event: &Condvar) {
        if waiting > 0 {
            event.notify_all();
        }
    }

    /// True if so many messages wait that no further requests should be read.
    pub fn is_full(&self) -> bool {
        self.lock().is_full(self.limits())
    }

    /// Blocks until there is room again, or the outbox is closed.
    pub fn wait_for_room(&self) {
        let mut waiting = self.lock();
        while waiting.is_full(self.limits()) {
            waiting.for_room += 1;
            waiting = self.emptied.wait(waiting).unwrap_or_else(std::sync::PoisonError::into_inner);
            waiting.for_room -= 1;
        }
    }

    /// Takes all waiting messages.
    pub fn take(&self) -> Vec<String> {
        self.drain(self.lock())
    }

    /// The time until [`Outbox::take`] returns the next delayed message; `None` if there is none.
    pub fn due(&self) -> Option<Duration> {
        let (waiting, now) = (self.lock(), Instant::now());
        waiting.next_due().map(|due| due.saturating_duration_since(now))
    }

    /// True if it accepts no more messages.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn drain(&self, mut waiting: MutexGuard<'_, WaitingMessages>) -> Vec<String> {
        if waiting.messages.is_empty() {
            waiting.release(Instant::now(), self.limits());
        }
        waiting.bytes = 0;
        waiting.notices.clear();
        self.wake(waiting.for_room, &self.emptied);
        waiting.messages.drain(..).collect()
    }

    /// Waits for messages; `None` once the outbox is closed and empty.
    pub fn wait(&self) -> Option<Vec<String>> {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let next = waiting.release(now, self.limits());
            if !waiting.messages.is_empty() {
                return Some(self.drain(waiting));
            }
            if waiting.closed {
                return None;
            }
            waiting.for_messages += 1;
            waiting = match next {
                Some(due) => {
                    let woken = self.filled.wait_timeout(waiting, due.saturating_duration_since(now));
                    woken.unwrap_or_else(std::sync::PoisonError::into_inner).0
                }
                None => self.filled.wait(waiting).unwrap_or_else(std::sync::PoisonError::into_inner),
            };
            waiting.for_messages -= 1;
        }
    }

    /// Closes the outbox: it accepts no more messages, and the waiting ones are still returned.
    pub fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        self.emptied.notify_all();
        self.tell_filled(waiting);
    }
}

impl WaitingMessages {
    fn is_full(&self, (most_messages, most_bytes): (usize, usize)) -> bool {
        !self.closed && (self.messages.len() >= 2 * most_messages || self.bytes >= 2 * most_bytes)
    }

    fn notice(&mut self, viewer: u32, message: String, (most_messages, most_bytes): (usize, usize)) -> bool {
        let (count, bytes) = self.notices.entry(viewer).or_default();
        if *count >= most_messages || *bytes >= most_bytes || self.bytes >= MOST_BYTES_OF_ALL {
            return false;
        }
        (*count, *bytes) = (*count + 1, *bytes + message.len());
        self.push(message);
        true
    }

    /// Sends the notices that are due. Returns the time of the next one.
    fn release(&mut self, now: Instant, limits: (usize, usize)) -> Option<Instant> {
        let mut due = Vec::new();
        self.rare.retain_mut(|rare| {
            if rare.due > now {
                return true;
            }
            rare.due = now + APART;
            let waits = rare.message.take();
            let told = waits.is_some();
            due.extend(waits.map(|message| (rare.viewer, message)));
            told
        });
        for (viewer, message) in due {
            // A viewer that reads too slowly is told to start over with the next step.
            self.notice(viewer, message, limits);
        }
        while self.later.front().is_some_and(|later| later.due <= now) {
            if let Some(LaterNotice { viewer, message, .. }) = self.later.pop_front() {
                // A viewer that misses a step asks for a view.
                self.notice(viewer, message, limits);
            }
        }
        self.next_due()
    }

    /// The time at which the next waiting notice is due.
    fn next_due(&self) -> Option<Instant> {
        let rare = self.rare.iter().filter(|rare| rare.message.is_some()).map(|rare| rare.due);
        rare.chain(self.later.front().map(|later| later.due)).min()
    }

    fn push(&mut self, message: String) {
        let message = plain_json(message);
        self.bytes += message.len();
        self.messages.push_back(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_that_does_not_read_leaves_room_for_others() {
        let outbox = Outbox::default();
        assert!((0..MOST_MESSAGES).all(|n| outbox.notice(1, n.to_string())));
        assert!(!outbox.notice(1, "one more".into()) && outbox.notice(2, "other".into()));
        assert_eq!(outbox.take().len(), MOST_MESSAGES + 1);
        assert!(outbox.notice(1, "again".into()));
    }

    #[test]
    fn delayed_notices_come_in_the_order_of_their_times() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        for (viewer, millis) in [(1, 60), (2, 20), (1, 40), (3, 30)] {
            outbox.later(viewer, now + Duration::from_millis(millis), format!("{viewer} {millis}"));
        }
        outbox.forget(3);
        assert!(outbox.take().is_empty() && outbox.due().is_some());
        let told: Vec<String> = (0..3).flat_map(|_| outbox.wait().unwrap_or_default()).take(3).collect();
        assert_eq!(told, ["2 20", "1 40", "1 60"]);
    }

    #[test]
    fn of_many_rare_notices_the_first_comes_at_once_and_the_last_a_second_later() {
        let outbox = Outbox::default();
        for n in 0..300 {
            assert!(outbox.rare_notice(1, "presence", n.to_string()));
        }
        outbox.rare_notice(2, "presence", "other".into());
        assert_eq!(outbox.take(), ["0", "other"]);
        assert_eq!(outbox.wait().unwrap(), ["299"]);
        outbox.rare_notice(1, "presence", "300".into());
        assert!(outbox.take().is_empty());
        outbox.forget(1);
        outbox.close();
        assert_eq!(outbox.wait(), None);
    }
}
