//! The allocator of a script machine. It limits the size of single allocations, and refuses large ones when the time is
//! up.
//!
//! The engine allocates memory during operations without safepoints. A refused request raises an error there, so that
//! code without loops and calls can be stopped, too.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::OnceLock;

use mlua::{Lua, ffi};

use super::account::{self, Account};
use super::budget;
use super::memory::{ALLOCATOR, GLOBAL, TOTAL, is_limited, text_counts};

/// The longest text that a script can make, in bytes. The engine adds a header.
pub(super) const LONGEST_TEXT: usize = 256 << 10;
const HEADER: usize = 64;

/// The largest store of a table. Its hash part has a power of two slots and is reallocated when it grows; its array
/// part is resized.
const LARGEST_TABLE: usize = 4 << 20;

/// Smaller requests come from shared pages.
const LARGE: usize = 32 << 10;

/// Bytes of a single allocation per unit of work.
const BYTES_A_WORK: usize = 512;

type Allocator = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void;

/// The engine's own allocator, which counts the memory in use.
static ORIGINAL: OnceLock<Allocator> = OnceLock::new();

thread_local! {
    /// The machines of this thread, to find the place of a script whose request was refused.
    static MACHINES: RefCell<Vec<(usize, *mut mlua::lua_State)>> = const { RefCell::new(Vec::new()) };
}

/// The most machines stored for a thread.
const MOST_MACHINES: usize = 64;

/// Installs the limiting allocator in a machine.
///
/// # Errors
///
/// The engine's memory layout differs from the expected one.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    // SAFETY: the two fields are written only if they have the values reported by the engine. The new function passes
    // every request on to the original one.
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

unsafe extern "C" fn limiting(data: *mut c_void, block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    let Some(original) = ORIGINAL.get() else { return std::ptr::null_mut() };
    if new >= LARGE && new > old && is_limited() {
        let state = machine_of(data);
        // SAFETY: the machine that allocates is alive.
        let is_for_texts = block.is_null() && state.is_some_and(|state| unsafe { resizes_texts(state, new) });
        let refused = if is_too_large(block.is_null(), new) {
            Some("size")
        } else if is_for_texts {
            None
        } else {
            account::charge((new / BYTES_A_WORK) as i64);
            budget::must_stop().or_else(|| account::end_words().map(|_| "size"))
        };
        if let Some(spent) = refused {
            // SAFETY: the machine that allocates is alive, and the allocator is its own. No allocator provides this size, so
            // that the original records the refusal, on which the engine's error handling relies.
            unsafe {
                // Words of a message that are too large do not stop a script: a shorter message replaces them.
                if spent != "size" || account::charged() != Account::Words {
                    budget::stop_at(state, spent);
                }
                return original(data, std::ptr::null_mut(), 0, isize::MAX as usize / 2);
            }
        }
    }
    // SAFETY: the arguments are those of the engine.
    let given = unsafe { original(data, block, old, new) };
    if given.is_null() && new > old && is_limited() {
        // SAFETY: the machine that allocates is alive.
        machine_of(data).into_iter().for_each(|state| unsafe { budget::note_refused(state) });
    }
    given
}

/// The machine with this allocator.
fn machine_of(data: *mut c_void) -> Option<*mut mlua::lua_State> {
    MACHINES.with_borrow(|machines| machines.iter().find(|(known, _)| *known == data as usize).map(|(_, state)| *state))
}

/// True if the request is for resizing the string table, whose time depends on the texts of earlier calls, so that it
/// is not charged.
unsafe fn resizes_texts(state: *mut mlua::lua_State, bytes: usize) -> bool {
    // SAFETY: `install` has checked the layout of the string table: its address, its number of texts, and its size.
    let (count, size) = unsafe { text_counts(*state.cast::<*const usize>().add(GLOBAL)) };
    let takes = |size: usize| bytes == size * size_of::<usize>();
    count > size && takes(size * 2) || count < size / 4 && takes(size / 2)
}

/// True if nothing that a script may make is that large.
fn is_too_large(is_fresh: bool, bytes: usize) -> bool {
    let most = if is_fresh && !bytes.is_power_of_two() { LONGEST_TEXT + HEADER } else { LARGEST_TABLE };
    bytes > most
}
