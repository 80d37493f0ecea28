//! Quotas of work and memory: each operation of a script is charged to one of three accounts. `budget.rs` counts the
//! bytes stored by the host by the same accounts.

use std::cell::Cell;

use super::{memory, safepoint};

/// The account to which work is charged. The work for answers and texts depends on the mode: a question is shown to a
/// person, answered by a policy, or answered by the tape. So they have their own quotas in each action, and the work of
/// the rules is equal in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Account {
    Game,
    /// Finding an answer: the work of policies and of making options.
    Answers,
    /// Texts for people. They must not influence the game: if their quota is spent, an error message replaces them.
    Words,
}

/// The work quota of each of the two other accounts in an action, equal to that of the action itself.
pub(super) const ALLOWANCE: i64 = 2_000_000;

/// The memory quota of an action in bytes, by account.
pub(super) const ROOM: [usize; 3] = [40 << 20, 32 << 20, 16 << 20];

/// The work reserved for texts, so that their failure can be reported.
const LAST_WORDS: i64 = 256;

/// The bytes reserved for texts, so that their failure can be reported.
const LAST_BYTES: usize = 64 << 10;

/// The work after which the clock is read, besides the watchdog's reminders. Reading the clock is a system call.
const PORTION: i64 = 8192;

/// The account in use, and the rest of the quotas of the others.
#[derive(Clone, Copy)]
struct Accounts {
    open: Account,
    /// The work left, by account; not updated for the account in use.
    left: [i64; 3],
    /// The bytes left, by account; for the account in use, as of its opening. Garbage counts, since nothing is
    /// collected while rules run.
    room: [usize; 3],
    /// True if the script is stopped for good: all accounts are empty.
    is_stopped: bool,
}

thread_local! {
    /// The work left in the current account after the next reading of the clock; `safepoint` has the work until then, and
    /// the memory in use at which the quota of the current account is spent.
    static RESERVE: Cell<i64> = const { Cell::new(0) };
    static ACCOUNTS: Cell<Accounts> =
        const { Cell::new(Accounts { open: Account::Game, left: [0; 3], room: [usize::MAX; 3], is_stopped: false }) };
}

/// The account in use.
pub(super) fn charged() -> Account {
    ACCOUNTS.get().open
}

/// Opens all accounts: `work` for the game, the quotas for the others, and `room` bytes for each.
pub(super) fn open(work: i64, room: [usize; 3]) {
    set_work(work);
    set_room(room[Account::Game as usize]);
    let left = [work, ALLOWANCE, ALLOWANCE];
    ACCOUNTS.set(Accounts { open: Account::Game, left, room, is_stopped: false });
}

/// Charges work that is not counted by safepoints.
pub(super) fn charge(work: i64) {
    safepoint::set_work(safepoint::work().saturating_sub(work));
}

/// True if the clock must be read before more work is done.
pub(super) fn is_portion_spent() -> bool {
    safepoint::work() < 0
}

/// Allots work until the next reading of the clock. Returns false if none is left.
pub(super) fn portion() -> bool {
    let left = work_left();
    if left >= 0 {
        set_work(left);
    }
    left >= 0
}

/// The work left in the current account.
fn work_left() -> i64 {
    RESERVE.get().saturating_add(safepoint::work())
}

fn set_work(left: i64) {
    let portion = left.min(PORTION);
    safepoint::set_work(portion);
    RESERVE.set(left - portion);
}

fn set_room(bytes: usize) {
    safepoint::set_most(memory::used().saturating_add(bytes));
}

/// True if the current account has no bytes left.
#[inline]
pub(super) fn is_full() -> bool {
    memory::uses_more_than(safepoint::most())
}

/// Empties all accounts until they are opened again.
pub(super) fn stop() {
    RESERVE.set(0);
    safepoint::set_work(-1);
    let accounts = ACCOUNTS.get();
    ACCOUNTS.set(Accounts { is_stopped: true, ..accounts });
}

/// True if the current account is spent and the script must stop. Texts do not stop a script.
pub(super) fn is_spent() -> bool {
    work_left() < 0 && !are_words_spent()
}

/// True if texts have used up their work quota and the script was not stopped otherwise.
fn are_words_spent() -> bool {
    let accounts = ACCOUNTS.get();
    accounts.open == Account::Words && !accounts.is_stopped && work_left() < 0
}

/// True if texts have used up their memory quota and the script was not stopped otherwise.
pub(super) fn are_words_full() -> bool {
    let accounts = ACCOUNTS.get();
    accounts.open == Account::Words && !accounts.is_stopped && is_full()
}

