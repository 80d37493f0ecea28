//! Plain C functions of the engine: reading their arguments, and raising errors from them.

use std::os::raw::c_int;
use std::ptr;

use mlua::{Lua, Result, Table, ffi, lua_State};

use super::super::budget::note_spent_at;
use super::super::whole_number;
use riskbreaker_state::{EntityId, Value};

/// Adds plain C functions to a table.
///
/// # Safety
///
/// Each function follows the engine's rules for C functions.
pub(super) unsafe fn add_functions(lua: &Lua, table: &Table, functions: &[(&str, ffi::lua_CFunction)]) -> Result<()> {
    for (name, function) in functions {
        table.raw_set(*name, unsafe { lua.create_c_function(*function) }?)?;
    }
    Ok(())
}

/// Raises an error in the script. The caller must not have values with destructors.
pub(super) unsafe fn raise(state: *mut lua_State, message: String) -> c_int {
    unsafe {
        note_spent_at(state);
        ffi::lua_pushlstring(state, message.as_ptr().cast(), message.len());
        drop(message);
        ffi::lua_error(state)
    }
}

/// A whole number on the stack. `None` if it is none, or too large for the state.
pub(super) unsafe fn whole(state: *mut lua_State, at: c_int) -> Option<i64> {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TNUMBER {
            return None;
        }
        whole_number::whole(ffi::lua_tonumberx(state, at, ptr::null_mut())).ok()
    }
}

pub(super) unsafe fn text<'a>(state: *mut lua_State, at: c_int) -> Option<&'a str> {
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let start = ffi::lua_tolstring(state, at, &raw mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).ok()
    }
}

/// Pops values off the stack.
pub(super) unsafe fn pop(state: *mut lua_State, count: c_int) {
    unsafe { ffi::lua_settop(state, -count - 1) }
}

pub(super) unsafe fn type_name(state: *mut lua_State, at: c_int) -> &'static str {
    // SAFETY: the engine's names of types are static.
    unsafe { std::ffi::CStr::from_ptr(ffi::lua_typename(state, ffi::lua_type(state, at))).to_str().unwrap_or("value") }
}

/// Registry keys: the handles, the field names of each kind, and the tables made for fields.
pub(super) static HANDLES: u8 = 0;
pub(super) static NAMES: u8 = 1;
pub(super) static TABLES: u8 = 4;

pub(super) unsafe fn push_registered(state: *mut lua_State, key: *const u8) {
    unsafe {
        ffi::lua_rawgetp(state, ffi::LUA_REGISTRYINDEX, key.cast());
    }
}

pub(super) unsafe fn push_handles(state: *mut lua_State) {
    unsafe { push_registered(state, &raw const HANDLES) }
}

/// Pushes the handle of an entity, or nil if there is none.
pub(super) unsafe fn push_handle(state: *mut lua_State, id: EntityId) {
    unsafe {
        push_handles(state);
        ffi::lua_rawgeti(state, -1, ffi::lua_Integer::from(id.0));
        ffi::lua_remove(state, -2);
    }
}

/// Pushes a value that is no table. Returns false if it is a table.
pub(super) unsafe fn push_plain(state: *mut lua_State, value: &Value) -> bool {
    unsafe {
        match value {
            Value::Bool(yes) => ffi::lua_pushboolean(state, c_int::from(*yes)),
            Value::Int(n) => ffi::lua_pushnumber(state, *n as f64),
            Value::Text(text) => {
                ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
            }
            Value::Entity(id) => push_handle(state, *id),
            _ => return false,
        }
    }
    true
}
