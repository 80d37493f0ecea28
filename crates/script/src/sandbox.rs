//! The sandbox of a script: its libraries, and its safepoints.

use std::os::raw::c_int;

use mlua::{Function, Lua, LuaOptions, Result, StdLib, Table, Value, ffi};

use super::account::{self, charge};
use super::allocation::{self};
use super::budget::{note_cure, note_spent, spent_now};
use super::file_place::place_of;
use super::{loop_keys, safepoint, watchdog};

/// The bytes that a program's machine may use beyond its initial size, and a ruleset's machine while it is loaded.
pub(super) const MEMORY: usize = 64 << 20;

/// Called by the engine at each safepoint.
unsafe extern "C-unwind" fn tick(state: *mut mlua::lua_State, gc: c_int) {
    // A step of the collector, in a program or spec, must not be interrupted.
    if gc >= 0 {
        return;
    }
    // SAFETY: the engine is at a safepoint of this state.
    unsafe {
        let begins = loop_keys::begins(state);
        // Most safepoints end here: they call nothing and keep nothing on the stack.
        if safepoint::pass() | begins {
            check(state);
        }
    }
}

/// Refuses a loop that begins here over a table whose order depends on addresses, and stops a script that has spent a
/// budget.
#[cold]
#[inline(never)]
unsafe fn check(state: *mut mlua::lua_State) {
    // SAFETY: the engine is at a safepoint of this state.
    unsafe {
        if loop_keys::begins(state)
            && let Some([wrong, cure]) = loop_keys::wrong(state)
        {
            note_cure(cure);
            refuse(state, wrong);
        }
        if (account::is_portion_spent() || account::is_full() || watchdog::must_look())
            && let Some(spent) = spent_now()
        {
            if let Some(why) = account::end_words() {
                refuse(state, why);
            }
            kill(state, spent);
        }
    }
}

/// Raises an uncatchable error, now and at every later safepoint.
#[cold]
unsafe fn kill(state: *mut mlua::lua_State, what: &'static str) {
    static MARK: u8 = 0;
    unsafe { note_spent(state, what) };
    account::stop();
    unsafe {
        ffi::lua_rawcheckstack(state, 1);
        ffi::lua_pushlightuserdata(state, &raw const MARK as *mut _);
        ffi::lua_error(state)
    }
}

/// Raises an error with the place of the running script.
#[cold]
unsafe fn refuse(state: *mut mlua::lua_State, message: &str) {
    // SAFETY: the state is at a safepoint; no values with destructors are left when the error is raised.
    unsafe {
        {
            let place = place_of(state);
            let text = match place {
                Some(place) => format!("{}:{}: {message}", place.path, place.line),
                None => message.to_owned(),
            };
            ffi::lua_rawcheckstack(state, 1);
            ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
        }
        ffi::lua_error(state)
    }
}

/// `charge(work)`: for guards of the library.
unsafe extern "C-unwind" fn charged(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the guards give a number, and anything else is read as 0.
    let work = unsafe { ffi::lua_tonumberx(state, 1, std::ptr::null_mut()) };
    charge(work.clamp(0.0, 1e12) as i64);
    0
}

/// Makes the allocator return freed memory to the system. By default, one large table makes it keep tens of megabytes
/// for each thread.
fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const SPARE: libc::c_int = 1 << 20;
        static ONCE: std::sync::Once = std::sync::Once::new();
        // SAFETY: both may be set at any time, on any thread.
        ONCE.call_once(|| unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
            libc::mallopt(libc::M_MMAP_THRESHOLD, SPARE);
        });
    }
}

/// Returns free memory to the system, after a machine that may have been large was discarded.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, on any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The globals available to scripts, by library.
pub(super) const ALLOWED: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "assert", "error", "ipairs", "next", "pairs", "rawequal", "rawget", "rawlen", "select", "tonumber",
            "tostring", "type", "typeof", "unpack",
        ],
    ),
    ("math", &["abs", "ceil", "clamp", "floor", "fmod", "huge", "max", "min", "modf", "round", "sign", "log2int"]),
    (
        "string",
        &[
            "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "split",
            "sub", "upper",
        ],
    ),
    (
        "table",
        &[
            "clear", "clone", "concat", "create", "find", "freeze", "insert", "isfrozen", "maxn", "move", "pack",
            "remove", "sort", "unpack",
        ],
    ),
    (
        "bit32",
        &[
            "arshift", "band", "bnot", "bor", "btest", "bxor", "countlz", "countrz", "extract", "lrotate", "lshift",
            "replace", "rrotate", "rshift",
        ],
    ),
    ("utf8", &["char", "charpattern", "codepoint", "codes", "len", "offset"]),
];

