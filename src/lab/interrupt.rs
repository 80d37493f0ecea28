use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody has interrupted the work.
pub(crate) fn is_set(interrupt: Option<&AtomicBool>) -> bool {
    interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
}
