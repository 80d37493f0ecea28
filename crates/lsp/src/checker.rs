use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use riskbreaker_check::{Analysis, CheckReport};
use riskbreaker_ruleset::{Library, Problem};
use riskbreaker_work::WorkBudget;

/// A ruleset to check.
pub(super) struct CheckJob {
    /// Where it lies.
    pub folder: PathBuf,
    pub id: String,
    /// With the texts that the editor has not saved.
    pub library: Library,
    /// The number of the change after which it is checked.
    pub turn: u64,
    /// The file that was changed, by the path that problems name, and its text.
    pub changed: Option<(String, String)>,
    /// What the check before has found.
    pub last: Vec<Arc<Analysis>>,
}

/// What a check has found.
pub(super) struct CheckOutcome {
    pub folder: PathBuf,
    pub turn: u64,
    pub found: FoundProblems,
}

pub(super) enum FoundProblems {
    /// What the changed file alone shows.
    File { path: String, problems: Vec<Problem> },
    /// What the ruleset shows, by itself or over each ruleset that it is made for.
    Whole(Vec<Arc<Analysis>>),
}

/// Checks rulesets in a thread of its own, the last change first. A newer job for a ruleset replaces an older one.
pub(super) struct Checker {
    queue: Arc<CheckQueue>,
}

#[derive(Default)]
struct CheckQueue {
    state: Mutex<CheckerState>,
    more: Condvar,
}

#[derive(Default)]
struct CheckerState {
    jobs: VecDeque<CheckJob>,
    /// The folder of the ruleset that is being checked, and the flag that ends that.
    running: Option<(PathBuf, Arc<AtomicBool>)>,
    over: bool,
}

impl CheckQueue {
    fn lock(&self) -> MutexGuard<'_, CheckerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job; `None` if there will be no more.
    fn next(&self) -> Option<(CheckJob, Arc<AtomicBool>)> {
        let mut state = self.lock();
        loop {
            if state.over {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                let stop = Arc::new(AtomicBool::new(false));
                state.running = Some((job.folder.clone(), stop.clone()));
                return Some((job, stop));
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts a job that was interrupted back, unless a newer one has taken its place.
    fn finish(&self, job: CheckJob, stop: &AtomicBool) {
        let mut state = self.lock();
        state.running = None;
        if stop.load(Ordering::Relaxed) && !state.jobs.iter().any(|other| other.folder == job.folder) {
            state.jobs.push_back(job);
        }
    }
}

impl Checker {
    /// Starts the thread. It hands each result to `tell`, and `None` at the end of each job.
    pub fn start(tell: impl Fn(Option<CheckOutcome>) + Send + 'static) -> io::Result<Checker> {
        let queue = Arc::new(CheckQueue::default());
        let jobs = queue.clone();
        thread::Builder::new().name("checker".into()).spawn(move || {
            while let Some((job, stop)) = jobs.next() {
                // A panic is told by the runtime on standard error, where editors keep the log of a server.
                let _ = catch_unwind(AssertUnwindSafe(|| check(&job, &stop, &|outcome| tell(Some(outcome)))));
                jobs.finish(job, &stop);
                tell(None);
            }
        })?;
        Ok(Checker { queue })
    }

    /// Whether nothing waits or is being checked.
    pub fn is_idle(&self) -> bool {
        let state = self.queue.lock();
        state.jobs.is_empty() && state.running.is_none()
    }

    /// Checks a ruleset before the others that wait. An older job for it is forgotten; another one that runs waits for it.
    pub fn submit(&self, job: CheckJob) {
        let mut state = self.queue.lock();
        state.jobs.retain(|other| other.folder != job.folder);
        if let Some((_, stop)) = &state.running {
            stop.store(true, Ordering::Relaxed);
        }
        state.jobs.push_front(job);
        self.queue.more.notify_one();
    }

    /// Checks a ruleset after the others that wait.
    pub fn submit_last(&self, job: CheckJob) {
        let mut state = self.queue.lock();
        state.jobs.retain(|other| other.folder != job.folder);
        if let Some((_, stop)) = state.running.iter().find(|(folder, _)| *folder == job.folder) {
            stop.store(true, Ordering::Relaxed);
        }
        state.jobs.push_back(job);
        self.queue.more.notify_one();
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.over = true;
        if let Some((_, stop)) = &state.running {
            stop.store(true, Ordering::Relaxed);
        }
        self.queue.more.notify_one();
    }
}

fn check(job: &CheckJob, stop: &Arc<AtomicBool>, tell: &impl Fn(CheckOutcome)) {
    let budget = WorkBudget::new(CheckReport::WORK).until(stop);
    let outcome = |found| CheckOutcome { folder: job.folder.clone(), turn: job.turn, found };
    if let Some((path, text)) = &job.changed {
        let again: Vec<_> = job.last.iter().map(|last| last.read_again(path, text, &budget)).collect();
        if !again.is_empty()
            && !stop.load(Ordering::Relaxed)
            && let Some(problems) = again.into_iter().collect::<Option<Vec<_>>>()
        {
            let mut problems = problems.concat();
            problems.sort();
            problems.dedup();
            tell(outcome(FoundProblems::File { path: path.clone(), problems }));
        }
    }
    let mut analyses = Vec::new();
    for way in job.library.ways_to_play(&job.id) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        analyses.push(Arc::new(Analysis::new(&job.library, &way, &budget)));
    }
    if !stop.load(Ordering::Relaxed) {
        tell(outcome(FoundProblems::Whole(analyses)));
    }
}
