//! The sandbox of a script: its libraries, and its budgets of work, time and memory.

use std::cell::{Cell, RefCell};
use std::os::raw::c_int;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::account::{self, Account, charge};
use super::allocation::{self, limited};
use super::fault::FilePlace;
use super::loop_keys;
use super::watchdog;
use mlua::{Function, Lua, LuaOptions, Result, StdLib, Table, Value, ffi};

/// The budget of a call into a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallBudget {
    /// The number of safepoints: loop edges, calls and returns.
    pub work: i64,
    /// A second limit, in processor time of the thread, which other programs do not use up.
    pub time: Duration,
    /// A third limit, in wall time.
    pub wall: Duration,
    /// True if the clocks start with the call. Otherwise they start at the first reminder to read them, a few
    /// milliseconds later; short calls then never read a clock.
    pub exact: bool,
    /// The memory quota in bytes, by account, including garbage: nothing is collected while rules run.
    pub memory: [usize; 3],
    /// Bytes that the script may give to the host, by a generous estimate. The host stores rolls, texts, questions and
    /// changes outside the machine's memory limit.
    pub held: usize,
}

/// The time limit; larger for a build without optimization.
const fn backstop(milliseconds: u64) -> Duration {
    Duration::from_millis(if cfg!(debug_assertions) { 6 * milliseconds } else { milliseconds })
}

/// The wall clock also runs while the thread waits for a processor, for minutes if the computer is busy or the process
/// is stopped. That must neither keep a ruleset from loading nor change the result of a game.
const WALL: Duration = Duration::from_secs(300);

impl CallBudget {
    /// The budget for all files of a ruleset together.
    pub const LOAD: CallBudget = CallBudget {
        work: 2_000_000,
        time: backstop(180),
        wall: WALL,
        exact: true,
        memory: [usize::MAX; 3],
        held: 16 << 20,
    };
    /// The budget of Lua typed at the prompt, and of a program that drives games. Steps of a game have their own
    /// budgets; after each step the program's budget is renewed.
    pub const PROGRAM: CallBudget = CallBudget { work: 10_000_000, held: 64 << 20, ..CallBudget::LOAD };
    /// The budget of a spec itself; the games that it plays have their own budgets.
    pub const SPEC: CallBudget = CallBudget::PROGRAM;
    /// The budget of one action. Endless loops are stopped by the work limit, so always at the same place.
    pub const ACTION: CallBudget = CallBudget {
        work: account::ALLOWANCE,
        time: backstop(150),
        wall: WALL,
        exact: false,
        memory: account::ROOM,
        held: 8 << 20,
    };

    /// True if less than an eighth of [`CallBudget::LOAD`] is left: then the files together are too large, not the next
    /// one.
    pub fn is_nearly_spent(&self) -> bool {
        let all = CallBudget::LOAD;
        self.work < all.work / 8 || self.time < all.time / 8 || self.held < all.held / 8
    }

    /// The budget left after the last call. Each call may make as much memory as before, since its garbage is
    /// collected.
    pub fn rest(self) -> CallBudget {
        let Rest { work, held, taken: [time, wall], .. } = LEFT.get();
        let (time, wall) = (self.time.saturating_sub(time), self.wall.saturating_sub(wall));
        CallBudget { work, time, wall, held, ..self }
    }
}

/// The budget left after a call, the quotas that it used, and its duration.
#[derive(Clone, Copy)]
struct Rest {
    work: i64,
    beside: i64,
    held: usize,
    taken: [Duration; 2],
}

/// The bytes that a program's machine may use beyond its initial size, and a ruleset's machine while it is loaded.
pub(super) const MEMORY: usize = 32 << 20;

