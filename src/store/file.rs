//! The file itself: a database with tables that only grow, its format, and its dictionary.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row, TransactionBehavior};

use super::error::StoreError;
use super::lock::{Lock, beside};
use super::pack::Words;
use super::upgrade::upgrade;
use super::writer::Writer;
use crate::play::Ruleset;
use crate::ruleset::{ContentHash, Library};

/// The format that is written. It stands in the header of the file.
pub const FORMAT: i64 = 2;
/// The oldest format that is read. Files of older formats than today's are brought to it when they are opened to be played.
const OLDEST: i64 = 1;
/// Marks a database as ours, in its header: "RBSV".
const APPLICATION: i64 = 0x5242_5356;

/// The tables. A row is never changed or removed, but for the one of each campaign in `game`, which says where it stands.
///
/// Every row carries a sum over its content and over the sums of the rows that it builds on. The rows of a campaign have
/// its number in the upper half of their own, so that they lie together.
const TABLES: &str = "
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE source (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE generation (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE game (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE action (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE moment (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, decisions INTEGER NOT NULL, tip INTEGER NOT NULL,
	state INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE checkpoint (id INTEGER PRIMARY KEY, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE piece (id INTEGER PRIMARY KEY, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE note (id INTEGER PRIMARY KEY, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX moment_of ON moment (parent);
";

/// What format 2 has besides.
pub const LABELS: &str = "CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL);";

/// Files up to this size are looked through whole when they are opened, in bytes.
const CHECKED_WHOLE: u64 = 64 << 20;

/// Whether a file is opened to be played or only to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// An open file.
pub struct StoreFile {
    pub connection: Connection,
    pub words: Words,
    pub path: PathBuf,
    pub library: Library,
    access: Access,
    /// Whether it was made when it was opened.
    made: bool,
    /// The format of the file.
    pub format: i64,
    /// A write has failed since the file was opened, and what is in memory of it has not been read anew.
    unsure: bool,
    /// How often writes have failed: whoever holds rows of the file in memory reads them anew then.
    pub failures: u64,
    /// Rules in memory, by hash.
    pub rules: HashMap<String, Arc<Ruleset>>,
    /// Rules that are in the file, by hash.
    pub generations: std::collections::HashSet<String>,
    /// Device and inode of the file that was opened; `None` on systems without them.
    identity: Option<(u64, u64)>,
    _lock: Option<Lock>,
}

impl StoreFile {
    /// Opens a file; `create` makes it where there is none.
    pub fn open(path: &Path, library: Library, access: Access, create: bool) -> Result<StoreFile, StoreError> {
        if !create && !path.exists() {
            return Err(StoreError::Io { path: path.to_path_buf(), message: "there is no such file".into() });
        }
        if path.exists() && !path.is_file() {
            return Err(StoreError::Io {
                path: path.to_path_buf(),
                message: "it is a folder, or no regular file".into(),
            });
        }
        let path = &led_to(path);
        let lock = match access {
            Access::Write => Some(Lock::take(path)?),
            Access::Read => None,
        };
        let connection = match access {
            Access::Write => connect(path, access)?,
            Access::Read => connect_to_read(path, || Lock::take(path).map(Some))?,
        };
        let mut file = StoreFile::of(connection, path, library, access, lock);
        file.set_up().map_err(|error| file.with_holder(error))?;
        file.identity = identity(path);
        Ok(file)
    }

    /// Opens a file for reading of which the caller holds the lock.
    pub fn read_unlocked(path: &Path, library: Library) -> Result<StoreFile, StoreError> {
        let connection = connect_to_read(path, || Ok(None))?;
        let mut file = StoreFile::of(connection, path, library, Access::Read, None);
        file.set_up()?;
        Ok(file)
    }

    fn of(connection: Connection, path: &Path, library: Library, access: Access, lock: Option<Lock>) -> StoreFile {
        StoreFile {
            connection,
            words: Words::default(),
            path: path.to_path_buf(),
            library,
            access,
            made: false,
            format: FORMAT,
            unsure: false,
            failures: 0,
            rules: HashMap::new(),
            generations: std::collections::HashSet::new(),
            identity: None,
            _lock: lock,
        }
    }

    fn set_up(&mut self) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let number = |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (application, format) =
            (number("application_id").map_err(failed)?, number("user_version").map_err(failed)?);
        let tables: i64 =
            self.connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(failed)?;
        if application == 0 && format == 0 && tables == 0 && self.access == Access::Write {
            self.made = true;
            let made = self.make();
            self.failures += u64::from(made.is_err());
            made?;
        } else if application != APPLICATION {
            return Err(StoreError::Foreign(self.path.clone()));
        } else if format > FORMAT {
            return Err(StoreError::Newer { path: self.path.clone(), found: format, known: FORMAT });
        } else if format < OLDEST {
            return Err(StoreError::damaged(format!("there is no format {format}")));
        } else {
            self.format = format;
            self.look_through()?;
            if format < FORMAT && self.access == Access::Write {
                // Nobody has it open while it is replaced.
                self.connection = Connection::open_in_memory().map_err(failed)?;
                upgrade(&self.path, &self.library)?;
                self.connection = connect(&self.path, self.access)?;
                self.format = FORMAT;
                self.look_through()?;
            }
        }
        self.read_words()
    }

    fn make(&mut self) -> Result<(), StoreError> {
        let made = format!(
            "BEGIN IMMEDIATE;\n{TABLES}{LABELS}\nPRAGMA application_id = {APPLICATION};\nPRAGMA user_version = {FORMAT};\nCOMMIT;"
        );
        self.connection.execute_batch(&made).map_err(|error| StoreError::of(&self.path, &error))
    }

    /// Refuses a file whose parts do not fit together: writing into it could destroy more.
    fn look_through(&self) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        if schema_of(&self.connection).map_err(failed)? != own_schema(self.format) {
            return Err(StoreError::damaged("its tables are not those of this format"));
        }
        let number = |name: &str| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count").map_err(failed)?;
        let page = number("page_size").map_err(failed)?;
        let size = std::fs::metadata(&self.path).map_or(0, |data| data.len());
        if u64::try_from(pages.saturating_mul(page)) != Ok(size) {
            return Err(StoreError::damaged(format!("it has {size} bytes, and should have {pages} pages of {page}")));
        }
        if number("freelist_count").map_err(failed)? != 0 {
            return Err(StoreError::damaged("it lists unused pages, but a campaign file never has any"));
        }
        if size <= CHECKED_WHOLE {
            let found: String =
                self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
            if found != "ok" {
                return Err(StoreError::damaged(found.replace('\n', " ")));
            }
        }
        Ok(())
    }

    fn read_words(&mut self) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let mut texts = Vec::new();
        let mut statement = self.connection.prepare("SELECT id, text, sum FROM word ORDER BY id").map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (id, text, known): (i64, String, i64) =
                (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?, row.get(2).map_err(failed)?);
            if id != texts.len() as i64 || known != word_sum(id, &text) {
                return Err(StoreError::damaged(format!("the dictionary is wrong at entry {id}")));
            }
            texts.push(text);
        }
        self.words = Words::of(texts);
        let mut statement = self.connection.prepare("SELECT hash FROM generation").map_err(failed)?;
        let hashes = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        self.generations = hashes.collect::<Result<_, _>>().map_err(failed)?;
        Ok(())
    }

    /// Carries out one change of the file: all of it is on the disk when this returns, or nothing of it.
    pub fn write<R>(&mut self, work: impl FnOnce(&mut Writer<'_>) -> Result<R, StoreError>) -> Result<R, StoreError> {
        if self.access == Access::Read {
            return Err(StoreError::Refused(format!("{} is open for reading only", self.path.display())));
        }
        // What is written into a file that nobody can find again is lost.
        if self.identity != identity(&self.path) {
            let message =
                "another file is there, or none: it was moved, removed or replaced after it was opened".into();
            return Err(StoreError::Io { path: self.path.clone(), message });
        }
        self.read_anew()?;
        match self.try_write(work) {
            Ok(result) => {
                self.words.note_stored();
                Ok(result)
            }
            Err(error) => {
                self.words.drop_unstored();
                let error = error.at(&self.path);
                // After a failed write nothing in memory is trusted: the file is opened anew, which takes back what
                // got half way. All of it may be there: the sync that failed may have been the last one.
                if matches!(error, StoreError::Io { .. } | StoreError::Full(_)) {
                    self.unsure = true;
                    self.failures += 1;
                    let _ = self.read_anew();
                }
                Err(error)
            }
        }
    }

    /// Reads the file anew where a write has failed.
    pub fn read_anew(&mut self) -> Result<(), StoreError> {
        if self.unsure {
            // The old connection holds its locks until it is closed.
            self.connection = Connection::open_in_memory().map_err(|error| self.failed(&error))?;
            self.connection = connect(&self.path, self.access)?;
            self.read_words()?;
            self.unsure = false;
        }
        Ok(())
    }

    fn try_write<R>(&mut self, work: impl FnOnce(&mut Writer<'_>) -> Result<R, StoreError>) -> Result<R, StoreError> {
        let StoreFile { connection, words, path, .. } = self;
        let failed = |error: rusqlite::Error| StoreError::of(path, &error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut to = Writer::new(&transaction, words);
        let result = work(&mut to)?;
        to.new_words()?;
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// The number of entries of all campaigns.
    fn entries(&self) -> rusqlite::Result<i64> {
        let count = |table: &str| {
            self.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
        };
        if count("sqlite_master")? == 0 { Ok(0) } else { count("moment") }
    }

    /// Says who holds the file, where the database only knows that somebody does.
    fn with_holder(&self, error: StoreError) -> StoreError {
        let StoreError::Io { message, .. } = &error else { return error };
        if !message.contains("locked") {
            return error;
        }
        let text = std::fs::read_to_string(beside(&self.path, "lock")).unwrap_or_default();
        StoreError::Held { path: self.path.clone(), holder: serde_json::from_str(&text).unwrap_or_default() }
    }

    pub fn failed(&self, error: &rusqlite::Error) -> StoreError {
        self.with_holder(StoreError::of(&self.path, error))
    }

    /// Whether a table has a row of this number.
    pub fn has(&self, table: &str, id: i64) -> bool {
        let found = self.connection.query_row(&format!("SELECT 1 FROM {table} WHERE id = ?1"), [id], |_| Ok(()));
        found.is_ok()
    }

    /// A row of `body` and `sum`, by its number.
    pub fn body(&self, table: &str, id: i64) -> Result<Option<(Vec<u8>, i64)>, StoreError> {
        self.find(&format!("SELECT body, sum FROM {table} WHERE id = ?1"), [id], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The first row that a query finds.
    pub fn find<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.connection.query_row(query, params, read).optional().map_err(|error| self.failed(&error))
    }
}

/// The file that a link leads to, or the path itself. So a store has one lock under all its names, and what replaces it replaces
/// the file and not the link.
pub fn led_to(path: &Path) -> PathBuf {
    match path.is_symlink() {
        true => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
        false => path.to_path_buf(),
    }
}

/// Syncs the folder of a file: a new name is on the disk when that has been done.
pub fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

pub fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::of(path, &error);
    let flags = match access {
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    // What is in the file is data: no trigger, view or function of it is ever run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;").map_err(failed)?;
    if access == Access::Read {
        // A program that plays a campaign holds its file until it ends: a longer wait is of no use.
        connection.busy_timeout(Duration::from_millis(200)).map_err(failed)?;
    }
    if access == Access::Write {
        // A rollback journal, not a write-ahead log: between two answers the file is complete and can be copied, sent or
        // mounted read-only. A damaged write-ahead log could lose entries unnoticed. It is truncated and not deleted, so that
        // no change of the folder has to be synced. FULL syncs the journal before the file and both before the answer.
        connection
            .execute_batch(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;",
            )
            .map_err(failed)?;
    }
    Ok(connection)
}

/// Opens a file to read it. If a program ended in the middle of a write, the write is rolled back first, under the lock of the
/// file. `lock` takes the lock if the caller does not hold it.
pub fn connect_to_read(
    path: &Path,
    lock: impl FnOnce() -> Result<Option<Lock>, StoreError>,
) -> Result<Connection, StoreError> {
    let connection = connect(path, Access::Read)?;
    let half_a_write = matches!(look_at(&connection), Err(rusqlite::Error::SqliteFailure(failure, _))
        if failure.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK);
    if !half_a_write {
        return Ok(connection);
    }
    drop(connection);
    let _lock = lock().map_err(|error| not_taken_back(path, error))?;
    // Whoever may write takes the write back by looking at the file.
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|connection| look_at(&connection))
        .map_err(|error| not_taken_back(path, StoreError::of(path, &error)))?;
    connect(path, Access::Read)
}

/// The error of a file with half a write that cannot be taken back.
fn not_taken_back(path: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Io { .. } => StoreError::Io {
            path: path.to_path_buf(),
            message:
                "a program ended while it wrote, and that can only be taken back where the file and its folder can be \
                      written: copy the file and the one beside it that ends in `-journal` there"
                    .into(),
        },
        other => other,
    }
}

/// Device and inode of a file. The file is not opened for that: to close it would end the locks of the database.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

fn look_at(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if self.access == Access::Write {
            // Takes the empty journal away. Where that fails, it is taken away next time.
            let _ = self.connection.execute_batch("PRAGMA journal_mode = DELETE;");
            // Of a new campaign that could not be written, not even the file is left.
            if self.made && self.failures > 0 && matches!(self.entries(), Ok(0)) {
                let _ = std::fs::remove_file(&self.path);
                let _ = std::fs::remove_file(beside(&self.path, "journal"));
            }
        }
    }
}

pub fn word_sum(id: i64, text: &str) -> i64 {
    sum(&[b"word", &id.to_le_bytes(), text.as_bytes()])
}

/// The sum of a row: over what it is, what it builds on, and what it holds.
pub fn sum(parts: &[&[u8]]) -> i64 {
    ContentHash::of_parts(parts.iter().copied()).short()
}

fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_master ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The tables as they should be in a format.
fn own_schema(format: i64) -> Vec<(String, Option<String>)> {
    let schema = || -> rusqlite::Result<_> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(TABLES)?;
        if format >= 2 {
            connection.execute_batch(LABELS)?;
        }
        schema_of(&connection)
    };
    schema().unwrap_or_default()
}
