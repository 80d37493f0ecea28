//! Snapshots of running scripts, see `snapshot.cpp`.

use std::any::Any;
use std::os::raw::{c_int, c_void};
use std::ptr::{self, NonNull};

use mlua::lua_State;

use super::super::budget::CallBudget;
use super::{Continuation, EXPLORING, next_time};
use riskbreaker_play::{KeepPlace, KeptPlace};
use riskbreaker_state::Value;

unsafe extern "C-unwind" {
    fn snapshot_fits(state: *mut lua_State) -> c_int;
    fn snapshot_take(fingerprinter: *mut c_void, state: *mut lua_State, size: *mut usize) -> *mut c_void;
    fn snapshot_free(snapshot: *mut c_void);
    fn snapshot_return(
        snapshot: *mut c_void,
        fingerprinter: *mut c_void,
        state: *mut lua_State,
        prepare: unsafe extern "C-unwind" fn(*mut lua_State),
        sort: c_int,
        numbers: *const f64,
        count: usize,
    ) -> c_int;
}

/// The state of a suspended script, with the budget left to it.
#[derive(Debug)]
pub(crate) struct ScriptSnapshot {
    taken: NonNull<c_void>,
    time: u64,
    budget: CallBudget,
}

// SAFETY: it holds immutable copies, and addresses that only its own machine uses.
unsafe impl Send for ScriptSnapshot {}
// SAFETY: as above.
unsafe impl Sync for ScriptSnapshot {}

impl Drop for ScriptSnapshot {
    fn drop(&mut self) {
        // SAFETY: it was made by `snapshot_take` and is freed once.
        unsafe { snapshot_free(self.taken.as_ptr()) }
    }
}

/// The result of resuming a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Went {
    /// The script ran to its end.
    On,
    /// The script ended with an error, which the host may have raised to stop it.
    Wrong,
    /// The script could not be resumed.
    Nowhere,
}

impl ScriptSnapshot {
    /// The budget left to the script.
    pub fn budget(&self) -> CallBudget {
        self.budget
    }
}

fn keep() -> Option<KeptPlace> {
    // SAFETY: the exploring machine sets and clears the pointer, and does not move meanwhile.
    let continuation = unsafe { EXPLORING.get().as_ref() }?;
    let mut size = 0;
    // SAFETY: the fingerprinter and the state are those of the machine that runs.
    let taken = unsafe { snapshot_take(continuation.fingerprinter, continuation.state, &raw mut size) };
    let snapshot = ScriptSnapshot {
        taken: NonNull::new(taken)?,
        time: continuation.time.get(),
        budget: super::super::budget::left(),
    };
    Some((Box::new(snapshot) as Box<dyn Any + Send + Sync>, size))
}

impl Continuation {
    /// Returns the function that takes snapshots. `None` if the collector is in the middle of a cycle.
    pub fn begin_keeping(&self) -> Option<KeepPlace> {
        self.forget_snapshots();
        // SAFETY: it only reads the state of this machine.
        (unsafe { snapshot_fits(self.state) } != 0).then_some(keep)
    }

    /// Invalidates all earlier snapshots: they may refer to freed objects.
    pub fn forget_snapshots(&self) {
        self.time.set(next_time());
    }

    pub fn has(&self, snapshot: &ScriptSnapshot) -> bool {
        self.time.get() == snapshot.time
    }

    /// Resumes the script of a snapshot with the result of the roll. Calls `prepare` first.
    pub fn go_on(
        &self,
        snapshot: &ScriptSnapshot,
        seen: &Value,
        prepare: unsafe extern "C-unwind" fn(*mut lua_State),
    ) -> Went {
        let (sort, numbers): (c_int, Vec<f64>) = match seen {
            Value::Int(n) => (0, vec![*n as f64]),
            Value::Bool(yes) => (1, vec![f64::from(u8::from(*yes))]),
            Value::List(items) => match items.iter().map(Value::as_int).collect::<Option<Vec<i64>>>() {
                Some(items) => (2, items.into_iter().map(|n| n as f64).collect()),
                None => return Went::Nowhere,
            },
            _ => return Went::Nowhere,
        };
        if !self.has(snapshot) {
            return Went::Nowhere;
        }
        let start = if numbers.is_empty() { ptr::null() } else { numbers.as_ptr() };
        // SAFETY: the snapshot is of this machine and still valid, so all its references are.
        let went = unsafe {
            snapshot_return(
                snapshot.taken.as_ptr(),
                self.fingerprinter,
                self.state,
                prepare,
                sort,
                start,
                numbers.len(),
            )
        };
        match went {
            0 => Went::On,
            1 => Went::Wrong,
            _ => Went::Nowhere,
        }
    }
}
