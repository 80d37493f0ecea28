//! The allocator of a script machine. It limits the size of one allocation, and refuses large ones when the time is up.
//!
//! The engine asks for memory in the middle of operations that have no safepoint. A request that is refused raises an error
//! there, so that code without loops and calls can be stopped, too.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::OnceLock;

use mlua::{Lua, ffi};

use super::account::{self, Account};
use super::sandbox;

/// The longest text that a script can make, in bytes. The engine puts a header in front of it.
pub(super) const LONGEST_TEXT: usize = 256 << 10;
const HEADER: usize = 64;

/// A table's store of entries has a power of two places and is made anew when it grows; its list is made larger in place.
const LARGEST_TABLE: usize = 4 << 20;

/// Requests below that come from pages that many things share.
const LARGE: usize = 32 << 10;

/// So many bytes that are asked for at once count as one unit of work.
const BYTES_A_WORK: usize = 512;

type Allocator = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void;

/// The engine's own allocator, which counts what is used.
static ORIGINAL: OnceLock<Allocator> = OnceLock::new();

thread_local! {
    /// Whether a script runs: what the host makes for itself has no limit but that of the machine.
    static LIMITED: Cell<bool> = const { Cell::new(false) };
    /// The global part of the machine that runs on this thread.
    static RUNNING: Cell<*const usize> = const { Cell::new(std::ptr::null()) };
    /// The machines of this thread, to find out where a script was when it was refused.
    static MACHINES: RefCell<Vec<(usize, *mut mlua::lua_State)>> = const { RefCell::new(Vec::new()) };
}

/// Machines that are remembered for a thread.
const MOST_MACHINES: usize = 64;

/// Runs something with or without the limits on single things.
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

/// Runs something in this machine, whose memory is counted for as long.
pub(super) fn running<R>(lua: &Lua, run: impl FnOnce() -> R) -> R {
    struct GivenBack(*const usize);
    impl Drop for GivenBack {
        fn drop(&mut self) {
            RUNNING.set(self.0);
        }
    }
    // SAFETY: every state holds a pointer to its global part, see `install`.
    let global = lua.exec_raw_lua(|raw| unsafe { *raw.state().cast::<*const usize>().add(GLOBAL) });
    let _back = GivenBack(RUNNING.replace(global));
    run()
}

/// Bytes that the running machine has in use, garbage included; 0 where none runs. The table of all texts is left out: its size
/// depends on how many texts earlier calls have left behind.
pub(super) fn used() -> usize {
    let global = RUNNING.get();
    if global.is_null() {
        return 0;
    }
    // SAFETY: `running` lends it, and `install` has found both numbers there.
    unsafe { *global.add(TOTAL) - text_counts(global).1 * size_of::<usize>() }
}

/// Whether the running machine has more than so many bytes in use.
#[inline]
pub(super) fn uses_more_than(bytes: usize) -> bool {
    let global = RUNNING.get();
    // SAFETY: as in `used`.
    !global.is_null() && unsafe { *global.add(TOTAL) } > bytes && used() > bytes
}

/// How many texts a machine holds, and for how many its table of texts has places.
unsafe fn text_counts(global: *const usize) -> (usize, usize) {
    // SAFETY: the caller gives a global part as `install` knows it.
    unsafe {
        let counts = global.add(1).cast::<u32>();
        (*counts as usize, *counts.add(1) as usize)
    }
}

/// Puts the limits before a machine's allocator.
///
/// # Errors
///
/// The engine is laid out in another way than the one this was written for.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    // SAFETY: the two places are written only if they hold what the engine says that they hold, and then by a function that
    // passes every request on to the one that stood there.
    let installed = unsafe {
        lua.exec_raw_lua(|raw| {
            let state = raw.state();
            let mut data = std::ptr::null_mut();
            let original = ffi::lua_getallocf(state, &raw mut data);
            let global = *state.cast::<*mut *mut c_void>().add(GLOBAL);
            let place = global.add(ALLOCATOR);
            let total = ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0) << 10 | ffi::lua_gc(state, ffi::LUA_GCCOUNTB, 0);
            if *place != original as *mut c_void
                || *global.add(ALLOCATOR + 1) != data
                || *global.add(TOTAL) as usize != total as usize
            {
                return false;
            }
            ORIGINAL.get_or_init(|| original);
            *place = limiting as *mut c_void;
            MACHINES.with_borrow_mut(|machines| {
                machines.retain(|(known, _)| *known != data as usize);
                if machines.len() >= MOST_MACHINES {
                    machines.remove(0);
                }
                machines.push((data as usize, state));
            });
            true
        })
    };
    if installed {
        return Ok(());
    }
    Err(mlua::Error::RuntimeError("the script engine is laid out in another way than this program expects".into()))
}

/// Where the engine's state keeps its global part, and that one its allocator and the count of bytes in use, in pointers.
const GLOBAL: usize = 2 + 8 / size_of::<usize>();
const ALLOCATOR: usize = 1 + 8 / size_of::<usize>();
const TOTAL: usize = ALLOCATOR + 7;

unsafe extern "C" fn limiting(data: *mut c_void, block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    let Some(original) = ORIGINAL.get() else { return std::ptr::null_mut() };
    if new >= LARGE && new > old && LIMITED.get() {
        let state = machine_of(data);
        // SAFETY: the machine that asks for memory is alive.
        let is_for_texts = block.is_null() && state.is_some_and(|state| unsafe { resizes_texts(state, new) });
        let refused = if is_too_large(block.is_null(), new) {
            Some("size")
        } else if is_for_texts {
            None
        } else {
            account::charge((new / BYTES_A_WORK) as i64);
            sandbox::must_stop().or_else(|| account::end_words().map(|_| "size"))
        };
        if let Some(spent) = refused {
            // SAFETY: the machine that asks for memory is alive, and the allocator is its own. No allocator gives so much: the
            // original notes that it refused something, which the engine's error handling relies on.
            unsafe {
                // Words that are too large stop no script: something else is told in their place.
                if spent != "size" || account::charged() != Account::Words {
                    sandbox::stop_at(state, spent);
                }
                return original(data, std::ptr::null_mut(), 0, isize::MAX as usize / 2);
            }
        }
    }
    // SAFETY: it is asked for what the engine asks for.
    let given = unsafe { original(data, block, old, new) };
    if given.is_null() && new > old && LIMITED.get() {
        // SAFETY: the machine that asks for memory is alive.
        machine_of(data).into_iter().for_each(|state| unsafe { sandbox::note_refused(state) });
    }
    given
}

/// The machine with this allocator.
fn machine_of(data: *mut c_void) -> Option<*mut mlua::lua_State> {
    MACHINES.with_borrow(|machines| machines.iter().find(|(known, _)| *known == data as usize).map(|(_, state)| *state))
}

/// Whether the engine asks for a table of all texts of another size. When it does so depends on how many texts earlier calls have
/// left behind: so it is not charged.
unsafe fn resizes_texts(state: *mut mlua::lua_State, bytes: usize) -> bool {
    // SAFETY: `install` has found the allocator behind the table of texts: its place, how many texts it holds, and its size.
    let (count, size) = unsafe { text_counts(*state.cast::<*const usize>().add(GLOBAL)) };
    let takes = |size: usize| bytes == size * size_of::<usize>();
    count > size && takes(size * 2) || count < size / 4 && takes(size / 2)
}

/// Whether nothing that a script may make takes so many bytes.
fn is_too_large(is_fresh: bool, bytes: usize) -> bool {
    let most = if is_fresh && !bytes.is_power_of_two() { LONGEST_TEXT + HEADER } else { LARGEST_TABLE };
    bytes > most
}