thread_local! {
    /// The bytes left for data given to the host, by account: data for people depends on the viewers of the game.
    static HOLD: Cell<[usize; 3]> = const { Cell::new([usize::MAX; 3]) };
    /// The time limits of the running call: processor time and wall time.
    static LIMITS: Cell<[Duration; 2]> = const { Cell::new([Duration::ZERO; 2]) };
    /// CPU and wall time at the first clock reading of this call. `None` if the clock was not read.
    static BEGUN: Cell<Option<[Duration; 2]>> = const { Cell::new(None) };
    /// The budget left after the last call.
    static LEFT: Cell<Rest> = const { Cell::new(Rest { work: 0, beside: 0, held: 0, taken: [Duration::ZERO; 2] }) };
    /// The work of all finished calls on this thread.
    static DONE: Cell<u64> = const { Cell::new(0) };
    static SPENT: Cell<Option<&'static str>> = const { Cell::new(None) };
    static SPENT_AT: Cell<Option<FilePlace>> = const { Cell::new(None) };
    /// The correction for the last error, if its origin gave one.
    static CURE: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Line and file at which the engine was last refused memory.
    static REFUSED_AT: RefCell<(u32, usize, [u8; NAME])> = const { RefCell::new((0, 0, [0; NAME])) };
}

unsafe extern "C-unwind" fn tick(state: *mut mlua::lua_State, gc: c_int) {
    // A step of the collector, in a program or spec, must not be interrupted.
    if gc >= 0 {
        return;
    }
    // SAFETY: the engine is at a safepoint of this state.
    if let Some([wrong, cure]) = unsafe { loop_keys::wrong(state) } {
        note_cure(cure);
        unsafe { refuse(state, wrong) }
    }
    if (account::charge_safepoint() || account::is_full() || watchdog::must_look())
        && let Some(spent) = spent_now()
    {
        if let Some(why) = account::end_words() {
            unsafe { refuse(state, why) }
        }
        unsafe { kill(state, spent) }
    }
}

/// Allots the work left and reads the clock. Returns the spent budget, if one is.
#[cold]
fn spent_now() -> Option<&'static str> {
    if !account::portion() {
        return Some("work");
    }
    if account::is_full() {
        return Some("memory");
    }
    is_late().then_some("time")
}

/// The budget that is spent during an operation, if one is.
pub(super) fn must_stop() -> Option<&'static str> {
    if account::is_spent() {
        return Some("work");
    }
    if account::is_full() && !account::are_words_full() {
        return Some("memory");
    }
    (watchdog::must_look() && is_late()).then_some("time")
}

/// Records that a script is stopped during an operation. It cannot continue, even if it catches the error.
pub(super) unsafe fn stop_at(state: Option<*mut mlua::lua_State>, what: &'static str) {
    if SPENT.get().is_none() {
        SPENT.set(Some(what));
        // SAFETY: the state is that of an existing machine, and reading the place allocates nothing in it.
        SPENT_AT.set(state.and_then(|state| unsafe { place_of(state) }));
    }
    account::stop();
}

/// Records the place of a script whose budget was spent during an operation, unless it is known.
pub(super) unsafe fn note_spent_at(state: *mut mlua::lua_State) {
    if SPENT.get().is_some() {
        // SAFETY: as in `stop_at`.
        SPENT_AT.set(SPENT_AT.take().or_else(|| unsafe { place_of(state) }));
    }
}

/// True if the running call has exceeded a time limit. The first call starts the clocks.
fn is_late() -> bool {
    if BEGUN.get().is_none() {
        BEGUN.set(Some(clocks()));
        return false;
    }
    let (taken, limits) = (taken(), LIMITS.get());
    taken[0] > limits[0] || taken[1] > limits[1]
}

/// Runs work of the host without charging its time to the running script.
pub(super) fn uncharged<R>(work: impl FnOnce() -> R) -> R {
    if BEGUN.get().is_none() {
        // The clocks of the call have not started, and reading the thread's time is a system call.
        return work();
    }
    let before = clocks();
    let result = work();
    if let Some([cpu, wall]) = BEGUN.get() {
        let now = clocks();
        BEGUN.set(Some([cpu + now[0].saturating_sub(before[0]), wall + now[1].saturating_sub(before[1])]));
    }
    result
}

fn taken() -> [Duration; 2] {
    let Some(begun) = BEGUN.get() else { return [Duration::ZERO; 2] };
    let now = clocks();
    [now[0].saturating_sub(begun[0]), now[1].saturating_sub(begun[1])]
}

/// The processor time of this thread.
pub(super) fn clock() -> Duration {
    clocks()[0]
}

