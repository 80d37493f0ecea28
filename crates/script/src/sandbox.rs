//! The sandbox of a script: the libraries that it gets, and its budgets of work, time and memory.

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

/// How much a call into a script may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallBudget {
    /// Safepoints: loop edges, calls and returns.
    pub work: i64,
    /// A backstop behind the work, in processor time of the thread, which other programs do not use up.
    pub time: Duration,
    /// The backstop behind that, by the clock on the wall.
    pub wall: Duration,
    /// Whether the clocks start with the call. Otherwise they start when the script is first reminded to read them, a few
    /// milliseconds later; short calls then never read a clock.
    pub exact: bool,
    /// Bytes that it may make, by account, garbage included: nothing is collected while rules run.
    pub memory: [usize; 3],
    /// Bytes that it may hand to the host, by a generous estimate. The host keeps rolls, texts, questions and changes outside the
    /// machine's memory limit.
    pub held: usize,
}

/// Time of the backstop; a build without optimization takes longer for the same work.
const fn backstop(milliseconds: u64) -> Duration {
    Duration::from_millis(if cfg!(debug_assertions) { 6 * milliseconds } else { milliseconds })
}

/// The wall clock goes on while the thread waits for a processor, for minutes if the machine is busy or the process is stopped.
/// That must neither keep a ruleset from loading nor change the result of a game.
const WALL: Duration = Duration::from_secs(300);

impl CallBudget {
    /// All files of a ruleset together.
    pub const LOAD: CallBudget = CallBudget {
        work: 2_000_000,
        time: backstop(180),
        wall: WALL,
        exact: true,
        memory: [usize::MAX; 3],
        held: 16 << 20,
    };
    /// Lua typed at the prompt, and a program that drives games. The steps of a game run under budgets of their own; after each
    /// step the program has this budget again.
    pub const PROGRAM: CallBudget = CallBudget { work: 10_000_000, held: 64 << 20, ..CallBudget::LOAD };
    /// A spec: its own part is small, and the games that it plays run under budgets of their own.
    pub const SPEC: CallBudget = CallBudget::PROGRAM;
    /// One action. Endless loops are stopped by the work limit, so always at the same place.
    pub const ACTION: CallBudget = CallBudget {
        work: account::ALLOWANCE,
        time: backstop(150),
        wall: WALL,
        exact: false,
        memory: account::ROOM,
        held: 8 << 20,
    };

    /// Whether less than an eighth of [`CallBudget::LOAD`] is left. Then the files together are to blame, not the next one.
    pub fn is_nearly_spent(&self) -> bool {
        let all = CallBudget::LOAD;
        self.work < all.work / 8 || self.time < all.time / 8 || self.held < all.held / 8
    }

    /// What is left of it after the call that ended last. Each call may make as much as before: its garbage is collected.
    pub fn rest(self) -> CallBudget {
        let Rest { work, held, taken: [time, wall], .. } = LEFT.get();
        let (time, wall) = (self.time.saturating_sub(time), self.wall.saturating_sub(wall));
        CallBudget { work, time, wall, held, ..self }
    }
}

/// What a call has left of its budget, what it has used of its allowances, and how long it took.
#[derive(Clone, Copy)]
struct Rest {
    work: i64,
    beside: i64,
    held: usize,
    taken: [Duration; 2],
}

/// Bytes a machine of a program may hold above what it has when it is made, and one of rules while it is loaded.
pub(super) const MEMORY: usize = 32 << 20;

thread_local! {
    /// Bytes that may still be handed to the host, by account: what is kept for people depends on who looks at the game.
    static HOLD: Cell<[usize; 3]> = const { Cell::new([usize::MAX; 3]) };
    /// How long the running call may take, by the thread's clock and by that on the wall.
    static LIMITS: Cell<[Duration; 2]> = const { Cell::new([Duration::ZERO; 2]) };
    /// What both clocks showed when they were first looked at: short calls never do.
    static BEGUN: Cell<Option<[Duration; 2]>> = const { Cell::new(None) };
    /// Of the last call.
    static LEFT: Cell<Rest> = const { Cell::new(Rest { work: 0, beside: 0, held: 0, taken: [Duration::ZERO; 2] }) };
    /// Of all calls on this thread that have ended.
    static DONE: Cell<u64> = const { Cell::new(0) };
    static SPENT: Cell<Option<&'static str>> = const { Cell::new(None) };
    static SPENT_AT: Cell<Option<FilePlace>> = const { Cell::new(None) };
    /// The cure for the error that was raised last, if its origin gave one.
    static CURE: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Line and file where the engine was last refused memory.
    static REFUSED_AT: RefCell<(u32, usize, [u8; NAME])> = const { RefCell::new((0, 0, [0; NAME])) };
}

