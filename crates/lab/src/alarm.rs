use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use riskbreaker_work::is_set;

/// A flag that stops work when a time limit is reached or when somebody interrupts.
///
/// Work that reads the flag inside its loops needs no clock of its own. Dropping the alarm cancels it.
pub(super) struct Alarm {
    flag: Arc<AtomicBool>,
    /// True if the time limit was reached, as opposed to an interruption.
    late: Arc<AtomicBool>,
    /// Closed when the alarm is dropped, which ends its thread.
    _watch: Sender<()>,
}

/// The interval at which the interrupt flag is read.
const READ_EVERY: Duration = Duration::from_millis(10);

impl Alarm {
    /// Sets an alarm. If its thread cannot be started, the flag is never set, and the work ends at its other limits.
    pub fn set(time: Duration, interrupt: Option<&Arc<AtomicBool>>) -> Alarm {
        let (flag, late) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (watch, over) = mpsc::channel::<()>();
        let alarm = Alarm { flag: flag.clone(), late: late.clone(), _watch: watch };
        let (began, interrupt) = (Instant::now(), interrupt.cloned());
        let wait = move || {
            loop {
                let left = time.saturating_sub(began.elapsed());
                if left.is_zero() || is_set(interrupt.as_deref()) {
                    late.store(left.is_zero(), Ordering::SeqCst);
                    flag.store(true, Ordering::SeqCst);
                    return;
                }
                let pause = if interrupt.is_some() { left.min(READ_EVERY) } else { left };
                if over.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        };
        let _ = thread::Builder::new().name("alarm".into()).spawn(wait);
        alarm
    }

    /// The flag that the work has to read.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// True if the time limit was reached before the work was done.
    pub fn went_off(&self) -> bool {
        self.late.load(Ordering::SeqCst)
    }
}
