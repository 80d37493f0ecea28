//! Fingerprints of the running script's whole continuation, by which the explorer recognizes equal choice points.
//!
//! `fingerprint.cpp` reads the engine's own structures, and documents the content of a fingerprint and when it is
//! refused. If its headers do not match the engine, the explorer works without fingerprints and merges nothing.

mod snapshot;

use std::cell::Cell;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use mlua::{Function, Lua, Result, Table, lua_State};

use crate::host::state::HostState;
use riskbreaker_play::Fingerprint;
use riskbreaker_state::EntityId;

pub(super) use snapshot::{ScriptSnapshot, Went};

unsafe extern "C-unwind" {
    fn fingerprint_fits(state: *mut lua_State) -> c_int;
    fn fingerprint_new(
        state: *mut lua_State,
        entity_of: unsafe extern "C-unwind" fn(*const c_void, *const c_void) -> u32,
        context: *const c_void,
    ) -> *mut c_void;
    fn fingerprint_free(fingerprinter: *mut c_void);
    fn fingerprint_take(
        fingerprinter: *mut c_void,
        state: *mut lua_State,
        bytes: *mut *const c_char,
        count: *mut usize,
    ) -> c_int;
    fn fingerprint_kept(
        fingerprinter: *mut c_void,
        state: *mut lua_State,
        bytes: *mut *const c_char,
        count: *mut usize,
    ) -> c_int;
    fn fingerprint_unmade(fingerprinter: *mut c_void) -> usize;
    fn fingerprint_looked_at(fingerprinter: *mut c_void) -> u64;
    fn fingerprint_use_of_results(fingerprinter: *mut c_void, state: *mut lua_State) -> c_int;
}

thread_local! {
    /// The continuation of the machine that explores on this thread.
    static EXPLORING: Cell<*const Continuation> = const { Cell::new(ptr::null()) };
}

/// Takes the fingerprints of one machine.
pub(super) struct Continuation {
    fingerprinter: *mut c_void,
    state: *mut lua_State,
    /// Identifies the snapshots that can still be restored.
    time: Cell<u64>,
}

impl Continuation {
    /// Creates it. `roots`: all functions that the host calls; `state`: the prelude's function that returns its
    /// variables; `lists`: its lists by kind. `None` if the engine's layout is unknown.
    pub fn new(
        lua: &Lua,
        host: &HostState,
        roots: &[Function],
        (state, lists, handles): (Function, Table, Table),
    ) -> Result<Option<Continuation>> {
        let main = lua.exec_raw_lua(|raw| raw.state());
        let mut fits = false;
        let mut fingerprinter = ptr::null_mut();
        // SAFETY: both functions use only their arguments on the stack.
        unsafe {
            lua.exec_raw::<()>((), |state| fits = fingerprint_fits(state) != 0)?;
            if !fits {
                return Ok(None);
            }
            let args = mlua::Variadic::from_iter(roots.iter().cloned());
            lua.exec_raw::<()>((state, lists, handles, args), |state| {
                fingerprinter = fingerprint_new(state, entity_of, ptr::from_ref(host).cast());
            })?;
        }
        Ok((!fingerprinter.is_null()).then_some(Continuation {
            fingerprinter,
            state: main,
            time: Cell::new(next_time()),
        }))
    }

    /// Makes this the continuation of the exploration on this thread.
    pub fn begin(&self) -> Fingerprint {
        EXPLORING.set(self);
        fingerprint
    }

    pub fn end() {
        EXPLORING.set(ptr::null());
    }

    /// The work of fingerprints and snapshots since the last call, in steps of a script.
    pub fn take_work(&self) -> u64 {
        // SAFETY: the fingerprinter lives as long as `self`.
        WORK_OF_LOOK * unsafe { fingerprint_looked_at(self.fingerprinter) }
    }

    /// The data that scripts keep between runs, as bytes.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be determined.
    pub fn kept(&self) -> std::result::Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        read(self, fingerprint_kept, &mut out)?;
        // SAFETY: the fingerprinter lives as long as `self`.
        let unmade = unsafe { fingerprint_unmade(self.fingerprinter) };
        out.extend_from_slice(&unmade.to_le_bytes());
        Ok(out)
    }
}

impl Drop for Continuation {
    fn drop(&mut self) {
        // SAFETY: it was made by `fingerprint_new` and is freed once.
        unsafe { fingerprint_free(self.fingerprinter) }
    }
}

/// The work of visiting a value or a reference, in steps of a script: mostly a search by address.
const WORK_OF_LOOK: u64 = 10;

type Take = unsafe extern "C-unwind" fn(*mut c_void, *mut lua_State, *mut *const c_char, *mut usize) -> c_int;

fn read(continuation: &Continuation, take: Take, out: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
    let (mut bytes, mut count) = (ptr::null(), 0);
    // SAFETY: the bytes belong to the fingerprinter until it is used again; a reason is a static text.
    unsafe {
        let taken = take(continuation.fingerprinter, continuation.state, &raw mut bytes, &raw mut count);
        let found: &'static [u8] = std::slice::from_raw_parts(bytes.cast(), count);
        if taken == 0 {
            return Err(std::str::from_utf8(found).unwrap_or("something that is not known"));
        }
        out.extend_from_slice(found);
    }
    Ok(())
}

fn fingerprint(out: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
    let exploring = EXPLORING.get();
    // SAFETY: the exploring machine sets and clears the pointer, and does not move meanwhile.
    match unsafe { exploring.as_ref() } {
        Some(continuation) => read(continuation, fingerprint_take, out),
        None => Err("no machine that explores"),
    }
}

/// Returns how the running script uses the two results of the prelude function that has called the host: the bits described
/// at `fingerprint_use_of_results`; 0 if nothing can be proven or no machine explores.
pub(super) fn use_of_results() -> i32 {
    let exploring = EXPLORING.get();
    // SAFETY: as in `fingerprint`.
    match unsafe { exploring.as_ref() } {
        Some(continuation) => unsafe { fingerprint_use_of_results(continuation.fingerprinter, continuation.state) },
        None => 0,
    }
}

/// The number of the entity whose handle is at an address; 0 if there is none.
unsafe extern "C-unwind" fn entity_of(host: *const c_void, table: *const c_void) -> u32 {
    // SAFETY: the host state outlives the machine.
    let host = unsafe { &*host.cast::<HostState>() };
    let handles = host.handles.try_borrow();
    handles.ok().and_then(|handles| handles.id_at(table as usize)).map_or(0, |EntityId(id)| id)
}

/// Returns a number that is unique in the process, for [`Continuation::forget_snapshots`].
fn next_time() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
