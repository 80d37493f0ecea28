use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::frames::Snapshot;

/// The views and notices that watchers get after the delay of the table.
///
/// A new watcher gets the newest view that is due, and then the later notices when they are due. So nothing reaches a
/// watcher early, not even by a new connection.
#[derive(Default)]
pub(super) struct DelayedView {
    /// The views after each step, with the times from which they are shown. The first one is shown now.
    views: VecDeque<(Instant, Snapshot)>,
    /// The notices after the first view.
    notices: VecDeque<DelayedNotice>,
}

/// A notice to watchers, with the time when it is due.
#[derive(Clone)]
pub(super) struct DelayedNotice {
    pub due: Instant,
    /// The number of the last step that it covers.
    pub seq: u64,
    pub method: &'static str,
    pub body: String,
}

/// The most views kept. If more are made within the delay, every other one is dropped, and a new watcher gets more
/// notices instead.
const MOST_VIEWS: usize = 32;
/// The most notices kept. A watcher that misses one asks for a view.
const MOST_NOTICES: usize = 4_096;

impl DelayedView {
    /// Adds a view that is shown from `due` on.
    pub fn add_view(&mut self, due: Instant, view: Snapshot) {
        self.views.push_back((due, view));
        if self.views.len() > MOST_VIEWS {
            // The first view is shown now, and the last one is the newest.
            let (mut at, last) = (0, self.views.len() - 1);
            self.views.retain(|_| {
                at += 1;
                at == 1 || at % 2 == 0 || at == last + 1
            });
        }
    }

    /// Adds a notice.
    pub fn add(&mut self, notice: DelayedNotice) {
        self.notices.push_back(notice);
        if self.notices.len() > MOST_NOTICES {
            self.notices.pop_front();
        }
    }

    /// The newest view that is due, with all later notices; `None` if none is due.
    pub fn shown(&mut self, now: Instant) -> Option<(Snapshot, Vec<DelayedNotice>)> {
        while self.views.get(1).is_some_and(|(due, _)| *due <= now) {
            self.views.pop_front();
        }
        let view = self.views.front().filter(|(due, _)| *due <= now)?.1.clone();
        let seq = view.seq;
        while self.notices.front().is_some_and(|notice| notice.due <= now && notice.seq <= seq) {
            self.notices.pop_front();
        }
        let after = self.notices.iter().filter(|notice| notice.seq > seq || notice.due > now);
        let after = after.cloned().collect();
        Some((view, after))
    }

    /// Shifts everything that is not shown yet from one delay to another.
    pub fn move_by(&mut self, before: Duration, after: Duration) {
        let moved = |due: Instant| due.checked_sub(before).unwrap_or(due) + after;
        let now = Instant::now();
        self.views.iter_mut().filter(|(due, _)| *due > now).for_each(|(due, _)| *due = moved(*due));
        self.notices.iter_mut().filter(|notice| notice.due > now).for_each(|notice| notice.due = moved(notice.due));
    }
}
