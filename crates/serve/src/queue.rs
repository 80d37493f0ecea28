use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::job::Job;
use super::messages::MOST_WAITING;
use riskbreaker_play::MACHINE_STACK;

/// Threads that carry out [`Job`]s, and can run scripts: those of one table in order, those of different tables side by side. What
/// looks ahead for a seat stands in a line of its own, as a table does.
///
/// A job that plays on for long is done in slices, behind each of which the tables that wait have their turn. A script cannot
/// be cut. So one more thread carries out what was quick before while tables hold all others that were not.
pub struct Queue {
    shared: Arc<QueueShared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

struct QueueShared {
    state: Mutex<QueueState>,
    /// How many threads carry out any job.
    threads: usize,
    changed: Condvar,
    /// Something is there for the thread that carries out quick jobs only.
    reserve: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// Jobs by table; a table stands here as long as one of its jobs waits or runs.
    tables: HashMap<String, VecDeque<Job>>,
    /// Tables whose next job may run.
    ready: VecDeque<String>,
    closed: bool,
    /// How many threads wait for a table. Only if there are any, the system is asked to wake one.
    idle: usize,
    /// How many threads carry out jobs of slow tables.
    held: usize,
}

impl QueueState {
    /// Where the next table stands that a thread may take.
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
                // This thread takes the next table itself. Only the reserve thread, which may not take this one, wakes another.
                if reserve && state.idle > 0 {
                    self.changed.notify_one();
                }
            }
        }
    }

    /// Adds a job; answers it with "busy" where too many wait in its line.
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
    /// Starts so many threads, and one more for what is quick.
    ///
    /// # Errors
    ///
    /// The system has no threads left.
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

    /// Adds a job; answers it with "busy" where too many wait at its table.
    pub fn push(&self, job: Job) {
        self.shared.push(job);
    }

    /// Waits until all jobs are done. No more are added then.
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
