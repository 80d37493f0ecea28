//! Riskbreaker for programs that can call C: the messages of `riskbreaker serve`, without a process in between.
//!
//! `riskbreaker.h` is made from this file by cbindgen.

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use riskbreaker::Library;
use riskbreaker::serve::{Connection, Host, Received};

/// A host of games. The caller is its operator.
pub struct Riskbreaker {
    connection: Connection,
    /// Set by `shutdown` and by a failure of the host: nothing is carried out any more.
    ended: AtomicBool,
}

/// The answer to every message after the end.
const ENDED: &str =
    r#"{"error":{"code":1,"data":{"kind":"ended"},"message":"riskbreaker has ended"},"id":null,"jsonrpc":"2.0"}"#;

/// Opens a host.
///
/// `rulesets` is the folder of the rulesets; NULL means `./rulesets`, or else the built-in ones. Returns NULL if the folder
/// cannot be read, or if its name is not UTF-8.
///
/// # Safety
///
/// `rulesets` is NULL or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riskbreaker_open(rulesets: *const c_char) -> *mut Riskbreaker {
    let open = || {
        let folder = match rulesets.is_null() {
            true => None,
            // Safety: the caller's promise.
            false => Some(unsafe { CStr::from_ptr(rulesets) }.to_str().ok()?),
        };
        let library = Library::locate(folder.map(Path::new)).ok()?;
        let connection = Host::new(library).connect(true);
        Some(Box::new(Riskbreaker { connection, ended: AtomicBool::new(false) }))
    };
    catch_unwind(open).ok().flatten().map_or(null_mut(), Box::into_raw)
}

/// Sends a message and waits until the host has handled it.
///
/// Returns all messages of the host since the last call, one a line, the answer last. The text is empty for a notification
/// without further messages. Free it with `riskbreaker_free`. Returns NULL if an argument is NULL. Only one thread at a time
/// may use a host.
///
/// After `shutdown`, and after a failure of the host, each message is answered at once by an error of the kind `ended`, with
/// the text "riskbreaker has ended" and without an id. Then close the host and open another one: it continues a campaign
/// file by `table.load`, and `hello` takes the last `seq`. See `bot.c`.
///
/// # Safety
///
/// `host` comes from `riskbreaker_open` and was not closed; `message` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riskbreaker_call(host: *mut Riskbreaker, message: *const c_char) -> *mut c_char {
    if host.is_null() || message.is_null() {
        return null_mut();
    }
    // Safety: the caller's promise.
    let (host, message) = unsafe { (&*host, CStr::from_ptr(message)) };
    let call = || {
        match host.connection.receive(&message.to_string_lossy()) {
            Received::Job(job) => job.run(),
            Received::Shutdown => host.ended.store(true, Ordering::Relaxed),
            _ => {}
        }
        CString::new(host.connection.outbox().take().join("\n")).ok()
    };
    let said =
        if host.ended.load(Ordering::Relaxed) { None } else { catch_unwind(AssertUnwindSafe(call)).ok().flatten() };
    let said = said.or_else(|| {
        host.ended.store(true, Ordering::Relaxed);
        CString::new(ENDED).ok()
    });
    said.map_or(null_mut(), CString::into_raw)
}

/// Frees a text.
///
/// # Safety
///
/// `text` is NULL or comes from `riskbreaker_call`, and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riskbreaker_free(text: *mut c_char) {
    if !text.is_null() {
        // Safety: the caller's promise.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Closes a host with all its games.
///
/// # Safety
///
/// `host` is NULL or comes from `riskbreaker_open`, and was not closed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn riskbreaker_close(host: *mut Riskbreaker) {
    if !host.is_null() {
        // Safety: the caller's promise.
        let host = unsafe { Box::from_raw(host) };
        let _ = catch_unwind(AssertUnwindSafe(|| host.connection.close()));
    }
}
