//! Locks tables and variables while a read-only function runs.

use std::ffi::CStr;
use std::os::raw::c_int;
use std::ptr;

use mlua::{Lua, Result, Table, ffi, lua_State};

use super::raw::{add_functions, pop, whole};
use super::state::running_host;

/// Adds the functions to the table of host functions.
pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    let functions: [(&str, ffi::lua_CFunction); 7] = [
        ("lock", lock),
        ("thaw", thaw),
        ("lock_deep", lock_deep),
        ("freeze_deep", freeze_deep),
        ("thaw_all", thaw_all),
        ("captured", captured),
        ("keep_settled", keep_settled),
    ];
    // SAFETY: each follows the engine's rules for C functions, see below.
    unsafe { add_functions(lua, table, &functions) }
}

/// `lock(table)`: makes it read-only until `thaw`.
unsafe extern "C-unwind" fn lock(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_setreadonly(state, 1, 1);
        ffi::lua_settop(state, 1);
        1
    }
}

unsafe extern "C-unwind" fn thaw(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_setreadonly(state, 1, 0);
        0
    }
}

/// The deepest nesting of tables that `lock_deep` accepts.
const DEEPEST_TABLE: c_int = 100;
/// The deepest nesting of functions that `lock_deep` accepts.
const DEEPEST_FUNCTION: c_int = 6;
/// The most objects that `lock_deep` locks.
const MOST_LOCKED: ffi::lua_Integer = 100_000;

/// The registry key of the tables and functions that exist after loading.
static SETTLED: u8 = 2;

/// `keep_settled(set)`: sets the tables and functions that exist after loading, which are permanently locked.
unsafe extern "C-unwind" fn keep_settled(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_pushlightuserdata(state, (&raw const SETTLED).cast_mut().cast());
        ffi::lua_pushvalue(state, 1);
        ffi::lua_rawset(state, ffi::LUA_REGISTRYINDEX);
        0
    }
}

/// `lock_deep(value, list)`: locks a table or a function, and all tables reachable from it. Adds the newly locked
/// tables, and the variables that functions may assign to, to the list.
unsafe extern "C-unwind" fn lock_deep(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a value and a table.
    unsafe {
        let mut count = ffi::lua_objlen(state, 2) as ffi::lua_Integer;
        if lock_from(state, 1, (DEEPEST_TABLE, DEEPEST_FUNCTION), &mut count) {
            return 0;
        }
        too_much(state)
    }
}

/// `freeze_deep(table)`: locks a table and the tables in it permanently, and returns it.
unsafe extern "C-unwind" fn freeze_deep(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a table.
    unsafe {
        ffi::lua_settop(state, 1);
        ffi::lua_createtable(state, 0, 0);
        if !lock_from(state, 1, (DEEPEST_TABLE, 0), &mut 0) {
            return too_much(state);
        }
        ffi::lua_settop(state, 1);
        1
    }
}

unsafe fn too_much(state: *mut lua_State) -> c_int {
    unsafe {
        ffi::lua_pushstring(state, c"too much is to be locked: at most 100000 tables, 100 deep".as_ptr());
        ffi::lua_error(state)
    }
}

/// Locks the value at a stack index. Returns false if a limit is exceeded.
unsafe fn lock_from(state: *mut lua_State, at: c_int, depth: (c_int, c_int), count: &mut ffi::lua_Integer) -> bool {
    unsafe {
        match ffi::lua_type(state, at) {
            ffi::LUA_TTABLE if ffi::lua_getreadonly(state, at) == 0 => {}
            ffi::LUA_TFUNCTION if ffi::lua_iscfunction(state, at) == 0 => {
                return lock_captured(state, at, depth, count);
            }
            _ => return true,
        }
        if depth.0 == 0 || *count >= MOST_LOCKED || ffi::lua_checkstack(state, 8) == 0 {
            return false;
        }
        ffi::lua_setreadonly(state, at, 1);
        *count += 1;
        ffi::lua_pushvalue(state, at);
        ffi::lua_rawseti(state, 2, *count);
        let mut place = 0;
        loop {
            place = ffi::lua_rawiter(state, at, place);
            if place < 0 {
                return true;
            }
            let fits = lock_from(state, ffi::lua_gettop(state), (depth.0 - 1, depth.1), count);
            pop(state, 2);
            if !fits {
                return false;
            }
        }
    }
}

/// Locks the tables that a function has captured. If it assigns to captured variables, records the function, the index
/// of each variable, and its value.
unsafe fn lock_captured(state: *mut lua_State, at: c_int, depth: (c_int, c_int), count: &mut ffi::lua_Integer) -> bool {
    unsafe {
        if ffi::lua_checkstack(state, 8) == 0 {
            return false;
        }
        if depth.1 == 0 || is_settled(state, at) {
            return true;
        }
        let assigns = place_of_assigner(state, at).is_some();
        let mut place = 1;
        while !ffi::lua_getupvalue(state, at, place).is_null() {
            let value = ffi::lua_gettop(state);
            if assigns {
                if *count >= MOST_LOCKED {
                    return false;
                }
                match ffi::lua_type(state, value) {
                    // A list cannot end with nil.
                    ffi::LUA_TNIL => ffi::lua_pushlightuserdata(state, ptr::null_mut()),
                    _ => ffi::lua_pushvalue(state, value),
                }
                ffi::lua_rawseti(state, 2, *count + 1);
                ffi::lua_pushnumber(state, f64::from(place));
                ffi::lua_rawseti(state, 2, *count + 2);
                ffi::lua_pushvalue(state, at);
                ffi::lua_rawseti(state, 2, *count + 3);
                *count += 3;
            }
            let fits = lock_from(state, value, (depth.0 - 1, depth.1 - 1), count);
            pop(state, 1);
            if !fits {
                return false;
            }
            place += 1;
        }
        true
    }
}

