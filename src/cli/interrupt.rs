//! Ctrl-C: long work stops early with a partial result. A second Ctrl-C ends the program at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// How a program ends that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// The number of pieces of work that watch for Ctrl-C. At zero, Ctrl-C ends the program.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// A flag that Ctrl-C sets, to the end of the program.
pub fn watched() -> Arc<AtomicBool> {
    static FOR_EVER: OnceLock<Watch> = OnceLock::new();
    FOR_EVER.get_or_init(Watch::begin).wanted()
}

/// Watches for Ctrl-C during one piece of work at the prompt.
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    /// What was pressed before does not count.
    pub fn begin() -> Watch {
        static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
        let watch = || {
            let wanted = Arc::new(AtomicBool::new(false));
            let seen = wanted.clone();
            // Without a handler, Ctrl-C ends the program.
            let _ = ctrlc::set_handler(move || {
                if WATCHING.load(Ordering::Relaxed) == 0 || seen.swap(true, Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED.into());
                }
            });
            wanted
        };
        let wanted = WANTED.get_or_init(watch).clone();
        wanted.store(false, Ordering::Relaxed);
        WATCHING.fetch_add(1, Ordering::Relaxed);
        Watch(wanted)
    }

    /// Set once Ctrl-C was pressed.
    pub fn wanted(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHING.fetch_sub(1, Ordering::Relaxed);
    }
}
