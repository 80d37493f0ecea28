//! The watchdog: a thread that reminds every running script to read the clock.
//!
//! A script reads the clock after a fixed amount of work, but the time for one unit of work differs by a factor of a
//! million. The watchdog limits the time between two readings to a few milliseconds.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use super::safepoint;

/// The interval of reminders.
const PERIOD: Duration = Duration::from_millis(4);

/// The number of rounds without a running script after which the watchdog sleeps until one begins.
const IDLE_ROUNDS: u32 = 50;

/// The watchdog's record of one thread.
struct ThreadWatch {
    /// The number of nested calls into scripts that run on the thread.
    running: AtomicU64,
    /// Set by the watchdog, cleared by the script when it has read the clock.
    look: AtomicBool,
}

/// The records of all threads. A thread that ends leaves its record to the next one, so there are as many as there were
/// threads at once.
struct Watches {
    all: Vec<&'static ThreadWatch>,
    free: Vec<&'static ThreadWatch>,
}

static WATCHES: Mutex<Watches> = Mutex::new(Watches { all: Vec::new(), free: Vec::new() });
static ASLEEP: AtomicBool = AtomicBool::new(false);
static UNWATCHED: ThreadWatch = ThreadWatch { running: AtomicU64::new(0), look: AtomicBool::new(false) };

/// A thread's ownership of its record.
struct ThreadHold(&'static ThreadWatch);

impl Drop for ThreadHold {
    fn drop(&mut self) {
        OWN.set(None);
        safepoint::look_at(None);
        self.0.running.store(0, Ordering::SeqCst);
        with_watches(|watches| watches.free.push(self.0));
    }
}

thread_local! {
    /// The record of this thread, for fast access; `None` before its first call and at its end.
    static OWN: Cell<Option<&'static ThreadWatch>> = const { Cell::new(None) };
    static HOLD: ThreadHold = ThreadHold(take_watch());
}

#[inline]
fn own() -> &'static ThreadWatch {
    OWN.get().unwrap_or(&UNWATCHED)
}

fn with_watches<R>(work: impl FnOnce(&mut Watches) -> R) -> R {
    work(&mut WATCHES.lock().unwrap_or_else(PoisonError::into_inner))
}

fn take_watch() -> &'static ThreadWatch {
    let watch = with_watches(|watches| match watches.free.pop() {
        Some(watch) => watch,
        None => {
            let watch: &'static ThreadWatch =
                Box::leak(Box::new(ThreadWatch { running: AtomicU64::new(0), look: AtomicBool::new(false) }));
            watches.all.push(watch);
            watch
        }
    });
    OWN.set(Some(watch));
    safepoint::look_at(Some(&watch.look));
    watch
}

/// The watchdog thread. `None` if it cannot be started; scripts then read the clock only after a fixed amount of work.
fn watchdog() -> Option<&'static Thread> {
    static DOG: OnceLock<Option<Thread>> = OnceLock::new();
    let dog = DOG.get_or_init(|| {
        let made = thread::Builder::new().name("watchdog".into()).stack_size(64 << 10).spawn(watch_all);
        made.ok().map(|handle| handle.thread().clone())
    });
    dog.as_ref()
}

fn watch_all() {
    let mut idle = 0;
    loop {
        thread::sleep(PERIOD);
        idle = if remind_all() { 0 } else { idle + 1 };
        if idle > IDLE_ROUNDS {
            ASLEEP.store(true, Ordering::SeqCst);
            // A call that began before it could see that the watchdog sleeps is found here.
            if !remind_all() {
                thread::park();
            }
            ASLEEP.store(false, Ordering::SeqCst);
            idle = 0;
        }
    }
}

/// Reminds every running script. Returns true if there is one.
fn remind_all() -> bool {
    with_watches(|watches| {
        let running = watches.all.iter().filter(|watch| watch.running.load(Ordering::SeqCst) > 0);
        running.map(|watch| watch.look.store(true, Ordering::Relaxed)).count() > 0
    })
}

/// A call that is watched until this is dropped.
pub(super) struct WatchedCall(());

/// Begins to watch a call on this thread.
pub(super) fn watch() -> WatchedCall {
    let dog = watchdog();
    // A thread that is about to end may have released its record.
    let _ = HOLD.try_with(|_| ());
    own().running.fetch_add(1, Ordering::SeqCst);
    if ASLEEP.load(Ordering::SeqCst)
        && let Some(dog) = dog
    {
        dog.unpark();
    }
    WatchedCall(())
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        own().running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// True if the running call should read the clock now.
#[inline]
pub(super) fn must_look() -> bool {
    let look = &own().look;
    look.load(Ordering::Relaxed) && look.swap(false, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_a_running_call_is_interrupted_by_the_watchdog() {
        assert!(!must_look());
        let begun = Instant::now();
        let watched = watch();
        while !must_look() {
            assert!(begun.elapsed() < Duration::from_secs(20), "nobody reminds it");
            thread::yield_now();
        }
        drop(watched);
        assert_eq!(own().running.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_watched_call_may_move_between_threads() {
        for _ in 0..50 {
            thread::spawn(|| drop(watch())).join().unwrap();
        }
        let (all, free) = with_watches(|watches| (watches.all.len(), watches.free.len()));
        assert!(all < 40 && free <= all, "{all} watches, {free} free");
    }
}
