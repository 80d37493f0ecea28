use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use riskbreaker_work::is_set;

/// A flag that stops work: it is set when a time is over, or when somebody interrupts.
///
/// Work that looks at the flag inside its loops needs no clock of its own. Dropping the alarm calls it off.
pub(super) struct Alarm {
    flag: Arc<AtomicBool>,
    /// Whether the time was over, as opposed to an interruption.
    late: Arc<AtomicBool>,
    /// Closed when the alarm is dropped, which ends its thread.
    _watch: Sender<()>,
}

/// How often the flag of somebody who may interrupt is read.
const READ_EVERY: Duration = Duration::from_millis(10);

impl Alarm {
    /// Sets an alarm. Without a thread for it there is none: the work ends at its counts.
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

    /// The flag, for whoever works.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// Whether the time was over before the work was.
    pub fn went_off(&self) -> bool {
        self.late.load(Ordering::SeqCst)
    }
}
