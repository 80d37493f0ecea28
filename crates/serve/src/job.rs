use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::error::Failure;
use super::host::Host;
use super::outbox::{Outbox, WakesLater};
use super::table::GameTable;
use super::unread::Id;

/// The time above which a job, or a part of one, makes its table slow.
const QUICK: Duration = Duration::from_millis(50);

/// Work at a table that a message has requested.
pub struct Job {
    pub(super) host: Host,
    pub(super) table: Arc<GameTable>,
    pub(super) outbox: Arc<Outbox>,
    /// The id of the request; `None` for a notification.
    pub(super) id: Option<Id>,
    pub(super) work: Work,
    /// The line that it is queued in, if that is not the line of its table.
    pub(super) lane: Option<Arc<str>>,
}

/// Work at a table, up to its end or for one slice.
pub(super) type Work = Box<dyn FnOnce(&Arc<GameTable>, Extent) -> Result<JobProgress, Failure> + Send>;

/// Work that does not need the table, and returns the result.
pub(super) type Apart = Box<dyn FnOnce() -> Result<Json, Failure> + Send>;

/// The amount of play before the thread of the game is released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Slice,
    Whole,
}

/// The progress of work at a table.
pub(super) enum JobProgress {
    Done(Json),
    Rest(Work),
    /// The rest does not need the table: it becomes a job in the line of that name.
    Apart(Arc<str>, Apart),
}

impl Job {
    /// The line of the job: that of its table, or one for looking ahead for a seat of it. The jobs of a line, and their
    /// slices, have to run in order, one at a time.
    pub fn line(&self) -> &str {
        self.lane.as_deref().unwrap_or(&self.table.name)
    }

    /// Runs the job to its end. The answer is then in the outbox.
    pub fn run(self) {
        let mut rest = self.run_to(Extent::Whole);
        while let Some(job) = rest {
            rest = job.run_to(Extent::Whole);
        }
    }

    /// Runs the job for a slice. Returns the rest if a game has played for about 50 ms without a question, so that
    /// other tables get their turn, or if the rest belongs to another line. No other job of the same line may run
    /// before the rest.
    pub fn run_slice(self) -> Option<Job> {
        self.run_to(Extent::Slice)
    }

    /// Runs the job. A panic closes the table and nothing else.
    fn run_to(self, extent: Extent) -> Option<Job> {
        let Job { host, table, outbox, id, work, lane } = self;
        let began = Instant::now();
        let _wakes = WakesLater::begin();
        let progress = catch_unwind(AssertUnwindSafe(|| work(&table, extent))).unwrap_or_else(|_| {
            if lane.is_some() {
                return Err(Failure::internal("looking ahead failed; the table continues"));
            }
            let _ = catch_unwind(AssertUnwindSafe(|| table.close("the host failed at this table")));
            host.forget(&table);
            Err(Failure::internal("this table had to be closed; the others continue"))
        });
        if lane.is_none() {
            table.set_slow(matches!(progress, Ok(JobProgress::Rest(_))) || began.elapsed() > QUICK);
        }
        let result = match progress {
            Ok(JobProgress::Rest(work)) => return Some(Job { host, table, outbox, id, work, lane }),
            Ok(JobProgress::Apart(lane, apart)) => {
                let work: Work = Box::new(move |_, _| apart().map(JobProgress::Done));
                return Some(Job { host, table, outbox, id, work, lane: Some(lane) });
            }
            Ok(JobProgress::Done(result)) => Ok(result),
            Err(failure) => Err(failure),
        };
        reply(&outbox, id, result);
        None
    }

    /// Answers that too many requests wait already.
    pub fn refuse_busy(self, waiting: usize) {
        reply(&self.outbox, self.id, Err(Failure::Busy { waiting }));
    }

    /// True if other jobs go first: it looks ahead, the last job of its table took long, or its game has not started.
    pub(super) fn is_slow(&self) -> bool {
        self.lane.is_some() || self.table.is_slow()
    }
}

/// Answers a request; notifications are not answered.
pub(super) fn reply(outbox: &Outbox, id: Option<Id>, result: Result<Json, Failure>) {
    let Some(id) = id else { return };
    outbox.reply(match result {
        Ok(result) => format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{result}}}"#),
        Err(failure) => {
            let data = serde_json::to_value(&failure).unwrap_or_default();
            let error = json!({ "code": failure.code(), "message": failure.to_string(), "data": data });
            format!(r#"{{"error":{error},"id":{id},"jsonrpc":"2.0"}}"#)
        }
    });
}
