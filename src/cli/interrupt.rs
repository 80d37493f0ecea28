//! Handling of Ctrl-C: long work stops early with a partial result. A second Ctrl-C ends the program at once.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The exit code of an interrupted program.
pub const INTERRUPTED: u8 = 130;

/// The exit code after SIGTERM: the same call continues the work.
#[cfg(unix)]
const STOPPED: u8 = 75;

/// True if the system has asked the program to stop.
#[cfg(unix)]
static TERMINATED: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C sets.
static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Makes SIGTERM end long work like Ctrl-C; a second one ends the program at once. Does nothing on systems without this
/// signal.
pub fn heed_termination() {
    #[cfg(unix)]
    {
        flag();
        let handler: extern "C" fn(libc::c_int) = on_termination;
        // SAFETY: the handler only stores to atomics, or ends the process.
        unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
    }
}

#[cfg(unix)]
extern "C" fn on_termination(_: libc::c_int) {
    if TERMINATED.swap(true, Ordering::Relaxed) {
        // SAFETY: it ends the process without running anything of it.
        unsafe { libc::_exit(STOPPED.into()) };
    }
    if let Some(wanted) = WANTED.get() {
        wanted.store(true, Ordering::Relaxed);
    }
}

/// The exit code of interrupted work: by Ctrl-C, or by SIGTERM.
pub fn interrupted_code() -> u8 {
    #[cfg(unix)]
    if TERMINATED.load(Ordering::Relaxed) {
        return STOPPED;
    }
    INTERRUPTED
}

/// The number of pieces of work that watch for Ctrl-C. At zero, Ctrl-C ends the program.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// Returns the flag that Ctrl-C sets, watched until the program ends.
pub fn watched() -> Arc<AtomicBool> {
    static FOR_EVER: OnceLock<CtrlCWatch> = OnceLock::new();
    FOR_EVER.get_or_init(CtrlCWatch::begin).wanted()
}

/// Like [`watched`], for an analysis whose result is printed at its end: half a second after Ctrl-C, the program is
/// ended if it has not ended by itself.
pub fn watched_briefly() -> Arc<AtomicBool> {
    IS_BRIEF.store(true, Ordering::Relaxed);
    watched()
}

/// True if the program is ended soon after Ctrl-C.
static IS_BRIEF: AtomicBool = AtomicBool::new(false);

/// The time for a partial result after Ctrl-C; a build without optimization takes longer for the same work.
const GRACE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 4_000 } else { 420 });

/// Watches for Ctrl-C during one piece of work at the prompt.
pub struct CtrlCWatch(Arc<AtomicBool>);

/// While this exists, Ctrl-C is left to another program in the terminal, such as a pager.
pub struct CtrlCSuspended(());

/// The number of [`CtrlCSuspended`].
static ELSEWHERE: AtomicUsize = AtomicUsize::new(0);

/// The flag, with the handler that sets it. If the handler cannot be installed, Ctrl-C ends the program.
fn flag() -> &'static Arc<AtomicBool> {
    WANTED.get_or_init(|| {
        let wanted = Arc::new(AtomicBool::new(false));
        let seen = wanted.clone();
        let _ = ctrlc::set_handler(move || {
            if ELSEWHERE.load(Ordering::Relaxed) > 0 {
                return;
            }
            if WATCHING.load(Ordering::Relaxed) == 0 || seen.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            if IS_BRIEF.load(Ordering::Relaxed) {
                // A second Ctrl-C during this time is ignored.
                std::thread::sleep(GRACE);
                let _ = writeln!(std::io::stderr(), "interrupted: no more is known");
                std::process::exit(INTERRUPTED.into());
            }
        });
        wanted
    })
}

impl CtrlCSuspended {
    pub fn begin() -> CtrlCSuspended {
        flag();
        ELSEWHERE.fetch_add(1, Ordering::Relaxed);
        CtrlCSuspended(())
    }
}

impl Drop for CtrlCSuspended {
    fn drop(&mut self) {
        ELSEWHERE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CtrlCWatch {
    /// Begins to watch. An earlier Ctrl-C does not count.
    pub fn begin() -> CtrlCWatch {
        let wanted = flag().clone();
        wanted.store(false, Ordering::Relaxed);
        WATCHING.fetch_add(1, Ordering::Relaxed);
        CtrlCWatch(wanted)
    }

    /// The flag that is set once Ctrl-C was pressed.
    pub fn wanted(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for CtrlCWatch {
    fn drop(&mut self) {
        WATCHING.fetch_sub(1, Ordering::Relaxed);
    }
}
