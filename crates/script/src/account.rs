//! Accounts of work and memory: each operation of a script is charged to one of three accounts. `sandbox.rs` counts the bytes
//! that the host keeps by the same accounts.

use std::cell::Cell;

use super::allocation;

/// What a piece of work is charged to. How much work answers and texts need depends on the mode: a person is shown a question, a
/// policy answers it, or a tape holds the answer. So they have allowances of their own in each action, and the work of the rules
/// is the same in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Account {
    Game,
    /// Finding an answer: the work of policies, and making options.
    Answers,
    /// Making texts for people. They must not influence the game: if their allowance is spent, an error message replaces them.
    Words,
}

/// The work allowance of each of the two other accounts in an action. The action itself has the same amount.
pub(super) const ALLOWANCE: i64 = 2_000_000;

/// Bytes that an action may make, by account.
pub(super) const ROOM: [usize; 3] = [40 << 20, 32 << 20, 16 << 20];

/// The least work that texts have left, so that their failure can be reported.
const LAST_WORDS: i64 = 256;

/// The same for the bytes that they may make.
const LAST_BYTES: usize = 64 << 10;

/// After this much work the clock is read, besides the watchdog's reminders: reading it is a system call.
const PORTION: i64 = 8192;

/// Which account is charged at the moment, and what is left of the others.
#[derive(Clone, Copy)]
struct Accounts {
    open: Account,
    /// By account; nothing is noted here for the one that is open.
    left: [i64; 3],
    /// Bytes that the script may still make, by account; for the one that is open, when it was opened. Nothing is collected
    /// while rules run: garbage counts.
    room: [usize; 3],
    /// The script is stopped for good: no account has anything left for it.
    is_stopped: bool,
}

thread_local! {
    /// What is left of the account that is charged: until the clock is looked at, and behind that.
    static WORK: Cell<i64> = const { Cell::new(0) };
    static RESERVE: Cell<i64> = const { Cell::new(0) };
    /// Bytes in use in the running machine at which the account that is charged is spent.
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
    static ACCOUNTS: Cell<Accounts> =
        const { Cell::new(Accounts { open: Account::Game, left: [0; 3], room: [usize::MAX; 3], is_stopped: false }) };
}

/// The account that is charged at the moment.
pub(super) fn charged() -> Account {
    ACCOUNTS.get().open
}

/// Gives the game so much work, the others their allowances, and each of them so many bytes.
pub(super) fn open(work: i64, room: [usize; 3]) {
    set_work(work);
    set_room(room[Account::Game as usize]);
    let left = [work, ALLOWANCE, ALLOWANCE];
    ACCOUNTS.set(Accounts { open: Account::Game, left, room, is_stopped: false });
}

/// Charges work that no safepoint counts.
pub(super) fn charge(work: i64) {
    WORK.set(WORK.get().saturating_sub(work));
}

/// Charges a safepoint. Says whether the clock is to be looked at.
#[inline]
pub(super) fn charge_safepoint() -> bool {
    let left = WORK.get() - 1;
    WORK.set(left);
    left < 0
}

/// Portions out the work until the next look at the clock, if any is left.
pub(super) fn portion() -> bool {
    let left = work_left();
    if left >= 0 {
        set_work(left);
    }
    left >= 0
}

/// What is left of the account that is charged.
fn work_left() -> i64 {
    RESERVE.get().saturating_add(WORK.get())
}

fn set_work(left: i64) {
    let portion = left.min(PORTION);
    WORK.set(portion);
    RESERVE.set(left - portion);
}

fn set_room(bytes: usize) {
    MOST.set(allocation::used().saturating_add(bytes));
}

/// Whether the account that is charged has no bytes left.
#[inline]
pub(super) fn is_full() -> bool {
    allocation::uses_more_than(MOST.get())
}

/// Leaves no account any work until they are opened again.
pub(super) fn stop() {
    RESERVE.set(0);
    WORK.set(-1);
    let accounts = ACCOUNTS.get();
    ACCOUNTS.set(Accounts { is_stopped: true, ..accounts });
}

