use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::job::Job;
use super::messages::MOST_WAITING;
use riskbreaker_play::MACHINE_STACK;

/// A pool of threads that run [`Job`]s and can run scripts. The jobs of one line run in order, those of different lines
/// in parallel. Each table has a line, and so has looking ahead for a seat.
///
/// A job that plays on for long runs in slices; after each slice, waiting tables get their turn. A script cannot be
/// interrupted for this. So an extra thread runs the jobs of quick tables while all others are held by slow ones.
pub struct Queue {
    shared: Arc<QueueShared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

struct QueueShared {
    state: Mutex<QueueState>,
    /// The number of threads that run any job.
    threads: usize,
    changed: Condvar,
    /// Signals work for the extra thread, which runs quick jobs only.
    reserve: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// The jobs by line. A line stays here while one of its jobs waits or runs.
    tables: HashMap<String, VecDeque<Job>>,
    /// The lines whose next job may run.
    ready: VecDeque<String>,
    closed: bool,
    /// The number of idle threads: without any, no wake-up is sent.
    idle: usize,
    /// The number of threads that run jobs of slow tables.
    held: usize,
}

impl QueueState {
    /// The index in `ready` of the next line that a thread may take.
    fn next(&self, reserve: bool, threads: usize) -> Option<usize> {
        match reserve {
            false => (!self.ready.is_empty()).then_some(0),
            true if self.held < threads => None,
            true => self.ready.iter().position(|table| !self.is_slow(table)),
        }
    }

    fn is_slow(&self, table: &str) -> bool {
        self.tables.get(table).and_then(VecDeque::front).is_some_and(Job::is_slow)
    }

    fn is_done(&self) -> bool {
        self.closed && self.tables.is_empty()
    }
}

impl QueueShared {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn work(&self, reserve: bool) {
        let mut state = self.lock();
        loop {
            let next = state.next(reserve, self.threads);
            let Some(table) = next.and_then(|at| state.ready.remove(at)) else {
                if state.is_done() {
                    return;
                }
                state.idle += usize::from(!reserve);
                let changed = if reserve { &self.reserve } else { &self.changed };
                state = changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                state.idle -= usize::from(!reserve);
                continue;
            };
            let slow = state.is_slow(&table);
            state.held += usize::from(slow);
            self.wake_reserve(&state);
            let job = state.tables.get_mut(&table).and_then(VecDeque::pop_front);
            drop(state);
            let rest = job.and_then(Job::run_slice);
            state = self.lock();
            state.held -= usize::from(slow);
            match rest {
                Some(rest) if rest.line() == table => {
                    state.tables.entry(table.clone()).or_default().push_front(rest);
                }
                Some(rest) => {
                    drop(state);
                    self.push(rest);
                    state = self.lock();
                }
                None => {}
            }
            if state.tables.get(&table).is_some_and(VecDeque::is_empty) {
                state.tables.remove(&table);
                if state.is_done() {
                    self.changed.notify_all();
                    self.reserve.notify_all();
                }
            } else {
                state.ready.push_back(table);
                // This thread takes the next line itself. Only the extra thread, which may not take this one, wakes
                // another.
                if reserve && state.idle > 0 {
                    self.changed.notify_one();
                }
            }
        }
    }

    /// Adds a job. Answers it with "busy" if too many wait in its line.
    fn push(&self, job: Job) {
        let mut state = self.lock();
        let line = job.line().to_owned();
        match state.tables.get_mut(&line) {
            Some(waiting) if waiting.len() >= MOST_WAITING => {
                let count = waiting.len();
                drop(state);
                job.refuse_busy(count);
            }
            Some(waiting) => waiting.push_back(job),
            None => {
                state.tables.insert(line.clone(), VecDeque::from([job]));
                state.ready.push_back(line);
                if state.idle > 0 {
                    self.changed.notify_one();
                } else {
                    self.wake_reserve(&state);
                }
            }
        }
    }

    fn wake_reserve(&self, state: &QueueState) {
        if state.held == self.threads && state.next(true, self.threads).is_some() {
            self.reserve.notify_one();
        }
    }
}

impl Queue {
    /// Starts this number of threads, and one more for quick jobs.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub fn start(threads: usize) -> std::io::Result<Queue> {
        let threads = threads.max(1);
        let (state, changed, reserve) = Default::default();
        let shared = Arc::new(QueueShared { state, threads, changed, reserve });
        let start = |at: usize| {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name(format!("table {at}"))
                .stack_size(MACHINE_STACK)
                .spawn(move || shared.work(at == threads))
        };
        let workers = (0..=threads).map(start).collect::<Result<_, _>>()?;
        Ok(Queue { shared, workers: Mutex::new(workers) })
    }

    /// Adds a job. Answers it with "busy" if too many wait in its line.
    pub fn push(&self, job: Job) {
        self.shared.push(job);
    }

    /// Waits until all jobs are done. No jobs may be added after that.
    pub fn finish(&self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        self.shared.reserve.notify_all();
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for worker in workers {
            // A job catches its own panics.
            let _ = worker.join();
        }
    }
}
