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
    /// The machines of this thread, to find out where a script was when it was refused.
    static MACHINES: RefCell<Vec<(usize, *mut mlua::lua_State)>> = const { RefCell::new(Vec::new()) };
}

/// Machines that are remembered for a thread.
const MOST_MACHINES: usize = 64;

/// Runs something with or without the limits on single things.
pub(super) fn limited<R>(on: bool, run: impl FnOnce() -> R) -> R {
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            LIMITED.set(self.0);
        }
    }
    let _back = Back(LIMITED.replace(on));
    run()
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
            if *place != original as *mut c_void || *global.add(ALLOCATOR + 1) != data {
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

/// Where the engine's state keeps its global part, and that one its allocator, in pointers.
const GLOBAL: usize = 2 + 8 / size_of::<usize>();
const ALLOCATOR: usize = 1 + 8 / size_of::<usize>();

unsafe extern "C" fn limiting(data: *mut c_void, block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    let Some(original) = ORIGINAL.get() else { return std::ptr::null_mut() };
    if new >= LARGE && new > old && LIMITED.get() {
        let state = MACHINES.with_borrow(|machines| {
            machines.iter().find(|(known, _)| *known == data as usize).map(|(_, state)| *state)
        });
        // SAFETY: the machine that asks for memory is alive.
        let is_for_texts = block.is_null() && state.is_some_and(|state| unsafe { resizes_texts(state, new) });
        let refused = if is_too_large(block.is_null(), new) {
            Some("size")
        } else if is_for_texts {
            None
        } else {
            account::charge((new / BYTES_A_WORK) as i64);
            sandbox::must_stop()
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
    unsafe { original(data, block, old, new) }
}

/// Whether the engine asks for a table of all texts of another size. When it does so depends on how many texts the collector has
/// left, and that one paces itself by the clock: so it is not charged.
unsafe fn resizes_texts(state: *mut mlua::lua_State, bytes: usize) -> bool {
    // SAFETY: `install` has found the allocator behind the table of texts: its place, how many texts it holds, and its size.
    let (count, size) = unsafe {
        let counts = (*state.cast::<*const *const c_void>().add(GLOBAL)).add(1).cast::<u32>();
        (*counts as usize, *counts.add(1) as usize)
    };
    let takes = |size: usize| bytes == size * size_of::<usize>();
    count > size && takes(size * 2) || count < size / 4 && takes(size / 2)
}

/// Whether nothing that a script may make takes so many bytes.
fn is_too_large(is_fresh: bool, bytes: usize) -> bool {
    let most = if is_fresh && !bytes.is_power_of_two() { LONGEST_TEXT + HEADER } else { LARGEST_TABLE };
    bytes > most
}
