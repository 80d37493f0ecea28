//! Refuses loops over tables whose order depends on addresses.
//!
//! The engine places the keys of a table by a hash, and the hash of a table or function is its address. So a loop over
//! a table keyed by entities would have another order in every process. At the start of each loop the engine is at a
//! safepoint, where the keys of the table are checked. A list costs nothing, any other table one check of each key.
//!
//! This reads the engine's own structures. [`install`] checks that their layout is the expected one.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mlua::{Lua, ffi};

use super::budget::{CallBudget, guarded, note_cure};
use super::bytecode::FORGLOOP;
use super::host::state::is_handle;

/// A refused loop: the reason, and a correction.
pub(super) type RefusedLoops = [&'static str; 2];

const OF_ENTITY: RefusedLoops = [
    "this loop sees only the fields that were read so far, which differ from run to run",
    "loop over the entity itself, `for name, value in entity do`",
];

const WRONG: &str = "the keys of this table are neither numbers nor texts: their order differs from run to run, and no loop may depend on it";

/// The correction of a refused loop.
pub(super) const CURE: &str =
    "loop over a list, or put what belongs to an entity under its number: `points[entity.id]`";

/// A value of the engine.
#[repr(C)]
struct EngineValue {
    value: *const c_void,
    extra: i32,
    tag: i32,
}

/// A slot of a table. The type tag of its key has four bits.
#[repr(C)]
struct TableSlot {
    value: EngineValue,
    key: *const c_void,
    extra: i32,
    tag: u32,
}

#[repr(C)]
struct EngineTable {
    header: [u8; 6],
    /// The binary logarithm of the number of slots.
    slots_log: u8,
    mask: u8,
    array_length: i32,
    free: i32,
    metatable: *const c_void,
    array: *const EngineValue,
    slots: *const TableSlot,
}

/// The call frame of a running function.
#[repr(C)]
struct Frame {
    base: *const EngineValue,
    function: *const EngineValue,
    top: *const EngineValue,
    /// Null for a function that is no script.
    script: *const c_void,
    next: *const u32,
}

#[repr(C)]
struct Thread {
    header: [u8; 8],
    top: *const EngineValue,
    base: *const EngineValue,
    global: *const c_void,
    frame: *const Frame,
}

/// True if a loop begins at this safepoint over a table that has more than an array part.
///
/// # Safety
///
/// The engine must stand at a safepoint of the state.
#[inline]
pub(super) unsafe fn begins(state: *mut mlua::lua_State) -> bool {
    // SAFETY: at a safepoint a script's frame is valid, and the current instruction precedes the next one.
    unsafe {
        let frame = (*state.cast::<Thread>()).frame;
        if (*frame).script.is_null() || *(*frame).next.sub(1) as u8 != FORGLOOP {
            return false;
        }
        // The sign of the additional word is set for loops over the array part only.
        if (*(*frame).next as i32) < 0 {
            return false;
        }
        let [iterator, table, index] = registers(frame);
        (*iterator).tag == ffi::LUA_TNIL
            && (*table).tag == ffi::LUA_TTABLE
            && (*index).tag == ffi::LUA_TLIGHTUSERDATA
            && (*index).value.is_null()
    }
}

/// The registers of the loop at this safepoint: its function, its table and its place.
#[inline]
unsafe fn registers(frame: *const Frame) -> [*const EngineValue; 3] {
    // SAFETY: the caller gives a frame at the instruction of a loop.
    unsafe {
        let first = (*frame).base.add((*(*frame).next.sub(1) >> 8) as usize & 0xff);
        [first, first.add(1), first.add(2)]
    }
}

/// The reason why the loop that begins here is refused, if it is.
///
/// # Safety
///
/// The engine must stand at a safepoint of the state, at the beginning of a loop.
pub(super) unsafe fn wrong(state: *mut mlua::lua_State) -> Option<RefusedLoops> {
    // SAFETY: the table is in the second register of the loop.
    unsafe {
        let [_, table, _] = registers((*state.cast::<Thread>()).frame);
        let table: *const EngineTable = (*table).value.cast();
        if has_odd_keys(table) {
            return Some([WRONG, CURE]);
        }
        (!(*table).metatable.is_null() && is_handle(table as usize)).then_some(OF_ENTITY)
    }
}

/// True if a key of the table is neither a number nor a text.
unsafe fn has_odd_keys(table: *const EngineTable) -> bool {
    // SAFETY: the table has the given number of slots; an empty one has one slot without a value.
    unsafe {
        let slots = std::slice::from_raw_parts((*table).slots, 1 << (*table).slots_log);
        slots.iter().any(|slot| slot.value.tag != ffi::LUA_TNIL && !is_plain((slot.tag & 15) as i32))
    }
}

/// True if a key of this type has the same place in every process.
fn is_plain(tag: i32) -> bool {
    matches!(tag, ffi::LUA_TNUMBER | ffi::LUA_TINTEGER | ffi::LUA_TSTRING | ffi::LUA_TNIL)
}

/// `is_odd(table)`: returns true if a key is neither a number nor a text, in which case the guard of `next` refuses the
/// table.
pub(super) unsafe extern "C-unwind" fn is_odd(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the guard gives a table.
    unsafe {
        let odd = has_odd_keys(ffi::lua_topointer(state, 1).cast());
        if odd {
            note_cure(CURE);
        }
        ffi::lua_pushboolean(state, c_int::from(odd));
    }
    1
}

/// Tests the safepoints of a closed machine, once for the whole program.
///
/// # Errors
///
/// The engine's memory layout differs from the expected one.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    static FITS: OnceLock<bool> = OnceLock::new();
    let runs = |text: &str| guarded(lua, CallBudget::ACTION, || lua.load(text).set_name("=probe").exec()).0.is_ok();
    let try_out = || {
        is_laid_out_so(lua)
            && runs("for key in { 1, 2, a = 3, [0.5] = 4 } do end for key in pairs({}) do end")
            && !runs("for key in { 1, a = 2, [{}] = 3 } do end")
            && !runs("for key in pairs({ [true] = 1 }) do end")
    };
    if *FITS.get_or_init(try_out) {
        return Ok(());
    }
    Err(mlua::Error::RuntimeError("the script engine is laid out in another way than this program expects".into()))
}