/// True if a function existed after loading.
unsafe fn is_settled(state: *mut lua_State, at: c_int) -> bool {
    unsafe {
        ffi::lua_pushlightuserdata(state, (&raw const SETTLED).cast_mut().cast());
        ffi::lua_rawget(state, ffi::LUA_REGISTRYINDEX);
        if ffi::lua_type(state, -1) != ffi::LUA_TTABLE {
            pop(state, 1);
            return false;
        }
        ffi::lua_pushvalue(state, at);
        ffi::lua_rawget(state, -2);
        let found = ffi::lua_type(state, -1) != ffi::LUA_TNIL;
        pop(state, 2);
        found
    }
}

/// File and line of a function, if it assigns to captured variables.
unsafe fn place_of_assigner<'a>(state: *mut lua_State, at: c_int) -> Option<(&'a CStr, c_int)> {
    unsafe {
        let host = running_host()?;
        let assigners = host.assigners.try_borrow().ok()?;
        if assigners.is_empty() {
            return None;
        }
        let mut record: ffi::lua_Debug = std::mem::zeroed();
        ffi::lua_pushvalue(state, at);
        let known = ffi::lua_getinfo(state, -1, c"sua".as_ptr(), &raw mut record);
        pop(state, 1);
        if known == 0 || record.source.is_null() {
            return None;
        }
        let source = CStr::from_ptr(record.source);
        let of_file = assigners.get(source.to_str().ok()?.trim_start_matches('='))?;
        let of_record = (record.linedefined as u32, record.nparams, record.nupvals);
        let found = of_file.iter().any(|known| known.signature() == of_record);
        found.then_some((source, record.linedefined))
    }
}

/// `thaw_all(list, from)`: unlocks the objects in a list after an index, and removes them from it. Restores changed
/// variables, and returns file and line of the function that changed one.
unsafe extern "C-unwind" fn thaw_all(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a list filled by `lock_deep`, and a number.
    unsafe {
        let from = whole(state, 2).unwrap_or(0);
        ffi::lua_settop(state, 1);
        ffi::lua_pushnil(state);
        let mut at = ffi::lua_objlen(state, 1) as i64;
        while at > from {
            ffi::lua_rawgeti(state, 1, at as ffi::lua_Integer);
            if ffi::lua_type(state, 3) == ffi::LUA_TTABLE {
                ffi::lua_setreadonly(state, 3, 0);
                at = drop_last(state, at, 1);
            } else {
                restore(state, at);
                at = drop_last(state, at, 3);
            }
            ffi::lua_settop(state, 2);
        }
        1
    }
}

unsafe fn drop_last(state: *mut lua_State, at: i64, count: i64) -> i64 {
    unsafe {
        for gone in 0..count {
            ffi::lua_pushnil(state);
            ffi::lua_rawseti(state, 1, (at - gone) as ffi::lua_Integer);
        }
    }
    at - count
}

/// Restores the recorded value of a variable. The function that captured it is third on the stack.
unsafe fn restore(state: *mut lua_State, at: i64) {
    unsafe {
        ffi::lua_rawgeti(state, 1, (at - 1) as ffi::lua_Integer);
        let place = whole(state, -1).unwrap_or(0) as c_int;
        pop(state, 1);
        ffi::lua_rawgeti(state, 1, (at - 2) as ffi::lua_Integer);
        if ffi::lua_type(state, 4) == ffi::LUA_TLIGHTUSERDATA && ffi::lua_touserdata(state, 4).is_null() {
            ffi::lua_pushnil(state);
            ffi::lua_replace(state, 4);
        }
        if ffi::lua_getupvalue(state, 3, place).is_null() {
            return;
        }
        if ffi::lua_rawequal(state, 4, 5) != 0 {
            return;
        }
        pop(state, 1);
        ffi::lua_setupvalue(state, 3, place);
        if let Some((source, line)) = place_of_assigner(state, 3) {
            let source = source.to_bytes();
            let source = source.strip_prefix(b"=").unwrap_or(source);
            ffi::lua_pushlstring(state, source.as_ptr().cast(), source.len());
            ffi::lua_pushstring(state, c":".as_ptr());
            ffi::lua_pushnumber(state, f64::from(line));
            ffi::lua_concat(state, 3);
            ffi::lua_replace(state, 2);
        }
    }
}

/// `captured(function)`: returns a list of the tables and functions that a function of a file has captured.
unsafe extern "C-unwind" fn captured(state: *mut lua_State) -> c_int {
    // SAFETY: the prelude gives a function.
    unsafe {
        ffi::lua_settop(state, 1);
        ffi::lua_createtable(state, 0, 0);
        let (mut at, mut count) = (1, 0);
        while !ffi::lua_getupvalue(state, 1, at).is_null() {
            if matches!(ffi::lua_type(state, -1), ffi::LUA_TTABLE | ffi::LUA_TFUNCTION) {
                count += 1;
                ffi::lua_rawseti(state, 2, count);
            } else {
                pop(state, 1);
            }
            at += 1;
        }
        1
    }
}
