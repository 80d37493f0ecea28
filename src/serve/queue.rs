use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::host::Job;
use super::messages::MOST_WAITING;
use crate::play::MACHINE_STACK;

/// Threads that carry out jobs, and can run scripts: those of one table in order, those of different tables side by side.
pub(super) struct Queue {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Jobs by table; a table stands here as long as one of its jobs waits or runs.
    tables: HashMap<String, VecDeque<Job>>,
    /// Tables whose next job may run.
    ready: VecDeque<String>,
    closed: bool,
    /// How many threads wait for a table. Only if there are any, the system is asked to wake one.
    idle: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            let Some(table) = state.ready.pop_front() else {
                if state.closed && state.tables.is_empty() {
                    return;
                }
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let job = state.tables.get_mut(&table).and_then(VecDeque::pop_front);
            drop(state);
            if let Some(job) = job {
                job.run();
            }
            state = self.lock();
            if state.tables.get(&table).is_some_and(VecDeque::is_empty) {
                state.tables.remove(&table);
                if state.closed && state.tables.is_empty() {
                    self.changed.notify_all();
                }
            } else {
                // This thread takes a table next: no other has to be woken for it.
                state.ready.push_back(table);
            }
        }
    }
}

impl Queue {
    pub fn start(threads: usize) -> std::io::Result<Queue> {
        let shared = Arc::new(Shared::default());
        let start = |at: usize| {
            let shared = shared.clone();
            std::thread::Builder::new()
                .name(format!("table {at}"))
                .stack_size(MACHINE_STACK)
                .spawn(move || shared.work())
        };
        let workers = (0..threads.max(1)).map(start).collect::<Result<_, _>>()?;
        Ok(Queue { shared, workers })
    }

    /// Adds a job; answers it with "busy" where too many wait at its table.
    pub fn push(&self, job: Job) {
        let mut state = self.shared.lock();
        let table = job.table().to_owned();
        match state.tables.get_mut(&table) {
            Some(waiting) if waiting.len() >= MOST_WAITING => {
                let count = waiting.len();
                drop(state);
                job.refuse_busy(count);
            }
            Some(waiting) => waiting.push_back(job),
            None => {
                state.tables.insert(table.clone(), VecDeque::from([job]));
                state.ready.push_back(table);
                if state.idle > 0 {
                    self.shared.changed.notify_one();
                }
            }
        }
    }

    /// Waits until all jobs are done.
    pub fn finish(self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for worker in self.workers {
            // A job catches its own panics.
            let _ = worker.join();
        }
    }
}