/// True if a table and the running function have the expected memory layout.
fn is_laid_out_so(lua: &Lua) -> bool {
    let table = lua.create_table_with_capacity(2, 1).and_then(|table| {
        table.raw_set(1, 42.5)?;
        table.raw_set("key", true)?;
        Ok(table)
    });
    let Ok(table) = table else { return false };
    // SAFETY: a table of the engine is at least as large as ours, and its pointers are followed only if its sizes are
    // right.
    unsafe {
        let read = table.to_pointer().cast::<EngineTable>();
        let fits = (*read).array_length == 2 && (*read).slots_log == 0 && !(*read).array.is_null();
        fits && (*(*read).array).tag == ffi::LUA_TNUMBER
            && f64::from_bits((*(*read).array).value as u64) == 42.5
            && (*(*read).slots).tag & 15 == ffi::LUA_TSTRING as u32
            && (*(*read).slots).value.tag == ffi::LUA_TBOOLEAN
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::noted_cure;
    use super::super::sandbox::{close, machine};
    use super::*;

    #[test]
    fn a_loop_over_a_table_faults_unless_all_its_keys_are_numbers_and_texts() {
        let (lua, allowed) = machine().unwrap();
        let tables = lua.load("return { { 1, 2, a = 3, [0.5] = 4 }, { 1, a = 2, [{}] = 3 }, { [true] = 1 } }");
        let tables: Vec<mlua::Table> = tables.eval().unwrap();
        close(&lua, &allowed).unwrap();
        for text in [
            "local list = ... for key in list do end",
            "local list = ... for key in pairs(list) do end",
            "local list = ... local function inner() for key, value in list do end end inner()",
        ] {
            let function = lua.load(text).set_name("=probe.luau").into_function().unwrap();
            let runs = |table: &mlua::Table| guarded(&lua, CallBudget::ACTION, || function.call::<()>(table)).0.is_ok();
            assert!(runs(&tables[0]) && noted_cure().is_none(), "{text}");
            assert!(!runs(&tables[1]) && noted_cure() == Some(CURE), "{text}");
            assert!(!runs(&tables[2]) && noted_cure() == Some(CURE), "{text}");
        }
    }
}
