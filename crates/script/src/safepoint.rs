//! What a script checks at each safepoint, in one place of its thread: a script of a few milliseconds passes a million.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The limits of the script that runs on a thread.
struct Limits {
    /// The work left until the clock is read.
    work: Cell<i64>,
    /// The memory in use, in bytes, above which it has to be looked at.
    most: Cell<usize>,
    /// The number of bytes in use in the running machine, which it counts itself.
    bytes: Cell<*const usize>,
    /// Set when the script has to read the clock.
    look: Cell<*const AtomicBool>,
}

/// The bytes in use while no machine runs.
static NO_BYTES: usize = 0;
/// The reminder of a thread that nobody watches.
static NO_LOOK: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LIMITS: Limits = const {
        Limits {
            work: Cell::new(0),
            most: Cell::new(usize::MAX),
            bytes: Cell::new(&raw const NO_BYTES),
            look: Cell::new(&raw const NO_LOOK),
        }
    };
}

/// Charges one unit of work. Returns true if a limit may be reached.
#[inline]
pub(super) fn pass() -> bool {
    LIMITS.with(|limits| {
        let left = limits.work.get() - 1;
        limits.work.set(left);
        // SAFETY: `count_bytes_at` and `look_at` are given what lives until they are called again.
        let (bytes, look) = unsafe { (*limits.bytes.get(), (*limits.look.get()).load(Ordering::Relaxed)) };
        // Without short cuts: usually none of them holds.
        (left < 0) | (bytes > limits.most.get()) | look
    })
}

/// The work left until the clock is read.
pub(super) fn work() -> i64 {
    LIMITS.with(|limits| limits.work.get())
}

pub(super) fn set_work(left: i64) {
    LIMITS.with(|limits| limits.work.set(left));
}

/// The memory in use above which it has to be looked at.
pub(super) fn most() -> usize {
    LIMITS.with(|limits| limits.most.get())
}

pub(super) fn set_most(bytes: usize) {
    LIMITS.with(|limits| limits.most.set(bytes));
}

/// Sets where the running machine counts its bytes; null while none runs.
///
/// # Safety
///
/// The number exists until this is called again on the thread.
pub(super) unsafe fn count_bytes_at(bytes: *const usize) {
    LIMITS.with(|limits| limits.bytes.set(if bytes.is_null() { &raw const NO_BYTES } else { bytes }));
}

/// Sets what reminds the scripts of this thread to read the clock; `None` for nothing.
pub(super) fn look_at(look: Option<&'static AtomicBool>) {
    LIMITS.with(|limits| limits.look.set(look.map_or(&raw const NO_LOOK, |look| look)));
}
