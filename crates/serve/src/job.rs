use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::commands::Apart;
use super::error::Failure;
use super::host::Host;
use super::outbox::{Outbox, WakesLater};
use super::table::GameTable;
use super::unread::Id;

/// A table with a job, or a part of one, that takes longer is slow.
const QUICK: Duration = Duration::from_millis(50);

/// Work at a table that a message asks for.
pub struct Job {
    pub(super) host: Host,
    pub(super) table: Arc<GameTable>,
    pub(super) outbox: Arc<Outbox>,
    /// That of the request; nothing for a notification.
    pub(super) id: Option<Id>,
    pub(super) work: Work,
    /// The line of jobs that it stands in, if it is not that of its table.
    pub(super) lane: Option<Arc<str>>,
}

/// Work at a table, up to its end or for a slice.
pub(super) type Work = Box<dyn FnOnce(&Arc<GameTable>, Extent) -> Result<JobProgress, Failure> + Send>;

/// How far a game plays on before its thread is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Slice,
    Whole,
}

/// What came of work at a table.
pub(super) enum JobProgress {
    Done(Json),
    Rest(Work),
    /// The rest needs no table: it is a job of its own in a line of that name.
    Apart(Arc<str>, Apart),
}

impl Job {
    /// The line that the job stands in: that of its table, or one for what looks ahead for a seat of it. The jobs of a line, and
    /// their slices, have to run in order, one at a time.
    pub fn line(&self) -> &str {
        self.lane.as_deref().unwrap_or(&self.table.name)
    }

    /// Does the work; the answer is in the outbox then.
    pub fn run(self) {
        let mut rest = self.run_to(Extent::Whole);
        while let Some(job) = rest {
            rest = job.run_to(Extent::Whole);
        }
    }

    /// Does the work, but gives back the rest of it when a game has played for about 50 ms without asking anybody, so that
    /// other tables have their turn, or when the rest stands in another line. No other job of the same line may run before the rest.
    pub fn run_slice(self) -> Option<Job> {
        self.run_to(Extent::Slice)
    }

    /// A panic ends the table, and nothing else.
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

    /// Answers that too much waits already.
    pub fn refuse_busy(self, waiting: usize) {
        reply(&self.outbox, self.id, Err(Failure::Busy { waiting }));
    }

    /// Whether others go first: it looks ahead, the table's last job took long, or its game has not begun.
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
