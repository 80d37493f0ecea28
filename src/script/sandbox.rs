//! What keeps a script inside its bounds: the libraries it gets, and the budgets of work, time and memory.

use std::cell::Cell;
use std::os::raw::c_int;
use std::time::{Duration, Instant};

use super::fault::Place;
use mlua::chunk::{ChunkMode, Compiler};
use mlua::{Function, Lua, LuaOptions, Result, StdLib, Table, Value, ffi};

/// How scripts are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Step by step.
    Interpreted,
    /// Compiled for this processor, for simulations: about a quarter faster, and built in a few milliseconds.
    Native,
}

/// How much a call into a script may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Safepoints: loop edges, calls and returns.
    pub work: i64,
    /// A backstop behind the work.
    pub time: Duration,
}

impl Budget {
    pub const LOAD: Budget = Budget { work: 1_000_000, time: Duration::from_millis(1000) };
    /// A program that drives games, which run under budgets of their own.
    pub const PROGRAM: Budget = Budget { work: 500_000_000, time: Duration::from_secs(120) };
    /// Generous, so that a machine that is busy with other things never changes what a simulation comes to: it is the work
    /// that stops a loop, and always at the same place.
    pub const ACTION: Budget = Budget { work: 2_000_000, time: Duration::from_secs(10) };
}

/// Bytes a machine may hold above what it has when it is made.
const MEMORY: usize = 32 << 20;

/// The clock is looked at once in so many safepoints.
const CLOCK_EVERY: i64 = 1024;

/// And the deadline is moved on once in so many actions of a game that runs on.
const CLOCK_AFTER: u32 = 32;

