//! Runs pieces of work on threads, each with a machine for scripts, and returns their results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::super::SimulationError;
use riskbreaker_play::{MACHINE_STACK, Machine, Ruleset};

/// The interval at which a run asks whether to continue while no piece of work has ended.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(200);

/// A run of numbered pieces of work, from 0, under one set of rules.
pub(super) struct Run<'r> {
    /// The rules of the machines.
    pub rules: &'r Arc<Ruleset>,
    /// The number of threads.
    pub threads: usize,
    /// The number of pieces.
    pub count: usize,
}

impl Run<'_> {
    /// Runs the pieces on the threads and passes their results to `took` in the order of their numbers, without a gap.
    ///
    /// While no result is ready, `took` is also called without one. It ends the run by returning false: pieces that
    /// have begun are dropped, and the flag passed to `work` is set so that it can end early.
    ///
    /// # Errors
    ///
    /// A machine or a thread cannot be started.
    #[allow(clippy::type_complexity)] // the work of one piece
    pub fn in_order<T: Send>(
        &self,
        work: &(dyn Fn(&mut dyn Machine, usize, &Arc<AtomicBool>) -> T + Sync),
        took: &mut dyn FnMut(Option<T>) -> bool,
    ) -> Result<(), SimulationError> {
        let (next, stop) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let threads = self.threads.clamp(1, 256).min(self.count.max(1));
        thread::scope(|scope| {
            let (send, receive) = mpsc::sync_channel(threads * 4);
            for _ in 0..threads {
                let (send, next, stop) = (send.clone(), &next, &stop);
                let all = move || self.work_through(work, next, stop, &send);
                let started =
                    thread::Builder::new().name("study".into()).stack_size(MACHINE_STACK).spawn_scoped(scope, all);
                if let Err(error) = started {
                    stop.store(true, Ordering::Relaxed);
                    return Err(self.no_machine(error));
                }
            }
            drop(send);
            gather(&receive, &stop, took)
        })
    }

    /// Like [`Run::in_order`], for pieces of which some have a known result: only the others are run.
    #[allow(clippy::type_complexity)] // the work of one piece
    pub fn rest_in_order<T: Send>(
        &self,
        mut known: Vec<Option<T>>,
        work: &(dyn Fn(&mut dyn Machine, usize, &Arc<AtomicBool>) -> T + Sync),
        took: &mut dyn FnMut(Option<T>) -> bool,
    ) -> Result<(), SimulationError> {
        let missing: Vec<usize> = (0..self.count).filter(|at| known.get(*at).is_none_or(Option::is_none)).collect();
        let mut due = 0;
        let mut pass_known = |due: &mut usize, took: &mut dyn FnMut(Option<T>) -> bool| {
            while let Some(found) = known.get_mut(*due).and_then(Option::take) {
                *due += 1;
                if !took(Some(found)) {
                    return false;
                }
            }
            true
        };
        if !pass_known(&mut due, took) || missing.is_empty() {
            return Ok(());
        }
        let run = Run { rules: self.rules, threads: self.threads, count: missing.len() };
        let one = |vm: &mut dyn Machine, at: usize, stop: &Arc<AtomicBool>| work(vm, missing[at], stop);
        run.in_order(&one, &mut |found| match found {
            None => took(None),
            Some(found) => {
                due += 1;
                took(Some(found)) && pass_known(&mut due, took)
            }
        })
    }

    fn no_machine(&self, error: impl ToString) -> SimulationError {
        SimulationError::Machine(self.rules.id().to_string(), error.to_string())
    }

    /// Runs pieces on one thread until none is left.
    #[allow(clippy::type_complexity)] // the work of one piece
    fn work_through<T: Send>(
        &self,
        work: &(dyn Fn(&mut dyn Machine, usize, &Arc<AtomicBool>) -> T + Sync),
        next: &AtomicUsize,
        stop: &Arc<AtomicBool>,
        send: &mpsc::SyncSender<Result<(usize, T), SimulationError>>,
    ) {
        let mut vm: Option<Box<dyn Machine>> = None;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= self.count || stop.load(Ordering::Relaxed) {
                return;
            }
            // A machine that was discarded is built again for the next piece.
            if vm.as_ref().is_none_or(|vm| vm.is_dead()) {
                drop(vm.take());
                match self.rules.machine() {
                    Ok(machine) => vm = Some(machine),
                    Err(error) => {
                        let _ = send.send(Err(self.no_machine(error)));
                        return;
                    }
                }
            }
            let Some(vm) = vm.as_deref_mut() else { return };
            let done = work(vm, at, stop);
            if stop.load(Ordering::Relaxed) || send.send(Ok((at, done))).is_err() {
                return;
            }
        }
    }
}

/// Collects the results in order as the threads send them.
fn gather<T>(
    receive: &mpsc::Receiver<Result<(usize, T), SimulationError>>,
    stop: &AtomicBool,
    took: &mut dyn FnMut(Option<T>) -> bool,
) -> Result<(), SimulationError> {
    let (mut waiting, mut due) = (BTreeMap::new(), 0);
    loop {
        match receive.recv_timeout(LOOKED_AT_EVERY) {
            Ok(Ok((at, done))) => drop(waiting.insert(at, done)),
            Ok(Err(error)) => {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let mut goes_on = !stop.load(Ordering::Relaxed);
        if goes_on && !waiting.contains_key(&due) {
            goes_on = took(None);
        }
        while goes_on && let Some(done) = waiting.remove(&due) {
            due += 1;
            goes_on = took(Some(done));
        }
        if !goes_on {
            stop.store(true, Ordering::Relaxed);
        }
    }
}