/// The processor time of this thread, and the wall time.
fn clocks() -> [Duration; 2] {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    let wall = FIRST.elapsed();
    [thread_time().unwrap_or(wall), wall]
}

#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    // SAFETY: the record is filled by the system, whose result is checked.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        (libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) == 0).then_some(time)?
    };
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

/// Raises an uncatchable error, now and at every later safepoint.
#[cold]
unsafe fn kill(state: *mut mlua::lua_State, what: &'static str) {
    static MARK: u8 = 0;
    if SPENT.get().is_none() {
        SPENT.set(Some(what));
    }
    unsafe { note_spent_at(state) };
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

/// The innermost place in a ruleset's file in the running calls.
pub(super) unsafe fn place_of(state: *mut mlua::lua_State) -> Option<FilePlace> {
    let place = |line, source: &[u8]| FilePlace { path: String::from_utf8_lossy(source).into_owned(), line };
    unsafe { with_place(state, 20, place) }
}

/// Longest source name from the engine, in bytes.
const NAME: usize = 256;

/// Records where the running script was refused memory, without allocating: the error does not contain the place.
pub(super) unsafe fn note_refused(state: *mut mlua::lua_State) {
    let note = |at: u32, source: &[u8]| {
        REFUSED_AT.with_borrow_mut(|(line, length, name)| {
            (*line, *length) = (at, source.len().min(NAME));
            name[..*length].copy_from_slice(&source[..*length]);
        });
    };
    unsafe { with_place(state, 4, note) };
}

/// Calls `take` with line and file of the innermost of `levels` running calls that is in a ruleset's file.
unsafe fn with_place<R>(state: *mut mlua::lua_State, levels: c_int, take: impl FnOnce(u32, &[u8]) -> R) -> Option<R> {
    for level in 0..levels {
        // SAFETY: the engine fills a zeroed debug record; its source text lives as long as the function.
        unsafe {
            let mut record: ffi::lua_Debug = std::mem::zeroed();
            if ffi::lua_getinfo(state, level, c"sl".as_ptr(), &raw mut record) == 0 {
                return None;
            }
            if record.short_src.is_null() {
                continue;
            }
            let source = std::ffi::CStr::from_ptr(record.short_src).to_bytes();
            if record.currentline > 0 && source.windows(4).any(|part| part == b".lua") {
                return Some(take(record.currentline as u32, source));
            }
        }
    }
    None
}

/// Returns the places at which the last guarded call exhausted its budget, and at which it was last refused memory.
pub(super) fn spent_at() -> [Option<FilePlace>; 2] {
    let refused_at = REFUSED_AT.with_borrow(|(line, length, name)| {
        let path = String::from_utf8_lossy(&name[..*length]).into_owned();
        (*line > 0).then_some(FilePlace { path, line: *line })
    });
    [SPENT_AT.take(), refused_at]
}

/// Sets the correction for the error that is about to be raised, which no script can catch.
pub(super) fn note_cure(cure: &'static str) {
    CURE.set(Some(cure));
}

/// Takes the correction for the error that ended the last guarded call, if its origin gave one.
pub(super) fn noted_cure() -> Option<&'static str> {
    CURE.take()
}

/// Renews the whole budget for the next action in the headless loop.
pub(super) fn renew(budget: CallBudget) {
    account::open(budget.work, budget.memory);
    HOLD.set([budget.held; 3]);
    BEGUN.set(budget.exact.then(clocks));
}

/// Renews time and work of the running program, unless they were spent, after a game that it drives made a step.
pub(super) fn renew_program() {
    if SPENT.get().is_some() {
        return;
    }
    let begun = BEGUN.get();
    renew(CallBudget { exact: false, ..CallBudget::PROGRAM });
    // The wall clock continues.
    BEGUN.set(begun.map(|[_, wall]| [clocks()[0], wall]));
}

/// The budget left to the running call.
#[cfg(feature = "continuations")]
pub(super) fn left() -> CallBudget {
    let [held, ..] = HOLD.get();
    CallBudget { work: account::game_left(), memory: account::room_left(), held, ..CallBudget::ACTION }
}