unsafe extern "C-unwind" fn tick(state: *mut mlua::lua_State, gc: c_int) {
    // A step of the collector, in a program or spec, must not be stopped.
    if gc >= 0 {
        return;
    }
    // SAFETY: the engine stands at a safepoint of this state.
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

/// Portions out the work that is left and looks at the clock; says which budget is spent, if one is.
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

/// Which budget is spent in the middle of an operation, if one is.
pub(super) fn must_stop() -> Option<&'static str> {
    if account::is_spent() {
        return Some("work");
    }
    if account::is_full() && !account::are_words_full() {
        return Some("memory");
    }
    (watchdog::must_look() && is_late()).then_some("time")
}

/// Notes that a script is stopped in the middle of an operation. Whatever comes of the error, it goes no further.
pub(super) unsafe fn stop_at(state: Option<*mut mlua::lua_State>, what: &'static str) {
    if SPENT.get().is_none() {
        SPENT.set(Some(what));
        // SAFETY: the state is that of a living machine, and reading the place makes nothing in it.
        SPENT_AT.set(state.and_then(|state| unsafe { place_of(state) }));
    }
    account::stop();
}

/// Notes where the script stands whose budget was spent in the middle of an operation, unless that is known.
pub(super) unsafe fn note_spent_at(state: *mut mlua::lua_State) {
    if SPENT.get().is_some() {
        // SAFETY: as in `stop_at`.
        SPENT_AT.set(SPENT_AT.take().or_else(|| unsafe { place_of(state) }));
    }
}

/// Whether the running call has taken longer than it may. The first look starts the clocks.
fn is_late() -> bool {
    if BEGUN.get().is_none() {
        BEGUN.set(Some(clocks()));
        return false;
    }
    let (taken, limits) = (taken(), LIMITS.get());
    taken[0] > limits[0] || taken[1] > limits[1]
}