/// The registry key of the function that catches errors, which only the prelude may use.
const CATCH: &str = "catch";

/// The function that calls another one and catches its error. A spent budget is raised again soon.
pub(super) fn catch(lua: &Lua) -> Result<Function> {
    lua.named_registry_value(CATCH)
}

/// Creates a machine without a ruleset, with guarded and closed libraries.
pub(super) fn machine() -> Result<(Lua, Table)> {
    keep_little();
    // Fixes that are disabled by default; an unknown name means that a newer engine includes them.
    let _ = Lua::set_fflag("LuauTableMoveTimeoutFix", true);
    let _ = Lua::set_fflag("LuauTableRobustOom", true);
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8 | StdLib::BIT | StdLib::DEBUG;
    let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
    // SAFETY: it follows the engine's rules for C functions.
    let charge = unsafe { lua.create_c_function(charged) }?;
    // SAFETY: so does this one.
    let is_odd = unsafe { lua.create_c_function(loop_keys::is_odd) }?;
    let guard = lua.load(include_str!("guard.luau")).set_name("=host").set_mode(mlua::chunk::ChunkMode::Text);
    guard.call::<()>((charge, is_odd))?;
    let allowed = lua.create_table()?;
    let globals = lua.globals();
    lua.set_named_registry_value(CATCH, globals.raw_get::<Function>("pcall")?)?;
    for (library, names) in ALLOWED {
        let (from, to) = if library.is_empty() {
            (globals.clone(), allowed.clone())
        } else {
            let to = lua.create_table()?;
            allowed.raw_set(*library, &to)?;
            (globals.raw_get::<Table>(*library)?, to)
        };
        for name in *names {
            let value: Value = from.raw_get(*name)?;
            to.raw_set(*name, value)?;
        }
        if !library.is_empty() {
            to.set_readonly(true);
        }
    }
    // Methods of strings are looked up through the strings' metatable, which must offer no more than the library.
    let string: Table = globals.raw_get("string")?;
    for name in ["dump", "pack", "unpack", "packsize"] {
        string.raw_set(name, Value::Nil)?;
    }
    Ok((lua, allowed))
}

/// Closes the machine: scripts cannot change its current objects, and work and memory are counted.
pub(super) fn close(lua: &Lua, allowed: &Table) -> Result<()> {
    allowed.set_readonly(true);
    // The engine resolves global names at compile time, ignoring the environment: disallowed names must not exist.
    let globals = lua.globals();
    let names: Vec<Value> = globals.pairs::<Value, Value>().map(|pair| Ok(pair?.0)).collect::<Result<_>>()?;
    for name in names {
        let value: Value = allowed.raw_get(name.clone())?;
        globals.raw_set(name, value)?;
    }
    lua.sandbox(true)?;
    // SAFETY: the callback table belongs to this machine, and `tick` is a static function.
    unsafe {
        lua.exec_raw_lua(|raw| (*ffi::lua_callbacks(raw.state())).interrupt = Some(tick));
    }
    lua.gc_collect()?;
    lua.set_memory_limit(lua.used_memory() + MEMORY)?;
    allocation::install(lua)?;
    loop_keys::install(lua)
}

/// Collects garbage in a ruleset's machine, and stops the collector again: if a collection comes between removing a
/// text key from a table and adding it again, the key gets another place.
pub(super) fn collect(lua: &Lua) -> Result<()> {
    let collected = lua.gc_collect();
    lua.gc_stop();
    collected
}

/// True if a machine with an initial size of `base` bytes has less than an eighth of its memory left.
pub(super) fn is_nearly_full(lua: &Lua, base: usize) -> bool {
    lua.used_memory().saturating_sub(base) > MEMORY / 8 * 7
}

/// Makes a copy of a table.
pub(super) fn copy(lua: &Lua, table: &Table) -> Result<Table> {
    lua.create_table_from(table.pairs::<Value, Value>().collect::<Result<Vec<_>>>()?)
}

/// The globals of one ruleset: the allowed names and its own `require`, closed.
pub(super) fn environment(lua: &Lua, allowed: &Table, require: Function) -> Result<Table> {
    let environment = copy(lua, allowed)?;
    environment.raw_set("require", require)?;
    environment.set_readonly(true);
    environment.set_safeenv(true);
    Ok(environment)
}
