//! The budgets of calls into scripts: work, time, memory and bytes given to the host. Records which one a call has
//! spent, and where.

use std::cell::{Cell, RefCell};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mlua::{Lua, Result};

use super::account::{self, Account};
use super::file_place::{FilePlace, place_of, with_place};
use super::memory::{self, limited};
use super::watchdog;

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

/// The name of the spent budget if the host holds too much for a call.
pub(super) const HELD: &str = "room for what the game keeps";

/// The time limit; larger for a build without optimization.
const fn backstop(milliseconds: u64) -> Duration {
    Duration::from_millis(if cfg!(debug_assertions) { 6 * milliseconds } else { milliseconds })
}

/// The wall clock also runs while the thread waits for a processor, for minutes if the computer is busy or the process
/// is stopped. That must neither keep a ruleset from loading nor change the result of a game.
const WALL: Duration = Duration::from_secs(300);

impl CallBudget {
    /// The budget for all files of a ruleset together. Its work decides; the time is only a safeguard against work that is
    /// not counted, far above what a slow machine needs.
    pub const LOAD: CallBudget = CallBudget {
        work: 4_000_000,
        time: backstop(600),
        wall: WALL,
        exact: true,
        memory: [usize::MAX; 3],
        held: 16 << 20,
    };
    /// The budget of Lua typed at the prompt, and of a program that drives games. Steps of a game have their own
    /// budgets; after each step the program's budget is renewed.
    pub const PROGRAM: CallBudget =
        CallBudget { work: 10_000_000, time: backstop(180), held: 64 << 20, ..CallBudget::LOAD };
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
    /// The budget of `start`, which may make a large map: 100 by 100 entities.
    pub const START: CallBudget = CallBudget { held: 32 << 20, ..CallBudget::ACTION };

    /// [`CallBudget::LOAD`] for this number of script files: ten times what each of them takes is added to the time.
    pub fn load(scripts: usize) -> CallBudget {
        let each = backstop(1).saturating_mul(u32::try_from(scripts).unwrap_or(u32::MAX));
        CallBudget { time: CallBudget::LOAD.time.saturating_add(each), ..CallBudget::LOAD }
    }

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

/// Allots the work left and reads the clock. Returns the spent budget, if one is.
#[cold]
pub(super) fn spent_now() -> Option<&'static str> {
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

/// Records that a script has spent this budget, and its place, unless a spent budget is recorded.
pub(super) unsafe fn note_spent(state: *mut mlua::lua_State, what: &'static str) {
    if SPENT.get().is_none() {
        SPENT.set(Some(what));
    }
    // SAFETY: the caller gives the state of an existing machine.
    unsafe { note_spent_at(state) };
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
            SPENT.set(SPENT.get().or(Some(HELD)));
            account::stop();
            HOLD.set(left);
            return Err(mlua::Error::MemoryError("too much for one action".into()));
        }
    }
    HOLD.set(left);
    Ok(())
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
    let result = memory::running(lua, || {
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

fn is_memory(error: &mlua::Error) -> bool {
    match error {
        mlua::Error::MemoryError(_) => true,
        mlua::Error::CallbackError { cause, .. } => is_memory(cause),
        mlua::Error::RuntimeError(message) => message.contains("not enough memory"),
        _ => false,
    }
}