/// The work of the last call in units of an action's budget, including answers and texts.
pub(super) fn work_of_last_call() -> u64 {
    work_in(CallBudget::ACTION)
}

/// The work of the last call in units of a budget, including answers and texts.
pub(super) fn work_in(budget: CallBudget) -> u64 {
    let Rest { work, beside, .. } = LEFT.get();
    (budget.work - work + beside).max(0) as u64
}

/// The work of all finished calls on this thread. Of a headless loop, only the last entry counts.
pub(super) fn work_of_thread() -> u64 {
    DONE.get()
}

/// Charges bytes to be stored by the host to the current account.
///
/// # Errors
///
/// The quota is exceeded: the script is stopped for good at its next safepoint, even if it catches the error. Too many
/// texts stop no script: a replacement text is used.
pub(super) fn hold(bytes: usize) -> Result<()> {
    let (mut left, account) = (HOLD.get(), account::charged());
    match left[account as usize].checked_sub(bytes) {
        Some(rest) => left[account as usize] = rest,
        None if account == Account::Words => {
            return Err(mlua::Error::RuntimeError(account::TOO_MANY_WORDS.into()));
        }
        None => {
            left[account as usize] = 0;
            SPENT.set(SPENT.get().or(Some("memory")));
            account::stop();
            HOLD.set(left);
            return Err(mlua::Error::MemoryError("too much for one action".into()));
        }
    }
    HOLD.set(left);
    Ok(())
}

/// `charge(work)`: for guards of the library.
unsafe extern "C-unwind" fn charged(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the guards give a number, and anything else is read as 0.
    let work = unsafe { ffi::lua_tonumberx(state, 1, std::ptr::null_mut()) };
    charge(work.clamp(0.0, 1e12) as i64);
    0
}

/// The budget used by a call that is interrupted by another one on the same thread.
struct Suspended {
    _accounts: account::Interrupted,
    held: [usize; 3],
    limits: [Duration; 2],
    begun: Option<[Duration; 2]>,
    spent: Option<&'static str>,
    spent_at: Option<FilePlace>,
}

impl Suspended {
    fn take() -> Suspended {
        Suspended {
            _accounts: account::Interrupted::take(),
            held: HOLD.get(),
            limits: LIMITS.get(),
            begun: BEGUN.get(),
            spent: SPENT.take(),
            spent_at: SPENT_AT.take(),
        }
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        HOLD.set(self.held);
        LIMITS.set(self.limits);
        // The time of the inner call does not count for the outer one.
        BEGUN.set(self.begun.map(|[thread, wall]| [thread + taken()[0], wall]));
        SPENT.set(self.spent);
        // The caller of the inner call reports where that was stopped.
        if let Some(place) = self.spent_at.take() {
            SPENT_AT.set(Some(place));
        }
    }
}

/// Runs something in a machine under its own budget. The second value is the spent budget, if any: then the machine
/// must be discarded, whatever the result.
pub(super) fn guarded<R>(
    lua: &Lua,
    budget: CallBudget,
    run: impl FnOnce() -> Result<R>,
) -> (Result<R>, Option<&'static str>) {
    let _suspended = Suspended::take();
    let _watched = watchdog::watch();
    LIMITS.set([budget.time, budget.wall]);
    REFUSED_AT.with_borrow_mut(|(line, ..)| *line = 0);
    CURE.set(None);
    let result = allocation::running(lua, || {
        renew(budget);
        limited(true, run)
    });
    let mut spent = SPENT.get();
    if matches!(&result, Err(error) if is_memory(error)) {
        spent = spent.or(Some("memory"));
    }
    let [held, ..] = HOLD.get();
    let (left, beside) = (account::game_left(), account::used_beside());
    LEFT.set(Rest { work: left, beside, held, taken: taken() });
    DONE.set(DONE.get().wrapping_add((budget.work - left + beside).max(0) as u64));
    (result, spent)
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

fn is_memory(error: &mlua::Error) -> bool {
    match error {
        mlua::Error::MemoryError(_) => true,
        mlua::Error::CallbackError { cause, .. } => is_memory(cause),
        mlua::Error::RuntimeError(message) => message.contains("not enough memory"),
        _ => false,
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
