//! Fingerprints of the running script's whole continuation, so that the explorer can tell when two choice points are equal.
//!
//! `fingerprint.cpp` reads the engine's own structures; it says what the fingerprint holds and when it is refused. If the
//! headers there are not those of this engine, the explorer works without fingerprints and merges nothing.

mod snapshot;

use std::cell::Cell;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;

use mlua::{Function, Lua, Result, Table, lua_State};

use super::host::HostState;
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

/// What takes the fingerprints of one machine.
pub(super) struct Continuation {
    fingerprinter: *mut c_void,
    state: *mut lua_State,
    /// Which snapshots can be gone back to: the number of their time.
    time: Cell<u64>,
}

impl Continuation {
    /// `roots`: all that the host calls; `state`: the prelude's function that gives its variables; `lists`: its lists by kind.
    /// `None` if the engine is not the one that is known.
    pub fn new(
        lua: &Lua,
        host: &HostState,
        roots: &[Function],
        (state, lists, handles): (Function, Table, Table),
    ) -> Result<Option<Continuation>> {
        let main = lua.exec_raw_lua(|raw| raw.state());
        let mut fits = false;
        let mut fingerprinter = ptr::null_mut();
        // SAFETY: both functions take what is on the stack, and leave nothing there that counts.
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
            time: Cell::new(snapshot::next_time()),
        }))
    }

    /// Lets [`Continuation::fingerprint`] find it while ways are explored on this thread.
    pub fn begin(&self) -> Fingerprint {
        EXPLORING.set(self);
        fingerprint
    }

    pub fn end() {
        EXPLORING.set(ptr::null());
    }

    /// How much work fingerprints and snapshots took since this was called last, in steps of a script.
    pub fn take_work(&self) -> u64 {
        // SAFETY: it lives as long as this.
        WORK_OF_LOOK * unsafe { fingerprint_looked_at(self.fingerprinter) }
    }

    /// What scripts keep between runs, as bytes.
    ///
    /// # Errors
    ///
    /// Why that cannot be told.
    pub fn kept(&self) -> std::result::Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        read(self, fingerprint_kept, &mut out)?;
        // SAFETY: it lives as long as this.
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

/// What it costs to look at a value or a reference, in steps of a script: mostly a search by its address.
const WORK_OF_LOOK: u64 = 10;

type Take = unsafe extern "C-unwind" fn(*mut c_void, *mut lua_State, *mut *const c_char, *mut usize) -> c_int;

fn read(continuation: &Continuation, take: Take, out: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
    let (mut bytes, mut count) = (ptr::null(), 0);
    // SAFETY: the bytes belong to the fingerprinter until it is used again; a reason is a text that lives for ever.
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
    // SAFETY: the machine that explores sets it and takes it away again, and stands still for as long.
    match unsafe { exploring.as_ref() } {
        Some(continuation) => read(continuation, fingerprint_take, out),
        None => Err("no machine that explores"),
    }
}

/// How the running script uses the two results of the function of the prelude that has called the host, as the bits that
/// `fingerprint_use_of_results` describes; 0 if nothing can be proven or no machine explores.
pub(super) fn use_of_results() -> i32 {
    let exploring = EXPLORING.get();
    // SAFETY: as in `fingerprint`.
    match unsafe { exploring.as_ref() } {
        Some(continuation) => unsafe { fingerprint_use_of_results(continuation.fingerprinter, continuation.state) },
        None => 0,
    }
}

/// The number of the entity whose handle lies at an address; 0 if there is none.
unsafe extern "C-unwind" fn entity_of(host: *const c_void, table: *const c_void) -> u32 {
    // SAFETY: the host state outlives the machine that this belongs to.
    let host = unsafe { &*host.cast::<HostState>() };
    let handles = host.handles.try_borrow();
    handles.ok().and_then(|handles| handles.id_at(table as usize)).map_or(0, |EntityId(id)| id)
}
