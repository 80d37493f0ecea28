//! Writes the fields of an entity to its handle, in one call.

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
