//! Ctrl-C: long work ends soon with what is known; a second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// How a program ends that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Set by Ctrl-C from now on.
pub fn watched() -> Arc<AtomicBool> {
    static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let watch = || {
        let wanted = Arc::new(AtomicBool::new(false));
        let seen = wanted.clone();
        // Where it cannot be had, Ctrl-C ends the program as ever.
        let _ = ctrlc::set_handler(move || {
            if seen.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
        });
        wanted
    };
    WANTED.get_or_init(watch).clone()
}

/// The same for one piece of work at the prompt: what was pressed before does not count.
pub fn watched_anew() -> Arc<AtomicBool> {
    let wanted = watched();
    wanted.store(false, Ordering::Relaxed);
    wanted
}
