//! Handling of Ctrl-C and SIGTERM: long work stops early with a partial result. A second signal ends the program at once.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

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
fn heed_termination() {
    #[cfg(unix)]
    {
        let on_termination: extern "C" fn(libc::c_int) = on_termination;
        let on_alarm: extern "C" fn(libc::c_int) = on_alarm;
        // SAFETY: the handlers only store to atomics, set an alarm, write to a file descriptor, or end the process.
        unsafe {
            libc::signal(libc::SIGTERM, on_termination as libc::sighandler_t);
            libc::signal(libc::SIGALRM, on_alarm as libc::sighandler_t);
        }
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
    if IS_BRIEF.load(Ordering::Relaxed) {
        // An alarm counts whole seconds.
        // SAFETY: it sets a timer of the process.
        unsafe { libc::alarm(GRACE.as_secs() as libc::c_uint + 1) };
    }
}

/// Ends the program if SIGTERM has not ended an analysis in time.
#[cfg(unix)]
extern "C" fn on_alarm(_: libc::c_int) {
    let text = NO_MORE.as_bytes();
    // SAFETY: it writes bytes that live for ever, and ends the process without running anything of it.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(STOPPED.into());
    }
}

/// The message of an analysis that was ended before it had a result.
const NO_MORE: &str = "interrupted: no more is known\n";

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

/// Returns the flag that Ctrl-C and SIGTERM set, watched until the program ends.
pub fn watched() -> Arc<AtomicBool> {
    static FOR_EVER: OnceLock<CtrlCWatch> = OnceLock::new();
    let begin = || {
        let watch = CtrlCWatch::begin();
        heed_termination();
        watch
    };
    FOR_EVER.get_or_init(begin).wanted()
}

/// Like [`watched`], for an analysis whose result is printed at its end: half a second after Ctrl-C, and a second after
/// SIGTERM, the program is ended if it has not ended by itself.
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
                let _ = write!(std::io::stderr(), "{NO_MORE}");
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