/// The reason why texts failed, if they have used up a quota. Leaves enough work and memory to report it.
pub(super) fn end_words() -> Option<&'static str> {
    if are_words_spent() {
        set_work(LAST_WORDS);
        Some(TOO_MUCH_WORK)
    } else if are_words_full() {
        let accounts = ACCOUNTS.get();
        ACCOUNTS.set(Accounts { room: [accounts.room[0], accounts.room[1], 0], ..accounts });
        set_room(LAST_BYTES);
        Some(TOO_MANY_WORDS)
    } else {
        None
    }
}

/// The reasons for omitted texts.
const TOO_MUCH_WORK: &str = "the words took too much work";
pub(super) const TOO_MANY_WORDS: &str = "the words took too much memory";

/// Charges `run` to another account. Work charged to answers stays there, except for texts; texts always stay on their
/// own account.
pub(super) fn beside(account: Account, run: impl FnOnce()) {
    let outer = ACCOUNTS.get().open;
    if outer >= account {
        return run();
    }
    change_to(account);
    run();
    if !ACCOUNTS.get().is_stopped {
        change_to(outer);
    }
}

fn change_to(account: Account) {
    let mut accounts = ACCOUNTS.get();
    let (outer, inner) = (accounts.open as usize, account as usize);
    accounts.left[outer] = work_left();
    accounts.room = room_of(accounts);
    let least = if account == Account::Words { LAST_WORDS } else { i64::MIN };
    set_work(accounts.left[inner].max(least));
    set_room(given(account, accounts.room));
    accounts.open = account;
    ACCOUNTS.set(accounts);
}

/// Sets the full quota of the game once the machine is ready. Preparation depends on earlier runs and is not charged.
pub(super) fn begin_work() {
    let Accounts { left: [work, ..], room: [bytes, ..], .. } = ACCOUNTS.get();
    set_work(work);
    set_room(bytes);
}

/// Stops charging the game when an entry ends: work of the host before the next entry is free.
pub(super) fn end_work() {
    if ACCOUNTS.get().open == Account::Game {
        change_to(Account::Answers);
        set_work(ALLOWANCE);
        set_room(usize::MAX);
    }
}

/// The work left in an account.
fn left(account: Account) -> i64 {
    let accounts = ACCOUNTS.get();
    if account == accounts.open { work_left() } else { accounts.left[account as usize] }
}

/// The bytes with which an account is opened.
fn given(account: Account, room: [usize; 3]) -> usize {
    room[account as usize].max(if account == Account::Words { LAST_BYTES } else { 0 })
}

/// The bytes left in each account.
fn room_of(Accounts { open, mut room, .. }: Accounts) -> [usize; 3] {
    let left = safepoint::most().saturating_sub(memory::used());
    let spent = given(open, room).saturating_sub(left);
    room[open as usize] = room[open as usize].saturating_sub(spent);
    room
}

/// The bytes left in each account.
#[cfg(feature = "continuations")]
pub(super) fn room_left() -> [usize; 3] {
    room_of(ACCOUNTS.get())
}

/// Runs something whose memory depends on earlier calls of the machine, without charging its bytes.
pub(super) fn uncounted<R>(run: impl FnOnce() -> R) -> R {
    let before = memory::used();
    let made = run();
    safepoint::set_most(safepoint::most().saturating_add(memory::used().saturating_sub(before)));
    made
}

/// The reason why texts are omitted, if their memory quota is spent. Call this inside their account.
pub(super) fn no_more_words() -> Option<&'static str> {
    (ACCOUNTS.get().room[Account::Words as usize] == 0).then_some(TOO_MANY_WORDS)
}

/// The work left for the game itself.
pub(super) fn game_left() -> i64 {
    left(Account::Game)
}

/// The work used from the other two accounts.
pub(super) fn used_beside() -> i64 {
    [Account::Answers, Account::Words].into_iter().map(|account| ALLOWANCE - left(account)).sum()
}

/// The accounts of a call that is interrupted by another one on the same thread.
pub(super) struct Interrupted {
    work: i64,
    reserve: i64,
    most: usize,
    accounts: Accounts,
}

impl Interrupted {
    pub fn take() -> Interrupted {
        Interrupted {
            work: safepoint::work(),
            reserve: RESERVE.get(),
            most: safepoint::most(),
            accounts: ACCOUNTS.get(),
        }
    }
}

impl Drop for Interrupted {
    fn drop(&mut self) {
        safepoint::set_work(self.work);
        RESERVE.set(self.reserve);
        safepoint::set_most(self.most);
        ACCOUNTS.set(self.accounts);
    }
}