thread_local! {
    static WORK: Cell<i64> = const { Cell::new(0) };
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    static SPENT: Cell<Option<&'static str>> = const { Cell::new(None) };
    static RENEWED: Cell<u32> = const { Cell::new(0) };
    static SPENT_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

unsafe extern "C-unwind" fn tick(state: *mut mlua::lua_State, gc: c_int) {
    if gc >= 0 {
        return; // the collector must not be stopped
    }
    let left = WORK.get() - 1;
    WORK.set(left);
    if left < 0 {
        unsafe { kill(state, "work") }
    }
    if left % CLOCK_EVERY == 0 && DEADLINE.get().is_some_and(|deadline| Instant::now() > deadline) {
        unsafe { kill(state, "time") }
    }
}

/// Raises an error that no script can make, and again at every later safepoint.
#[cold]
unsafe fn kill(state: *mut mlua::lua_State, what: &'static str) {
    static MARK: u8 = 0;
    if SPENT.get().is_none() {
        SPENT.set(Some(what));
        SPENT_AT.set(unsafe { place_of(state) });
    }
    WORK.set(-1);
    unsafe {
        ffi::lua_rawcheckstack(state, 1);
        ffi::lua_pushlightuserdata(state, &raw const MARK as *mut _);
        ffi::lua_error(state)
    }
}

/// The innermost place of a ruleset's file in the running calls.
unsafe fn place_of(state: *mut mlua::lua_State) -> Option<Place> {
    for level in 0..20 {
        // SAFETY: an all-zero debug record is what the engine fills; its source text lives as long as the function.
        unsafe {
            let mut record: ffi::lua_Debug = std::mem::zeroed();
            if ffi::lua_getinfo(state, level, c"sl".as_ptr(), &raw mut record) == 0 {
                return None;
            }
            if record.short_src.is_null() {
                continue;
            }
            let source = std::ffi::CStr::from_ptr(record.short_src).to_string_lossy();
            if source.contains(".lua") && record.currentline > 0 {
                return Some(Place { path: source.into_owned(), line: record.currentline as u32 });
            }
        }
    }
    None
}

/// Where the budget of the last guarded call was spent.
pub(super) fn spent_at() -> Option<Place> {
    SPENT_AT.take()
}

/// Gives the next action of a game that runs on its whole budget. The clock is looked at only now and then, since
/// that costs more than most actions do.
pub(super) fn renew(budget: Budget) {
    WORK.set(budget.work);
    let since = RENEWED.get() + 1;
    if since >= CLOCK_AFTER {
        DEADLINE.set(Some(Instant::now() + budget.time));
    }
    RENEWED.set(since % CLOCK_AFTER);
}

/// Charges work that no safepoint counts.
pub(super) fn charge(work: i64) {
    WORK.set(WORK.get().saturating_sub(work));
}

/// charge(work), for guards of the library.
unsafe extern "C-unwind" fn charged(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the guards give a number, and anything else is read as none.
    let work = unsafe { ffi::lua_tonumberx(state, 1, std::ptr::null_mut()) };
    charge(work.clamp(0.0, 1e12) as i64);
    0
}

/// Runs something under a budget. The second value says which budget was spent, if one was: then the machine must be
/// thrown away, whatever came back.
pub(super) fn guarded<R>(budget: Budget, run: impl FnOnce() -> Result<R>) -> (Result<R>, Option<&'static str>) {
    WORK.set(budget.work);
    DEADLINE.set(Some(Instant::now() + budget.time));
    SPENT.set(None);
    SPENT_AT.set(None);
    let result = run();
    let mut spent = SPENT.get();
    if matches!(&result, Err(error) if is_memory(error)) {
        spent = Some("memory");
    }
    WORK.set(0);
    DEADLINE.set(None);
    (result, spent)
}

fn is_memory(error: &mlua::Error) -> bool {
    match error {
        mlua::Error::MemoryError(_) => true,
        mlua::Error::CallbackError { cause, .. } => is_memory(cause),
        mlua::Error::RuntimeError(message) => message.contains("not enough memory"),
        _ => false,
    }
}

/// The globals that a script may use, by the name of their library.
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

/// A fresh machine without any ruleset in it, its libraries guarded and closed.
pub(super) fn machine(code: Code) -> Result<(Lua, Table)> {
    // Fixes that ship switched off; an unknown name only means that a newer engine has them on.
    let _ = Lua::set_fflag("LuauTableMoveTimeoutFix", true);
    let _ = Lua::set_fflag("LuauTableRobustOom", true);
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8 | StdLib::BIT | StdLib::DEBUG;
    let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
    lua.enable_jit(code == Code::Native);
    // SAFETY: it keeps to the engine's rules for functions.
    let charge = unsafe { lua.create_c_function(charged) }?;
    lua.load(include_str!("guard.luau")).set_name("=host").set_mode(ChunkMode::Text).call::<()>(charge)?;
    let allowed = lua.create_table()?;
    let globals = lua.globals();
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
    // Methods of strings are looked up behind the strings' metatable, which must know no more than the library.
    let string: Table = globals.raw_get("string")?;
    for name in ["dump", "pack", "unpack", "packsize"] {
        string.raw_set(name, Value::Nil)?;
    }
    Ok((lua, allowed))
}

/// Closes the machine: nothing that is in it now can be changed by a script, and work and memory are counted.
pub(super) fn close(lua: &Lua, allowed: &Table) -> Result<()> {
    allowed.set_readonly(true);
    // The engine resolves names when a file is compiled, past its environment: what is not allowed must not be there.
    let globals = lua.globals();
    let names: Vec<Value> = globals.pairs::<Value, Value>().map(|pair| Ok(pair?.0)).collect::<Result<_>>()?;
    for name in names {
        let value: Value = allowed.raw_get(name.clone())?;
        globals.raw_set(name, value)?;
    }
    lua.sandbox(true)?;
    // SAFETY: the callback table belongs to this machine, and `tick` is a function for the whole life of the program.
    unsafe {
        lua.exec_raw_lua(|raw| (*ffi::lua_callbacks(raw.state())).interrupt = Some(tick));
    }
    lua.gc_collect()?;
    lua.set_memory_limit(lua.used_memory() + MEMORY)?;
    Ok(())
}

/// The globals of one ruleset: the allowed names and its own `require`, closed.
pub(super) fn environment(lua: &Lua, allowed: &Table, require: Function) -> Result<Table> {
    let environment = lua.create_table()?;
    for pair in allowed.pairs::<Value, Value>() {
        let (name, value) = pair?;
        environment.raw_set(name, value)?;
    }
    environment.raw_set("require", require)?;
    environment.set_readonly(true);
    environment.set_safeenv(true);
    Ok(environment)
}

/// The compiler for scripts of rulesets. Builtins that are replaced must be named, or their originals are called.
pub(super) fn compiler() -> Compiler {
    Compiler::new().set_optimization_level(1).set_debug_level(1).set_disabled_builtins([
        "tostring",
        "table.unpack",
        "string.format",
        "select",
    ])
}

/// Turns a text into a function that runs in an environment.
pub(super) fn compile(lua: &Lua, path: &str, text: &str, environment: &Table) -> Result<Function> {
    lua.load(text)
        .set_name(format!("={path}"))
        .set_mode(ChunkMode::Text)
        .set_compiler(compiler())
        .set_environment(environment.clone())
        .into_function()
}
