use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::machine::{Code, Engine, Machine};
use crate::ruleset::{Declarations, LoadError, Problem, Stack};

/// A worker thread with a script machine of one ruleset.
///
/// Scripts run only here, on a stack of their own size. A machine that was thrown away after a spent budget is built
/// again before the next job.
pub(crate) struct Pool {
    engine: &'static dyn Engine,
    jobs: Mutex<mpsc::Sender<Job>>,
}

/// Runs on the machine, and gives what is left to do when the machine has been looked after: telling of the result.
type Job = Box<dyn FnOnce(&mut dyn Machine) -> Box<dyn FnOnce()> + Send>;

/// Stack of a thread that runs scripts, in bytes: nested calls and the parser's recursion need more than the default.
pub(crate) const MACHINE_STACK: usize = 8 << 20;

/// The worker died with its job.
#[derive(Debug)]
pub(crate) struct Died;

impl Pool {
    /// Starts a worker and loads the ruleset into its machine.
    ///
    /// # Errors
    ///
    /// Every problem of the ruleset at once.
    pub fn start(engine: &'static dyn Engine, stack: Arc<Stack>) -> Result<(Pool, Arc<Declarations>), LoadError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (back, loaded) = mpsc::sync_channel(1);
        let id = stack.main().id().to_string();
        let failed = |message: &str| LoadError::new(id.clone(), vec![Problem::new(id.clone(), message)]);
        thread::Builder::new()
            .name("rules".into())
            .stack_size(MACHINE_STACK)
            .spawn(move || match engine.load(&stack, Code::Interpreted) {
                Ok((vm, declarations)) => {
                    let _ = back.send(Ok(declarations));
                    work(engine, vm, &stack, &queue);
                }
                Err(error) => {
                    engine.give_back();
                    let _ = back.send(Err(error));
                }
            })
            .map_err(|error| failed(&format!("no thread for scripts can be had: {error}")))?;
        let declarations =
            loaded.recv().map_err(|_| failed("the host itself failed while the ruleset was loaded"))??;
        Ok((Pool { engine, jobs: Mutex::new(jobs) }, declarations))
    }

    pub fn engine(&self) -> &'static dyn Engine {
        self.engine
    }

    /// Runs a job on the worker and waits for it.
    ///
    /// # Errors
    ///
    /// [`Died`] if the worker is gone; the job's captures are lost then.
    pub fn run<R: Send + 'static>(&self, job: impl FnOnce(&mut dyn Machine) -> R + Send + 'static) -> Result<R, Died> {
        let (back, result) = mpsc::sync_channel(1);
        let job: Job = Box::new(move |vm| {
            let result = job(vm);
            Box::new(move || drop(back.send(result)))
        });
        let sent = match self.jobs.lock() {
            Ok(jobs) => jobs.send(job),
            Err(poisoned) => poisoned.into_inner().send(job),
        };
        sent.map_err(|_| Died)?;
        result.recv().map_err(|_| Died)
    }
}

fn work(engine: &dyn Engine, vm: Box<dyn Machine>, stack: &Arc<Stack>, queue: &mpsc::Receiver<Job>) {
    let mut kept = Some(vm);
    while let Ok(job) = queue.recv() {
        let vm = match kept.take() {
            Some(vm) => kept.insert(vm),
            None => match engine.load(stack, Code::Interpreted) {
                Ok((fresh, _)) => kept.insert(fresh),
                // It loaded once from the same sources, so there is no memory left: the caller is told.
                Err(_) => return,
            },
        };
        let tell = job(vm.as_mut());
        // What it holds is given back before anybody goes on, and not when the next job comes: two of them would be too many.
        if vm.is_dead() {
            kept = None;
            engine.give_back();
        }
        tell();
        kept.iter_mut().for_each(|vm| vm.settle_in());
    }
}
