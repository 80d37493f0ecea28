//! The file on disk, and the detection of changes by other programs.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params_from_iter};

use super::error::StoreError;
use super::lock::LOCK_WAIT;
use riskbreaker_ruleset::system_message;

/// The most prepared statements that a connection keeps: more than there are kinds of rows and of queries in a step, so that
/// none of them is parsed again for every entry.
pub const STATEMENTS: usize = 48;

/// A statement with its row, executed in memory first and then on disk.
#[derive(Clone, Debug)]
pub struct WaitingStatement {
    pub text: String,
    pub row: Vec<Value>,
}

impl WaitingStatement {
    /// The order of the statement in a change. The dictionary comes first, since rows need it, and rule files come
    /// last: if the end of a file is lost, they may exist elsewhere, too.
    fn rank(&self) -> u8 {
        match self.text.as_str() {
            text if text.contains(" INTO word ") => 0,
            text if text.contains(" INTO source ") => 2,
            _ => 1,
        }
    }
}

/// The state of a file after a commit. If any part differs, another program has written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// The database's counter of commits, in bytes 24 to 27.
    counter: u32,
    /// Device and inode; `None` on systems without them.
    identity: Option<(u64, u64)>,
}

impl Stamp {
    /// Reads the stamp of the file at a path; `handle` is an open handle of it.
    fn of(path: &Path, mut handle: &File) -> std::io::Result<Stamp> {
        let found = fs::metadata(path)?;
        let mut counter = [0; 4];
        handle.seek(SeekFrom::Start(24))?;
        handle.read_exact(&mut counter)?;
        Ok(Stamp {
            size: found.len(),
            modified: found.modified().ok(),
            counter: u32::from_be_bytes(counter),
            identity: identity(&found),
        })
    }
}

/// An open file that is written to.
pub struct Disk {
    pub connection: Connection,
    path: PathBuf,
    /// The stamp after the last commit of this program.
    left: Option<Stamp>,
    /// A handle that is open as long as the connection, and closed after it: closing any handle of a file releases the
    /// locks that the process holds on it.
    handle: File,
}

impl Disk {
    /// Opens a file that exists. A half-finished write is rolled back.
    pub fn open(path: &Path) -> Result<Disk, StoreError> {
        let io = |error: std::io::Error| StoreError::Io { path: path.to_path_buf(), message: system_message(&error) };
        let handle = File::open(path).map_err(io)?;
        let connection = connect(path)?;
        look_at(&connection).map_err(|error| StoreError::of(path, &error))?;
        Ok(Disk { connection, path: path.to_path_buf(), left: None, handle })
    }

    /// Records the current state of the file as the expected one.
    pub fn note_left(&mut self) -> Result<(), StoreError> {
        let stamp = Stamp::of(&self.path, &self.handle);
        self.left =
            Some(stamp.map_err(|error| self.changed(&format!("it cannot be read ({})", system_message(&error))))?);
        Ok(())
    }

    fn changed(&self, what: &str) -> StoreError {
        StoreError::Changed { path: self.path.clone(), message: what.to_owned() }
    }

    /// Compares the file with the state after the last commit.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] says whether the file was replaced or changed in place.
    pub fn must_be_unchanged(&self) -> Result<(), StoreError> {
        let Some(left) = self.left else { return Ok(()) };
        match Stamp::of(&self.path, &self.handle) {
            Ok(now) if now == left => Ok(()),
            Ok(now) if now.identity == left.identity => {
                let what = match now.size {
                    size if size == left.size => "another program has written into it".to_owned(),
                    size => format!("another program has written into it: it has {size} bytes, and had {}", left.size),
                };
                Err(self.changed(&what))
            }
            Err(_) if fs::metadata(&self.path).is_ok_and(|found| identity(&found) == left.identity) => {
                Err(self.changed("another program has cut it off"))
            }
            _ => Err(self.changed("another file is there, or none: it was moved, removed or replaced")),
        }
    }

    /// Executes a change. All of it is on disk when this returns, or nothing on an error.
    pub fn carry_out(&mut self, change: &[WaitingStatement]) -> Result<(), StoreError> {
        self.must_be_unchanged()?;
        let mut ordered: Vec<&WaitingStatement> = change.iter().collect();
        ordered.sort_by_key(|statement| statement.rank());
        let path = self.path.clone();
        let failed = |error: rusqlite::Error| StoreError::of(&path, &error);
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(failed)?;
        // Check again under the lock of the database, which other programs that use the database respect.
        self.must_be_unchanged()?;
        for WaitingStatement { text, row } in ordered {
            let mut statement = transaction.prepare_cached(text).map_err(failed)?;
            statement.execute(params_from_iter(row)).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        let before = self.left;
        self.note_left()?;
        // A foreign change between the commit and this line would be taken for our own.
        let (Some(before), Some(now)) = (before, self.left) else { return Ok(()) };
        let number = |pragma: &str| self.connection.prepare_cached(pragma)?.query_row([], |row| row.get::<_, i64>(0));
        let size =
            number("PRAGMA page_count").and_then(|pages| Ok(pages * number("PRAGMA page_size")?)).map_err(failed)?;
        let ours = [before.counter, before.counter.wrapping_add(1)].contains(&now.counter);
        if now.identity == before.identity && ours && u64::try_from(size) == Ok(now.size) {
            return Ok(());
        }
        self.left = Some(before);
        Err(self.changed("another program has written into it"))
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Use a rollback journal, not a write-ahead log: between two answers the file is complete and can be copied, sent
    // or mounted read-only. A damaged write-ahead log could lose entries unnoticed. The journal is truncated and not
    // deleted, so that no change of the folder has to be synced. FULL syncs the journal before the file and both before
    // the answer. The file is locked only while it is written: other programs may read it between two answers.
    connection
        .execute_batch("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;")
        .map_err(|error| StoreError::of(path, &error))?;
    Ok(connection)
}

/// Opens a database without running any code in it.
pub fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, &error);
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    harden(&connection).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(LOCK_WAIT).map_err(failed)?;
    Ok(connection)
}

/// Treats the content of a file as data: its triggers, views and functions are never run.
pub fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
}

pub fn look_at(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
}

/// Device and inode of a file.
#[cfg(unix)]
fn identity(found: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}