/// Does work of the host that the running script does not pay for in time.
pub(super) fn uncharged<R>(work: impl FnOnce() -> R) -> R {
    if BEGUN.get().is_none() {
        // The clocks of the call have not begun, and asking for the thread's own time is a call of the system.
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

/// The time that this thread has run, and the time on the wall.
fn clocks() -> [Duration; 2] {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    let wall = FIRST.elapsed();
    [thread_time().unwrap_or(wall), wall]
}

#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    // SAFETY: the record is filled by the system, which is asked whether it did.
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

/// Raises an error that no script can make, and again at every later safepoint.
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

/// Raises an error with the place of the script that runs.
#[cold]
unsafe fn refuse(state: *mut mlua::lua_State, message: &str) {
    // SAFETY: the state stands at a safepoint; nothing that has to be dropped is left when the error is raised.
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

/// The innermost place of a ruleset's file in the running calls.
pub(super) unsafe fn place_of(state: *mut mlua::lua_State) -> Option<FilePlace> {
    let place = |line, source: &[u8]| FilePlace { path: String::from_utf8_lossy(source).into_owned(), line };
    unsafe { with_place(state, 20, place) }
}

/// Longest name of a source that the engine gives, in bytes.
const NAME: usize = 256;

/// Notes where the running script was refused memory, without making anything itself: the error does not say where it was.
pub(super) unsafe fn note_refused(state: *mut mlua::lua_State) {
    let note = |at: u32, source: &[u8]| {
        REFUSED_AT.with_borrow_mut(|(line, length, name)| {
            (*line, *length) = (at, source.len().min(NAME));
            name[..*length].copy_from_slice(&source[..*length]);
        });
    };
    unsafe { with_place(state, 4, note) };
}

/// Hands over line and file of the innermost of so many running calls that is of a ruleset's file.
unsafe fn with_place<R>(state: *mut mlua::lua_State, levels: c_int, take: impl FnOnce(u32, &[u8]) -> R) -> Option<R> {
    for level in 0..levels {
        // SAFETY: an all-zero debug record is what the engine fills; its source text lives as long as the function.
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

/// Where the budget of the last guarded call was spent, and where it was last refused memory.
pub(super) fn spent_at() -> [Option<FilePlace>; 2] {
    let refused_at = REFUSED_AT.with_borrow(|(line, length, name)| {
        let path = String::from_utf8_lossy(&name[..*length]).into_owned();
        (*line > 0).then_some(FilePlace { path, line: *line })
    });
    [SPENT_AT.take(), refused_at]
}

/// Notes what to do about an error that is about to be raised. No script can catch it.
pub(super) fn note_cure(cure: &'static str) {
    CURE.set(Some(cure));
}

/// What to do about the error that ended the last guarded call, if whoever raised it has said so.
pub(super) fn noted_cure() -> Option<&'static str> {
    CURE.take()
}

/// Gives the next action of a game that runs on its whole budget.
pub(super) fn renew(budget: CallBudget) {
    account::open(budget.work, budget.memory);
    HOLD.set([budget.held; 3]);
    BEGUN.set(budget.exact.then(clocks));
}

/// Gives the running program its time and work again, unless it has run out of them: a game that it drives made a step.
pub(super) fn renew_program() {
    if SPENT.get().is_some() {
        return;
    }
    let begun = BEGUN.get();
    renew(CallBudget { exact: false, ..CallBudget::PROGRAM });
    // The clock on the wall goes on.
    BEGUN.set(begun.map(|[_, wall]| [clocks()[0], wall]));
}

/// A budget of what the running call may still use.
#[cfg(feature = "continuations")]
pub(super) fn left() -> CallBudget {
    let [held, ..] = HOLD.get();
    CallBudget { work: account::game_left(), memory: account::room_left(), held, ..CallBudget::ACTION }
}

/// How much of the work of an action the last call took, with what was worked out beside the game.
pub(super) fn work_of_last_call() -> u64 {
    work_in(CallBudget::ACTION)
}

/// How much of the work of a budget the last call took, with what was worked out beside the game.
pub(super) fn work_in(budget: CallBudget) -> u64 {
    let Rest { work, beside, .. } = LEFT.get();
    (budget.work - work + beside).max(0) as u64
}

/// How much work all calls on this thread took that have ended. Of a game that runs on from entry to entry, the last one counts.
pub(super) fn work_of_thread() -> u64 {
    DONE.get()
}

/// Counts bytes that the host is to keep for the account that is charged.
///
/// # Errors
///
/// It is too much: the script is stopped for good at its next safepoint, whatever comes of the error. Too many words stop no
/// script: something else is told in their place.
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

/// charge(work), for guards of the library.
unsafe extern "C-unwind" fn charged(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the guards give a number, and anything else is read as none.
    let work = unsafe { ffi::lua_tonumberx(state, 1, std::ptr::null_mut()) };
    charge(work.clamp(0.0, 1e12) as i64);
    0
}

/// What a call that was interrupted by another one on the same thread had used of its budget.
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
        // What the inner call took is not what the outer one used.
        BEGUN.set(self.begun.map(|[thread, wall]| [thread + taken()[0], wall]));
        SPENT.set(self.spent);
        // Where the inner call was stopped is told by whoever called it.
        if let Some(place) = self.spent_at.take() {
            SPENT_AT.set(Some(place));
        }
    }
}

/// Runs something in a machine under a budget of its own. The second value says which budget was spent, if one was: then the
/// machine must be thrown away, whatever came back.
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

/// Lets the allocator give memory back to the system when it is freed. By itself it learns from one large table to keep tens
/// of megabytes from then on, for each thread.
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

/// Gives back what lies free between things that are still in use: called when a machine has been thrown away that may have
/// been large.
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

/// Where it keeps the function that calls another one and gives its error, which only the prelude may have.
const CATCH: &str = "catch";

/// The function that calls another one and gives its error. A budget that is spent is not caught by it for long.
pub(super) fn catch(lua: &Lua) -> Result<Function> {
    lua.named_registry_value(CATCH)
}

/// A fresh machine without any ruleset in it, its libraries guarded and closed.
pub(super) fn machine() -> Result<(Lua, Table)> {
    keep_little();
    // Fixes that ship switched off; an unknown name only means that a newer engine has them on.
    let _ = Lua::set_fflag("LuauTableMoveTimeoutFix", true);
    let _ = Lua::set_fflag("LuauTableRobustOom", true);
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8 | StdLib::BIT | StdLib::DEBUG;
    let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
    // SAFETY: it keeps to the engine's rules for functions.
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
    allocation::install(lua)?;
    loop_keys::install(lua)
}

/// Collects garbage in a machine of the rules, and stops the collector again: a script that removes a text from the keys of a
/// table and puts it back finds it in another place if a collection came in between.
pub(super) fn collect(lua: &Lua) -> Result<()> {
    let collected = lua.gc_collect();
    lua.gc_stop();
    collected
}

/// Whether a machine that held `base` bytes at first has less than an eighth of its memory left.
pub(super) fn is_nearly_full(lua: &Lua, base: usize) -> bool {
    lua.used_memory().saturating_sub(base) > MEMORY / 8 * 7
}

/// A table with the same entries.
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
