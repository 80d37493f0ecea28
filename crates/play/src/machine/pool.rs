use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak, mpsc};
use std::thread;

use super::{Engine, Machine};
use riskbreaker_ruleset::{Declarations, LoadError, Problem, Stack};

/// The choice of threads on which the scripts of a ruleset run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Machines {
    /// At most this many threads of the library, shared by all games of the ruleset. A thread is started when all
    /// others are busy. Zero counts as one.
    Threads(usize),
    /// The calling thread, with one machine for each thread that plays. The thread needs a stack of 8 MiB.
    CallersThread,
}

impl Default for Machines {
    /// As many threads as the computer runs in parallel.
    fn default() -> Machines {
        Machines::Threads(thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The script machines of one ruleset, lent to one game at a time.
///
/// A machine that was discarded after a spent budget or a panic is replaced before the next job.
pub struct MachinePool {
    engine: &'static dyn Engine,
    home: Home,
}

enum Home {
    Threads(Arc<MachineQueue>),
    /// The token identifies the pool to which a thread's machine belongs. It lives as long as the pool.
    Caller {
        stack: Arc<Stack>,
        token: Arc<()>,
    },
}

/// The jobs that wait for a thread.
struct MachineQueue {
    stack: Arc<Stack>,
    most: usize,
    waiting: Mutex<WaitingJobs>,
    changed: Condvar,
}

struct WaitingJobs {
    jobs: VecDeque<MachineJob>,
    threads: usize,
    idle: usize,
    /// True if the pool was dropped: threads end when the jobs are done.
    closed: bool,
}

/// A job on a machine. Returns a closure that delivers the result, called after the state of the machine was checked.
type MachineJob = Box<dyn FnOnce(&mut dyn Machine) -> Box<dyn FnOnce()> + Send>;

/// Stack size in bytes of a thread that runs scripts: nested calls and the parser's recursion need more than the
/// default.
pub const MACHINE_STACK: usize = 8 << 20;

/// The error of a job that could not run: no machine could be created, or the job panicked.
#[derive(Debug)]
pub struct Died;

impl MachinePool {
    /// Loads a ruleset into a first machine.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once.
    pub fn start(
        engine: &'static dyn Engine,
        stack: Arc<Stack>,
        machines: Machines,
    ) -> Result<(MachinePool, Arc<Declarations>), LoadError> {
        let id = stack.main().id().to_string();
        let failed = |message: &str| LoadError::new(id.clone(), vec![Problem::new(id.clone(), message)]);
        match machines {
            Machines::CallersThread => {
                let token = Arc::new(());
                let (machine, declarations) = engine.load(&stack)?;
                keep_on_this_thread(&token, machine);
                Ok((MachinePool { engine, home: Home::Caller { stack, token } }, declarations))
            }
            Machines::Threads(most) => {
                if most > 1 {
                    engine.load_ahead(&stack);
                }
                let (back, loaded) = mpsc::sync_channel(1);
                let waiting = WaitingJobs { jobs: VecDeque::new(), threads: 1, idle: 0, closed: false };
                let (waiting, changed) = (Mutex::new(waiting), Condvar::new());
                let queue = Arc::new(MachineQueue { stack, most: most.max(1), waiting, changed });
                let shared = queue.clone();
                let first = move || match engine.load(&shared.stack) {
                    Ok((machine, declarations)) => {
                        let _ = back.send(Ok(declarations));
                        shared.work(engine, Some(machine));
                    }
                    Err(error) => {
                        engine.give_back();
                        let _ = back.send(Err(error));
                    }
                };
                spawn(first).map_err(|error| failed(&format!("cannot start a thread for scripts: {error}")))?;
                let declarations =
                    loaded.recv().map_err(|_| failed("the host itself failed while the ruleset was loaded"))??;
                Ok((MachinePool { engine, home: Home::Threads(queue) }, declarations))
            }
        }
    }

    pub fn engine(&self) -> &'static dyn Engine {
        self.engine
    }

    /// The number of jobs that can run at the same time.
    pub fn threads(&self) -> usize {
        match &self.home {
            Home::Threads(queue) => queue.most,
            Home::Caller { .. } => 1,
        }
    }

    /// Runs a job on a machine and waits for it.
    ///
    /// # Errors
    ///
    /// [`Died`] if a machine cannot be created or the job panics; its captures are lost then.
    pub fn run<R: Send + 'static>(&self, job: impl FnOnce(&mut dyn Machine) -> R + Send + 'static) -> Result<R, Died> {
        match &self.home {
            Home::Threads(queue) => {
                let (back, result) = mpsc::sync_channel(1);
                queue.add(
                    self.engine,
                    Box::new(move |machine| {
                        let result = job(machine);
                        Box::new(move || drop(back.send(result)))
                    }),
                );
                result.recv().map_err(|_| Died)
            }
            Home::Caller { stack, token } => {
                let known = take_from_this_thread(token);
                let machine = known.or_else(|| load(self.engine, stack));
                let mut machine = machine.ok_or(Died)?;
                let result = catch_unwind(AssertUnwindSafe(|| job(machine.as_mut())));
                if result.is_err() || machine.is_dead() {
                    drop(machine);
                    self.engine.give_back();
                } else {
                    keep_on_this_thread(token, machine);
                }
                result.map_err(|_| Died)
            }
        }
    }
}

impl Drop for MachinePool {
    fn drop(&mut self) {
        if let Home::Threads(queue) = &self.home {
            queue.lock().closed = true;
            queue.changed.notify_all();
        }
    }
}

impl MachineQueue {
    fn lock(&self) -> MutexGuard<'_, WaitingJobs> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job. Starts a thread if all are busy and the limit allows one more.
    fn add(self: &Arc<Self>, engine: &'static dyn Engine, job: MachineJob) {
        let mut waiting = self.lock();
        waiting.jobs.push_back(job);
        if waiting.jobs.len() > waiting.idle && waiting.threads < self.most {
            waiting.threads += 1;
            let queue = self.clone();
            if spawn(move || queue.work(engine, None)).is_err() {
                // The existing threads do its work.
                waiting.threads -= 1;
            }
        }
        self.changed.notify_one();
    }