/// Whether the account that is charged is spent, and the script has to stop for it.
pub(super) fn is_spent() -> bool {
    work_left() < 0 && !are_words_spent()
}

/// Whether it is words that have used up their allowance, and nothing else has happened.
fn are_words_spent() -> bool {
    let accounts = ACCOUNTS.get();
    accounts.open == Account::Words && !accounts.is_stopped && work_left() < 0
}

/// The same for the bytes that words may make.
pub(super) fn are_words_full() -> bool {
    let accounts = ACCOUNTS.get();
    accounts.open == Account::Words && !accounts.is_stopped && is_full()
}

/// Which allowance words have used up, if they have; leaves them enough to be told so.
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

/// Why words were left out.
const TOO_MUCH_WORK: &str = "the words took too much work";
pub(super) const TOO_MANY_WORDS: &str = "the words took too much memory";

/// Charges another account for what `run` does. Work that is charged to answers already stays there, except for texts; texts
/// always stay on their own account.
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

/// Gives the game its full budget once the machine is ready: preparation depends on earlier runs and is not charged.
pub(super) fn begin_work() {
    let Accounts { left: [work, ..], room: [bytes, ..], .. } = ACCOUNTS.get();
    set_work(work);
    set_room(bytes);
}

/// The entry is done: what the host does until the next one is not charged to the game.
pub(super) fn end_work() {
    if ACCOUNTS.get().open == Account::Game {
        change_to(Account::Answers);
        set_work(ALLOWANCE);
        set_room(usize::MAX);
    }
}

/// What an account has left, whichever is charged at the moment.
fn left(account: Account) -> i64 {
    let accounts = ACCOUNTS.get();
    if account == accounts.open { work_left() } else { accounts.left[account as usize] }
}

/// The bytes that an account is opened with.
fn given(account: Account, room: [usize; 3]) -> usize {
    room[account as usize].max(if account == Account::Words { LAST_BYTES } else { 0 })
}

/// Bytes that each account has left.
fn room_of(Accounts { open, mut room, .. }: Accounts) -> [usize; 3] {
    let left = MOST.get().saturating_sub(allocation::used());
    let spent = given(open, room).saturating_sub(left);
    room[open as usize] = room[open as usize].saturating_sub(spent);
    room
}

/// Bytes that each account has left.
#[cfg(feature = "continuations")]
pub(super) fn room_left() -> [usize; 3] {
    room_of(ACCOUNTS.get())
}

/// Makes something that depends on what the machine has kept from before: its bytes are not charged.
pub(super) fn uncounted<R>(run: impl FnOnce() -> R) -> R {
    let before = allocation::used();
    let made = run();
    MOST.set(MOST.get().saturating_add(allocation::used().saturating_sub(before)));
    made
}

/// Why words are not made, if the bytes of their account are spent. It is asked inside that account.
pub(super) fn no_more_words() -> Option<&'static str> {
    (ACCOUNTS.get().room[Account::Words as usize] == 0).then_some(TOO_MANY_WORDS)
}

/// What the game's own work has left.
pub(super) fn game_left() -> i64 {
    left(Account::Game)
}

/// How much of the allowances is used.
pub(super) fn used_beside() -> i64 {
    [Account::Answers, Account::Words].into_iter().map(|account| ALLOWANCE - left(account)).sum()
}

/// The accounts of a call, while another one runs on the same thread.
pub(super) struct Interrupted {
    work: i64,
    reserve: i64,
    most: usize,
    accounts: Accounts,
}

impl Interrupted {
    pub fn take() -> Interrupted {
        Interrupted { work: WORK.get(), reserve: RESERVE.get(), most: MOST.get(), accounts: ACCOUNTS.get() }
    }
}

impl Drop for Interrupted {
    fn drop(&mut self) {
        WORK.set(self.work);
        RESERVE.set(self.reserve);
        MOST.set(self.most);
        ACCOUNTS.set(self.accounts);
    }
}
