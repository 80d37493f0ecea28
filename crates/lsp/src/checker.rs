use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use lsp_server::RequestId;

use super::card_odds::{CardOddsJob, card_odds};
use riskbreaker_check::{Analysis, CheckReport};
use riskbreaker_ruleset::{Library, Problem, SourceKind};
use riskbreaker_work::WorkBudget;

/// A request to check a ruleset.
pub(super) struct CheckJob {
    /// The folder of the ruleset.
    pub folder: PathBuf,
    pub id: String,
    /// The library, with the unsaved texts of the editor.
    pub library: Library,
    /// The number of the change that caused the check.
    pub turn: u64,
    /// The changed file, by its path in problems, and its text.
    pub changed: Option<(String, String)>,
    /// The results of the last check in which the ruleset loaded.
    pub last: Vec<Arc<Analysis>>,
    /// True if it has not loaded as a whole yet, so that `last` is without the files that fail.
    pub is_partial: bool,
    /// The library without the unsaved texts, if it has not loaded as a whole yet and some texts are not saved.
    pub saved: Option<Library>,
    /// The results of the last check, whose files are not read again unless they have changed.
    pub before: Vec<Arc<Analysis>>,
}

/// The result of a check.
pub(super) struct CheckOutcome {
    pub folder: PathBuf,
    pub turn: u64,
    pub found: FoundProblems,
}

pub(super) enum FoundProblems {
    /// The problems of the changed file alone.
    File { path: String, problems: Vec<Problem> },
    /// The results for the whole ruleset: by itself, or over each ruleset that it extends.
    Whole {
        analyses: Vec<Arc<Analysis>>,
        /// If it does not load and never has: the same without the files that fail, for the names in the others.
        partial: Vec<Arc<Analysis>>,
    },
}

/// A message from the checker thread.
pub(super) enum CheckerEvent {
    Checked(CheckOutcome),
    /// The odds of a card as Markdown, for a request.
    Odds {
        request: RequestId,
        text: String,
    },
    /// A check has ended, or was interrupted.
    Finished,
}

/// Checks rulesets on a thread of its own, the last change first. A newer job for a ruleset replaces an older one. The
/// odds of cards are computed after all checks, and a new check ends them.
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
    odds: VecDeque<CardOddsJob>,
    running: Option<RunningJob>,
    over: bool,
}

/// The running job, and the flag that ends it.
struct RunningJob {
    of: RunningJobKind,
    stop: Arc<AtomicBool>,
}

enum RunningJobKind {
    /// The check of the ruleset in this folder.
    Check(PathBuf),
    /// The odds for this request.
    Odds(RequestId),
}

enum QueuedJob {
    Check(CheckJob),
    Odds(CardOddsJob),
}