    /// Waits for the next job. `None` when the pool was dropped.
    fn next(&self) -> Option<MachineJob> {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
            if waiting.closed {
                return None;
            }
            waiting.idle += 1;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }

    /// Runs jobs until the pool is dropped.
    fn work(&self, engine: &dyn Engine, mut kept: Option<Box<dyn Machine>>) {
        while let Some(job) = self.next() {
            kept = kept.or_else(|| load(engine, &self.stack));
            // The same sources were loaded before, so memory is exhausted: drop the job, which notifies its caller.
            let Some(machine) = &mut kept else { continue };
            let tell = catch_unwind(AssertUnwindSafe(|| job(machine.as_mut())));
            // Free the machine's memory before the caller continues, not when the next job comes: two machines would be
            // too many.
            if tell.is_err() || machine.is_dead() {
                kept = None;
                engine.give_back();
            }
            if let Ok(tell) = tell {
                tell();
            }
        }
    }
}

/// Loads a new machine. `None` if memory is exhausted or the host panics: a panic would end the thread while jobs wait.
fn load(engine: &dyn Engine, stack: &Arc<Stack>) -> Option<Box<dyn Machine>> {
    let loaded = catch_unwind(AssertUnwindSafe(|| engine.load(stack))).ok()?;
    loaded.ok().map(|(fresh, _)| fresh)
}

fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name("rules".into()).stack_size(MACHINE_STACK).spawn(work).map(drop)
}

/// A machine with the token of its pool.
type Owned = (Weak<()>, Box<dyn Machine>);

thread_local! {
    /// The machines of this thread.
    static OWN: RefCell<Vec<Owned>> = const { RefCell::new(Vec::new()) };
}

/// Takes the machine of a pool from this thread. `None` while a job of the same thread uses it.
fn take_from_this_thread(token: &Arc<()>) -> Option<Box<dyn Machine>> {
    OWN.with_borrow_mut(|own| {
        own.retain(|(of, _)| of.strong_count() > 0);
        let at = own.iter().position(|(of, _)| of.as_ptr() == Arc::as_ptr(token))?;
        Some(own.swap_remove(at).1)
    })
}

fn keep_on_this_thread(token: &Arc<()>, machine: Box<dyn Machine>) {
    OWN.with_borrow_mut(|own| own.push((Arc::downgrade(token), machine)));
}
