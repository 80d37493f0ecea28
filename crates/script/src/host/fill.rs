//! Makes the handle of an entity, and writes all fields to it, in one call each.

use std::cell::Cell;
use std::os::raw::c_int;
use std::ptr;

use mlua::{Function, Lua, Result, ffi, lua_State};

use super::raw::push_plain;
use riskbreaker_state::Value;

thread_local! {
    /// The fields that `write_all` writes.
    static FIELDS: Cell<*const [Value]> = const { Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)) };
}

/// Makes the fields available to `write_all` while `run` runs.
pub(crate) fn filling<R>(fields: &[Value], run: impl FnOnce() -> R) -> R {
    let outer = FIELDS.replace(fields);
    let result = run();
    FIELDS.set(outer);
    result
}

/// A function of a handle and the list of its field names that writes the fields which are no tables.
pub(crate) fn fill_fields(lua: &Lua) -> Result<Function> {
    // SAFETY: it follows the engine's rules for C functions, see below.
    unsafe { lua.create_c_function(write_all) }
}

unsafe extern "C-unwind" fn write_all(state: *mut lua_State) -> c_int {
    // SAFETY: `filling` sets the fields as long as its borrow of them lasts; the arguments are two tables, and no value
    // here has a destructor when the engine raises an error.
    unsafe {
        let fields = FIELDS.get();
        for at in 0..fields.len() {
            ffi::lua_rawgeti(state, 2, at as ffi::lua_Integer + 1);
            match &(&*fields)[at] {
                Value::None => ffi::lua_pushnil(state),
                value if push_plain(state, value) => {}
                _ => ffi::lua_pushnil(state),
            }
            ffi::lua_rawset(state, 1);
        }
        0
    }
}

/// A function of a blank handle, the list of its field names, the list of handles by entity id, and an id: makes and lists
/// the handle of that entity.
pub(crate) fn copy_blank(lua: &Lua) -> Result<Function> {
    // SAFETY: it follows the engine's rules for C functions, see below.
    unsafe { lua.create_c_function(copy) }
}

unsafe extern "C-unwind" fn copy(state: *mut lua_State) -> c_int {
    // SAFETY: the arguments are three tables and a number; a list may be nil. No value here has a destructor when the
    // engine raises an error.
    unsafe {
        ffi::lua_settop(state, 4);
        ffi::lua_clonetable(state, 1);
        if ffi::lua_type(state, 2) == ffi::LUA_TTABLE {
            for at in 1..=ffi::lua_objlen(state, 2) {
                ffi::lua_rawgeti(state, 2, at as ffi::lua_Integer);
                ffi::lua_pushnil(state);
                ffi::lua_rawset(state, 5);
            }
        }
        ffi::lua_setreadonly(state, 5, 1);
        if ffi::lua_type(state, 3) == ffi::LUA_TTABLE {
            ffi::lua_pushvalue(state, 4);
            ffi::lua_pushvalue(state, 5);
            ffi::lua_rawset(state, 3);
        }
        1
    }
}
