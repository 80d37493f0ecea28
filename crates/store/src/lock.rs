//! The lock of a store: a file beside it that is locked while a program has the store open, and names that program.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::date;
use super::error::StoreError;
use riskbreaker_ruleset::system_message;

/// The time that a program waits for another one that is reading or writing a file. Both take some milliseconds.
pub const LOCK_WAIT: Duration = Duration::from_secs(2);

/// A program that has a store open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process id.
    pub process: u32,
    /// The name of the computer.
    pub host: String,
    /// The time at which it was opened, in UTC.
    pub since: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            0 => write!(f, "another program"),
            process => write!(f, "process {process} on {}, since {} UTC", self.host, self.since),
        }
    }
}

/// A lock that is held until it is dropped. The operating system releases it if the program is killed.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Closed after the file was removed, so that nobody else can have begun to use it.
    _file: File,
}

impl Lock {
    /// Takes the lock of a store.
    pub fn take(store: &Path) -> Result<Lock, StoreError> {
        let path = beside(store, "lock");
        let failed = |error: &io::Error| {
            let path = store.to_path_buf();
            let message = format!("its folder cannot be written ({})", system_message(error));
            match error.kind() {
                io::ErrorKind::NotFound => StoreError::Io { path, message: "there is no such folder".into() },
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    StoreError::ReadOnly { path, message }
                }
                _ => StoreError::Io { path, message },
            }
        };
        // The journal has the longest name of the files beside a store.
        let longest = fs::symlink_metadata(beside(store, "journal"));
        if longest.is_err_and(|error| error.kind() == io::ErrorKind::InvalidFilename) {
            return Err(StoreError::Io { path: store.to_path_buf(), message: "its name is too long".into() });
        }
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(|error| failed(&error))?;
            if !try_lock(&file).map_err(|error| failed(&error))? {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let holder = serde_json::from_str(&text).unwrap_or_default();
                return Err(StoreError::Held { path: store.to_path_buf(), holder });
            }
            // Its former holder may have removed the file between opening and locking.
            if !same_file(&file, &path) {
                continue;
            }
            let holder = Holder { process: std::process::id(), host: host(), since: date::now() };
            let text = serde_json::to_string(&holder).unwrap_or_default();
            // If this cannot be written, the lock is valid nevertheless.
            let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
            return Ok(Lock { path, _file: file });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The path of a file beside a store, with a suffix after its name.
pub fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-");
    name.push(ending);
    PathBuf::from(name)
}

/// Tries to lock `file`. Returns false if another program holds the lock.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => open.ino() == there.ino() && open.dev() == there.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_: &File, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has the given length.
    let found = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
    if found == 0 { String::from_utf8_lossy(text).into_owned() } else { "this machine".into() }
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".into())
}
