//! The memory of the script machine that runs on this thread: how much is in use, and whether allocations are limited.

use std::cell::Cell;

use mlua::Lua;

use super::safepoint;

thread_local! {
    /// True while a script runs. The host's own allocations are limited only by the machine.
    static LIMITED: Cell<bool> = const { Cell::new(false) };
    /// The global state of the machine that runs on this thread.
    static RUNNING: Cell<*const usize> = const { Cell::new(std::ptr::null()) };
}

/// Runs something with or without the limits on single allocations.
pub(super) fn limited<R>(on: bool, run: impl FnOnce() -> R) -> R {
    struct GivenBack(bool);
    impl Drop for GivenBack {
        fn drop(&mut self) {
            LIMITED.set(self.0);
        }
    }
    let _back = GivenBack(LIMITED.replace(on));
    run()
}

/// True if single allocations are limited: a script runs on this thread.
pub(super) fn is_limited() -> bool {
    LIMITED.get()
}

/// Runs something in this machine and counts its memory.
pub(super) fn running<R>(lua: &Lua, run: impl FnOnce() -> R) -> R {
    struct GivenBack(*const usize);
    impl Drop for GivenBack {
        fn drop(&mut self) {
            // SAFETY: this machine ran before, and still exists.
            unsafe { set_running(self.0) };
        }
    }
    // SAFETY: every state holds a pointer to its global part, see `install`.
    let global = lua.exec_raw_lua(|raw| unsafe { *raw.state().cast::<*const usize>().add(GLOBAL) });
    let _back = GivenBack(RUNNING.get());
    // SAFETY: the machine is borrowed until it is given back.
    unsafe { set_running(global) };
    run()
}

/// Sets the global state of the machine that runs on this thread; null for none.
unsafe fn set_running(global: *const usize) {
    RUNNING.set(global);
    // SAFETY: `install` has found the number there; the caller gives the state of an existing machine.
    unsafe { safepoint::count_bytes_at(if global.is_null() { global } else { global.add(TOTAL) }) };
}

/// The bytes in use in the running machine, including garbage; 0 if none runs. Excludes the string table, whose size
/// depends on the texts of earlier calls.
pub(super) fn used() -> usize {
    let global = RUNNING.get();
    if global.is_null() {
        return 0;
    }
    // SAFETY: `running` lends it, and `install` has found both numbers there.
    unsafe { *global.add(TOTAL) - text_counts(global).1 * size_of::<usize>() }
}

/// True if the running machine uses more than this number of bytes.
#[inline]
pub(super) fn uses_more_than(bytes: usize) -> bool {
    let global = RUNNING.get();
    // SAFETY: as in `used`.
    !global.is_null() && unsafe { *global.add(TOTAL) } > bytes && used() > bytes
}

/// The number of texts in a machine, and the number of slots in its string table.
pub(super) unsafe fn text_counts(global: *const usize) -> (usize, usize) {
    // SAFETY: the caller gives a global state with the layout checked by `install`.
    unsafe {
        let counts = global.add(1).cast::<u32>();
        (*counts as usize, *counts.add(1) as usize)
    }
}

/// The offset, in pointers, of the global state in the engine's state.
pub(super) const GLOBAL: usize = 2 + 8 / size_of::<usize>();

/// The offset, in pointers, of the allocator in the global state.
pub(super) const ALLOCATOR: usize = 1 + 8 / size_of::<usize>();

/// The offset, in pointers, of the byte count in the global state.
pub(super) const TOTAL: usize = ALLOCATOR + 7;
