use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::Vm;
use crate::ruleset::Stack;

/// A worker thread with a script machine of one ruleset.
///
/// Scripts run only here, on a stack of their own size. A machine that was thrown away after a spent budget is built
/// again before the next job.
pub(crate) struct Engine {
    jobs: Mutex<mpsc::Sender<Job>>,
}

type Job = Box<dyn FnOnce(&mut Vm) + Send>;

/// Stack of a thread that runs scripts, in bytes: nested calls and the parser's recursion need more than the default.
pub(crate) const STACK: usize = 8 << 20;

/// The worker died with its job.
#[derive(Debug)]
pub(crate) struct Died;

impl Engine {
    /// Starts a worker with a machine that has just been loaded.
    pub fn start(stack: Arc<Stack>) -> std::io::Result<Engine> {
        let (jobs, queue) = mpsc::channel::<Job>();
        thread::Builder::new().name("rules".into()).stack_size(STACK).spawn(move || work(stack, queue))?;
        Ok(Engine { jobs: Mutex::new(jobs) })
    }

    /// Runs a job on the worker and waits for it.
    ///
    /// # Errors
    ///
    /// [`Died`] if the worker is gone; the job's captures are lost then.
    pub fn run<R: Send + 'static>(&self, job: impl FnOnce(&mut Vm) -> R + Send + 'static) -> Result<R, Died> {
        let (back, result) = mpsc::sync_channel(1);
        let job: Job = Box::new(move |vm| {
            let _ = back.send(job(vm));
        });
        let sent = match self.jobs.lock() {
            Ok(jobs) => jobs.send(job),
            Err(poisoned) => poisoned.into_inner().send(job),
        };
        sent.map_err(|_| Died)?;
        result.recv().map_err(|_| Died)
    }
}

fn work(stack: Arc<Stack>, queue: mpsc::Receiver<Job>) {
    let mut vm: Option<Vm> = None;
    while let Ok(job) = queue.recv() {
        if vm.as_ref().is_none_or(Vm::is_dead) {
            drop(vm.take());
            vm = match Vm::load(&stack) {
                Ok((loaded, _)) => Some(loaded),
                // It loaded once from the same sources, so this is a machine without memory: the caller is told.
                Err(_) => return,
            };
        }
        if let Some(vm) = vm.as_mut() {
            job(vm);
        }
    }
}