impl CheckerState {
    /// Ends the running job if `is_ended` is true of it, and drops all waiting requests for odds, which would be for
    /// older texts.
    fn stop(&mut self, is_ended: impl Fn(&RunningJobKind) -> bool) {
        self.odds.clear();
        if let Some(running) = self.running.as_ref().filter(|running| is_ended(&running.of)) {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl CheckQueue {
    fn lock(&self) -> MutexGuard<'_, CheckerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job; `None` once the checker is closed.
    fn next(&self) -> Option<(QueuedJob, Arc<AtomicBool>)> {
        let mut state = self.lock();
        loop {
            if state.over {
                return None;
            }
            let stop = Arc::new(AtomicBool::new(false));
            if let Some(job) = state.jobs.pop_front() {
                let of = RunningJobKind::Check(job.folder.clone());
                state.running = Some(RunningJob { of, stop: stop.clone() });
                return Some((QueuedJob::Check(job), stop));
            }
            if let Some(job) = state.odds.pop_front() {
                let of = RunningJobKind::Odds(job.request.clone());
                state.running = Some(RunningJob { of, stop: stop.clone() });
                return Some((QueuedJob::Odds(job), stop));
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks the running job as ended. A check that was interrupted is queued again, unless a newer one has replaced
    /// it.
    fn finish(&self, job: Option<CheckJob>, stop: &AtomicBool) {
        let mut state = self.lock();
        state.running = None;
        let Some(job) = job else { return };
        if stop.load(Ordering::Relaxed) && !state.jobs.iter().any(|other| other.folder == job.folder) {
            state.jobs.push_back(job);
        }
    }
}

impl Checker {
    /// Starts the checker thread, which passes each result to `tell`.
    pub fn start(tell: impl Fn(CheckerEvent) + Send + 'static) -> io::Result<Checker> {
        let queue = Arc::new(CheckQueue::default());
        let jobs = queue.clone();
        thread::Builder::new().name("checker".into()).spawn(move || {
            while let Some((job, stop)) = jobs.next() {
                // The panic message goes to standard error, which editors show as the log of the server.
                match job {
                    QueuedJob::Check(job) => {
                        let tell = |outcome| tell(CheckerEvent::Checked(outcome));
                        let _ = catch_unwind(AssertUnwindSafe(|| check(&job, &stop, &tell)));
                        jobs.finish(Some(job), &stop);
                    }
                    QueuedJob::Odds(CardOddsJob { request, of }) => {
                        let text = catch_unwind(AssertUnwindSafe(|| card_odds(&of, &stop)));
                        jobs.finish(None, &stop);
                        let text = text.unwrap_or_else(|_| "No odds: computing them failed.".into());
                        tell(CheckerEvent::Odds { request, text });
                    }
                }
                tell(CheckerEvent::Finished);
            }
        })?;
        Ok(Checker { queue })
    }

    /// True if no check runs or waits.
    pub fn is_idle(&self) -> bool {
        let state = self.queue.lock();
        let is_check = |running: &RunningJob| matches!(running.of, RunningJobKind::Check(_));
        state.jobs.is_empty() && !state.running.as_ref().is_some_and(is_check)
    }

    /// Queues a request for the odds of a card after all waiting jobs.
    pub fn submit_odds(&self, job: CardOddsJob) {
        self.queue.lock().odds.push_back(job);
        self.queue.more.notify_one();
    }

    /// Cancels a request for odds.
    pub fn cancel_odds(&self, request: &RequestId) {
        let mut state = self.queue.lock();
        state.odds.retain(|job| job.request != *request);
        if let Some(running) = &state.running
            && matches!(&running.of, RunningJobKind::Odds(of) if of == request)
        {
            running.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Queues a check before all others. It replaces an older job for the ruleset, and interrupts a running one.
    pub fn submit(&self, job: CheckJob) {
        let mut state = self.queue.lock();
        state.jobs.retain(|other| other.folder != job.folder);
        state.stop(|_| true);
        state.jobs.push_front(job);
        self.queue.more.notify_one();
    }

    /// Queues a check after all others.
    pub fn submit_last(&self, job: CheckJob) {
        let mut state = self.queue.lock();
        state.jobs.retain(|other| other.folder != job.folder);
        state.stop(|running| match running {
            RunningJobKind::Check(folder) => *folder == job.folder,
            RunningJobKind::Odds(_) => true,
        });
        state.jobs.push_back(job);
        self.queue.more.notify_one();
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.over = true;
        state.stop(|_| true);
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
    for (at, way) in job.library.ways_to_play(&job.id).into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        analyses.push(Arc::new(match job.before.get(at) {
            Some(before) => before.again(&job.library, &way, &budget),
            None => Analysis::new(&job.library, &way, &budget),
        }));
    }
    let has_loaded = analyses.iter().all(|analysis| analysis.rules().is_some());
    let partial = if has_loaded || !(job.is_partial || job.last.is_empty()) {
        Vec::new()
    } else {
        let ways = job.library.ways_to_play(&job.id).into_iter().zip(&analyses).enumerate();
        let partial = ways.map(|(at, (way, whole))| without_broken_files(job, (at, &way), whole, &budget));
        partial.map(|found| found.map(Arc::new)).collect::<Option<Vec<_>>>().unwrap_or_default()
    };
    if !stop.load(Ordering::Relaxed) {
        tell(outcome(FoundProblems::Whole { analyses, partial }));
    }
}

/// How often files are left out of a ruleset that does not load, since other files may fail without them.
const MOST_TRIES: usize = 4;

/// Checks a ruleset without the files that keep it from loading, or else as it is saved. `None` if it does not load then.
fn without_broken_files(
    job: &CheckJob,
    (at, way): (usize, &str),
    whole: &Analysis,
    budget: &WorkBudget,
) -> Option<Analysis> {
    let read = |library: &Library| match job.last.get(at) {
        Some(last) => last.again(library, way, budget),
        None => Analysis::new(library, way, budget),
    };
    let libraries = std::iter::once(&job.library).chain(&job.saved);
    for (tried, library) in libraries.enumerate() {
        let mut library = library.clone();
        let mut left_out = BTreeSet::new();
        let mut problems = match tried {
            0 => whole.report.problems.clone(),
            _ => read(&library).report.problems,
        };
        for _ in 0..MOST_TRIES {
            let count = left_out.len();
            left_out.extend(broken_scripts(&problems));
            if left_out.len() == count || budget.is_spent() {
                break;
            }
            library = without(library, &left_out)?;
            let analysis = read(&library);
            if analysis.rules().is_some() {
                return Some(analysis);
            }
            problems = analysis.report.problems;
        }
    }
    None
}

/// The scripts in which loading has found problems; if there are none, those with any error.
fn broken_scripts(problems: &[Problem]) -> BTreeSet<String> {
    let scripts = |is_wanted: &dyn Fn(&Problem) -> bool| -> BTreeSet<String> {
        let wanted = problems.iter().filter(|problem| !problem.is_warning && is_wanted(problem));
        let paths = wanted.map(|problem| problem.path.clone());
        paths.filter(|path| SourceKind::of(path) == Some(SourceKind::Script)).collect()
    };
    let of_loading = scripts(&|problem| problem.lint == Some("load"));
    if of_loading.is_empty() { scripts(&|_| true) } else { of_loading }
}

/// The library without some files, which are named with the ids of their rulesets.
fn without(library: Library, left_out: &BTreeSet<String>) -> Option<Library> {
    let ids: BTreeSet<&str> = left_out.iter().filter_map(|path| path.split('/').next()).collect();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for id in ids {
        let read = library.read(id).ok()?.files.into_iter();
        let named = read.map(|(inside, source)| (format!("{id}/{inside}"), source.text.as_bytes().to_vec()));
        files.extend(named.filter(|(path, _)| !left_out.contains(path)));
    }
    Some(Library::overlay(Library::from_files(files), library))
}
