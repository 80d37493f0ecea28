//! The file of a store: a database with append-only tables, its format, and its dictionary.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, Row, TransactionBehavior};

use super::checksum::{ContentSums, word_sum};
use super::disk::{Disk, STATEMENTS, WaitingStatement, harden, look_at, open};
use super::error::StoreError;
use super::lock::{Lock, beside};
use super::pack::Dictionary;
use super::random::random_number;
use super::writer::FileWriter;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{ContentHash, Library, system_message};

/// The current format, stored in the header of the file.
pub const FORMAT: i64 = 4;
/// The oldest supported format. Files of older formats than the current one are converted when they are opened for
/// playing. Up to format 3, hashes of rules do not name their algorithm.
const OLDEST: i64 = 1;
/// The application id in the header of our databases: "RBSV".
const APPLICATION: i64 = 0x5242_5356;

/// The tables. Rows are never changed or removed, except the one of each campaign in `game`, which holds its current
/// entry.
///
/// Every row has a checksum of its content and of the checksums of the rows it builds on. The row ids of a campaign
/// have its number in their upper half, so that they are adjacent.
const TABLES: &str = "
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL);
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

/// The sources up to format 2, as text.
const PLAIN_SOURCES: &str =
    "CREATE TABLE source (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);";
/// The texts of entries, from format 2 on.
const LABELS: &str = "CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL);";
/// The tables from format 3 on: compressed sources, and the data of a host of clients: keys, invitations, the pause.
const SINCE_3: &str = "
CREATE TABLE source (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text BLOB NOT NULL);
CREATE TABLE request (id INTEGER PRIMARY KEY, body BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE host (id INTEGER PRIMARY KEY, body BLOB NOT NULL, sum INTEGER NOT NULL);
";

/// Tables whose rows never leave their file: exports and copies omit them.
pub const PRIVATE: [&str; 2] = ["request", "host"];

/// Files up to this size, in bytes, are checked completely when they are opened.
const CHECKED_WHOLE: u64 = 64 << 20;

/// An open file. Its content is in memory and read there; a change is made in memory and on disk, or nowhere.
///
/// So changes of the file on disk by other programs do not affect the content, and the last kept game is available even
/// if the file is deleted.
///
/// It has many methods, since each table of the file has one that reads and one that writes it.
pub struct StoreFile {
    /// The content, in memory.
    pub connection: Connection,
    pub words: Dictionary,
    pub path: PathBuf,
    pub library: Library,
    /// The file on disk. `None` if it is only read.
    disk: Option<Disk>,
    /// True if the file was created when it was opened.
    made: bool,
    /// The format of the file.
    pub format: i64,
    /// A change whose write failed, so that it may or may not be on disk.
    unsure: Option<Vec<WaitingStatement>>,
    /// Changes made in memory that will be written together.
    held: Option<HeldChanges>,
    /// The number of failed writes. If it has grown, cached rows must be read again.
    pub failures: u64,
    /// Rules in memory, by hash.
    pub rules: HashMap<String, Arc<Ruleset>>,
    /// Hashes of the rules in the file.
    pub generations: std::collections::HashSet<String>,
    /// Computed checksums of entries, by campaign.
    pub content_sums: HashMap<u32, ContentSums>,
    _lock: Option<Lock>,
}

/// Changes in memory that were not written to disk yet.
#[derive(Debug)]
struct HeldChanges {
    change: Vec<WaitingStatement>,
    /// The number of words in the file before the changes.
    words: usize,
    /// The rules in the file before the changes, by hash.
    generations: std::collections::HashSet<String>,
}

impl StoreFile {
    /// Creates a file, and opens it for writing.
    ///
    /// # Errors
    ///
    /// There is such a file already, or it cannot be written.
    pub fn create(path: &Path, library: Library) -> Result<StoreFile, StoreError> {
        let lock = Lock::take(path)?;
        make(path)?;
        StoreFile::to_write(path, library, lock, Disk::open(path)?, true)
    }

    /// The file for writing. `disk`: the open file, of the current format. `made`: true if it was created just now.
    pub(super) fn to_write(
        path: &Path,
        library: Library,
        lock: Lock,
        mut disk: Disk,
        made: bool,
    ) -> Result<StoreFile, StoreError> {
        let connection = std::mem::replace(&mut disk.connection, memory(path)?);
        let mut file = StoreFile::of(path, library, &connection, Some(disk), Some(lock))
            .map_err(|error| with_holder(path, error))?;
        file.made = made;
        if let Some(disk) = &mut file.disk {
            disk.connection = connection;
        }
        Ok(file)
    }

    /// Opens a file for reading. The caller must hold its lock.
    pub fn read_unlocked(path: &Path, library: Library) -> Result<StoreFile, StoreError> {
        must_have_content(path)?;
        let connection = connect_to_read(path, || Ok(None))?;
        StoreFile::of(path, library, &connection, None, None)
    }

    /// Reads a whole file into memory.
    pub(super) fn of(
        path: &Path,
        library: Library,
        from: &Connection,
        mut disk: Option<Disk>,
        lock: Option<Lock>,
    ) -> Result<StoreFile, StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(path, &error);
        // Prevent writes while it is read.
        from.execute_batch("BEGIN").map_err(failed)?;
        let read = (|| -> Result<_, StoreError> {
            let format = format_of(from, path)?;
            look_through(from, path)?;
            if let Some(disk) = &mut disk {
                disk.note_left()?;
            }
            Ok((format, copied_into_memory(from, path)?))
        })();
        from.execute_batch("COMMIT").map_err(failed)?;
        let (format, connection) = read?;
        let mut file = StoreFile {
            connection,
            words: Dictionary::default(),
            path: path.to_path_buf(),
            library,
            disk,
            made: false,
            format,
            unsure: None,
            held: None,
            failures: 0,
            rules: HashMap::new(),
            generations: std::collections::HashSet::new(),
            content_sums: HashMap::new(),
            _lock: lock,
        };
        file.look_at_content()?;
        file.read_words()?;
        Ok(file)
    }

    /// Refuses content with inconsistent parts, since writing to it could destroy more.
    fn look_at_content(&self) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let size = fs::metadata(&self.path).map_or(0, |data| data.len());
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
        self.words = Dictionary::of(texts);
        let mut statement = self.connection.prepare("SELECT hash FROM generation").map_err(failed)?;
        let hashes = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        self.generations = hashes.collect::<Result<_, _>>().map_err(failed)?;
        Ok(())
    }

    /// Compares the file on disk with the state after the last commit.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`].
    pub fn must_be_unchanged(&self) -> Result<(), StoreError> {
        self.disk.as_ref().map_or(Ok(()), Disk::must_be_unchanged)
    }

    /// Executes a change of the file. All of it is on disk when this returns, or nothing on an error.
    pub fn write<R>(
        &mut self,
        work: impl FnOnce(&mut FileWriter<'_>) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.write_checked(work, |_, _| Ok(()))
    }

    /// Like [`StoreFile::write`]; `check` gets the changed content in memory and may refuse it before it is written.
    pub fn write_checked<R>(
        &mut self,
        work: impl FnOnce(&mut FileWriter<'_>) -> Result<R, StoreError>,
        check: impl FnOnce(&mut StoreFile, &R) -> Result<(), StoreError>,
    ) -> Result<R, StoreError> {
        if self.disk.is_none() {
            let message =
                "is open for reading only; `save OTHER.rbsave` in a folder that can be written continues there";
            return Err(StoreError::Refused(format!("{} {message}", self.path.display())));
        }
        self.read_anew()?;
        self.must_be_unchanged()?;
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let begin = if self.held.is_some() { "SAVEPOINT step" } else { "BEGIN IMMEDIATE" };
        self.connection.execute_batch(begin).map_err(failed)?;
        let mut change = Vec::new();
        let done = {
            let mut to = FileWriter::new(&self.connection, &mut self.words, &mut change);
            work(&mut to).and_then(|result| to.new_words().map(|()| result))
        };
        let done = done.and_then(|result| check(self, &result).map(|()| result));
        if let Some(held) = &mut self.held {
            let end = match &done {
                Ok(_) => {
                    held.change.extend(change);
                    self.words.note_stored();
                    "RELEASE step"
                }
                Err(_) => {
                    self.words.drop_unstored();
                    "ROLLBACK TO step; RELEASE step"
                }
            };
            self.connection.execute_batch(end).map_err(|error| StoreError::of(&self.path, &error))?;
            return done;
        }
        let words = self.words.stored();
        self.settle(done, change, words, None)
    }

    /// Holds changes back from the disk until [`StoreFile::release`].
    pub fn hold(&mut self) -> Result<(), StoreError> {
        self.read_anew()?;
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        begun.map_err(|error| StoreError::of(&self.path, &error))?;
        self.held =
            Some(HeldChanges { change: Vec::new(), words: self.words.stored(), generations: self.generations.clone() });
        Ok(())
    }

    /// Writes the changes held back, all or none.
    pub fn release(&mut self) -> Result<(), StoreError> {
        let Some(HeldChanges { change, words, generations }) = self.held.take() else { return Ok(()) };
        self.settle(Ok(()), change, words, Some(generations))
    }

    /// Discards the changes held back.
    pub fn drop_held(&mut self) {
        if let Some(HeldChanges { words, generations, .. }) = self.held.take() {
            self.roll_back(words, Some(generations));
        }
    }

    /// Rolls a change back in memory. `words`: the number of words before it; `generations`: the rules before it, if
    /// the change has several steps.
    fn roll_back(&mut self, words: usize, generations: Option<std::collections::HashSet<String>>) {
        let _ = self.connection.execute_batch("ROLLBACK");
        self.words.drop_behind(words);
        if let Some(generations) = generations {
            (self.generations, self.content_sums) = (generations, HashMap::new());
        }
    }

    /// Writes a change from memory to disk, or rolls it back: see [`StoreFile::roll_back`].
    fn settle<R>(
        &mut self,
        done: Result<R, StoreError>,
        change: Vec<WaitingStatement>,
        words: usize,
        generations: Option<std::collections::HashSet<String>>,
    ) -> Result<R, StoreError> {
        let path = self.path.clone();
        let failed = |path: &Path, error: rusqlite::Error| StoreError::of(path, &error);
        let done = done.and_then(|result| match &mut self.disk {
            Some(disk) => disk.carry_out(&change).map(|()| result),
            None => Ok(result),
        });
        match done {
            Ok(result) => {
                self.connection.execute_batch("COMMIT").map_err(|error| failed(&path, error))?;
                self.words.note_stored();
                Ok(result)
            }
            Err(error) => {
                self.roll_back(words, generations);
                let error = with_holder(&path, error.at(&path));
                // After a failed write, reopen the file on disk, which rolls back a partial change. The change may also
                // be complete: the failed sync may have been the last step.
                if matches!(error, StoreError::Io { .. } | StoreError::ReadOnly { .. } | StoreError::Full(_)) {
                    self.unsure = Some(change);
                    self.failures += 1;
                    let _ = self.read_anew();
                }
                Err(error)
            }
        }
    }

    /// Finds out whether a failed write reached the disk, and makes the content in memory equal.
    pub fn read_anew(&mut self) -> Result<(), StoreError> {
        let Some(change) = self.unsure.clone() else { return Ok(()) };
        self.reconnect()?;
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let Some(disk) = &self.disk else { return Ok(()) };
        let there = content_of(&disk.connection).map_err(failed)?;
        if there != content_of(&self.connection).map_err(failed)? {
            let transaction = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(failed)?;
            for WaitingStatement { text, row } in &change {
                transaction.execute(text, rusqlite::params_from_iter(row)).map_err(failed)?;
            }
            if there != content_of(&transaction).map_err(failed)? {
                let message = "after a write that failed it holds something else than was written".into();
                return Err(StoreError::Changed { path: self.path.clone(), message });
            }
            transaction.commit().map_err(failed)?;
            self.read_words()?;
        }
        self.unsure = None;
        Ok(())
    }

    /// Opens the file on disk again.
    fn reconnect(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        if let Some(disk) = &mut self.disk {
            // The old connection holds its locks until it is closed.
            disk.connection = memory(&path)?;
            let mut anew = Disk::open(&path)?;
            anew.note_left()?;
            *disk = anew;
        }
        Ok(())
    }

    /// Continues with the current file on disk. `same` checks by its content whether it is the one that was last
    /// written.
    pub fn retry(
        &mut self,
        same: impl FnOnce(&mut StoreFile, &mut StoreFile) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut there = StoreFile::read_unlocked(&self.path, self.library.clone())?;
        if there.format != self.format {
            return Err(StoreError::Refused(format!("it has format {} now", there.format)));
        }
        let failed = |error: rusqlite::Error| StoreError::of(&self.path, &error);
        let equal = content_of(&there.connection).map_err(failed)? == content_of(&self.connection).map_err(failed)?;
        if !equal {
            same(self, &mut there)?;
        }
        self.reconnect()?;
        self.unsure = None;
        if !equal {
            std::mem::swap(&mut self.connection, &mut there.connection);
            self.content_sums.clear();
            self.failures += 1;
            self.read_words()?;
        }
        Ok(())
    }

    /// The names of its tables.
    pub fn tables(&self) -> Result<Vec<String>, StoreError> {
        let schema = schema_of(&self.connection).map_err(|error| self.failed(&error))?;
        let is_table = |text: &Option<String>| text.as_ref().is_some_and(|text| text.starts_with("CREATE TABLE"));
        Ok(schema.into_iter().filter(|(_, text)| is_table(text)).map(|(name, _)| name).collect())
    }

    /// Visits the rows of a table in their order, with the names of the columns.
    pub fn each_row(
        &self,
        table: &str,
        mut visit: impl FnMut(&[String], &[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = self.connection.prepare(&format!("SELECT * FROM {table} ORDER BY id")).map_err(failed)?;
        let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let values = (0..columns.len()).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>();
            visit(&columns, &values.map_err(failed)?)?;
        }
        Ok(())
    }

    /// The number of entries of all campaigns.
    fn entries(&self) -> rusqlite::Result<i64> {
        self.connection.query_row("SELECT count(*) FROM moment", [], |row| row.get(0))
    }

    pub fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    /// True if a table has a row with this number.
    pub fn has(&self, table: &str, id: i64) -> bool {
        let known = self.connection.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"));
        known.and_then(|mut known| known.query_row([id], |_| Ok(()))).is_ok()
    }

    /// The body and checksum of a row, by its number.
    pub fn body(&self, table: &str, id: i64) -> Result<Option<(Vec<u8>, i64)>, StoreError> {
        self.find(&format!("SELECT body, sum FROM {table} WHERE id = ?1"), [id], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The first row found by a query.
    pub fn find<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found =
            self.connection.prepare_cached(query).and_then(|mut query| query.query_row(params, read).optional());
        found.map_err(|error| self.failed(&error))
    }
}

pub(super) fn lock(file: &Mutex<StoreFile>) -> MutexGuard<'_, StoreFile> {
    // Changes interrupted by a panic were not committed.
    file.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Refuses an empty file. Sync programs leave such a file as a placeholder, and a power cut may.
pub(super) fn must_have_content(path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.len() == 0 => Err(StoreError::Empty(path.to_path_buf())),
        _ => Ok(()),
    }
}

/// Creates a new file. It is renamed once its tables are on disk, so that no empty file ever has that name.
pub(super) fn make(path: &Path) -> Result<(), StoreError> {
    let draft = beside(path, "new");
    let io = |error: std::io::Error| StoreError::of_system(path, &error);
    let _ = fs::remove_file(&draft);
    let made = make_tables(&draft).map_err(|error| error.at(path)).and_then(|()| {
        fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(io)?;
        move_new(&draft, path)
    });
    if made.is_err() {
        let _ = fs::remove_file(&draft);
        let _ = fs::remove_file(beside(&draft, "journal"));
    }
    made
}

/// Moves a new file to its path. If the file system supports it, a file created there meanwhile is not replaced.
pub fn move_new(draft: &Path, path: &Path) -> Result<(), StoreError> {
    let io = |error: std::io::Error| StoreError::of_system(path, &error);
    match fs::hard_link(draft, path) {
        Ok(()) => fs::remove_file(draft).map_err(io)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(io(error)),
        Err(_) => fs::rename(draft, path).map_err(io)?,
    }
    sync_folder(path);
    Ok(())
}

/// Creates a database with the current tables.
fn make_tables(path: &Path) -> Result<(), StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    let tables = tables_of(FORMAT);
    let made = format!(
        "BEGIN IMMEDIATE;\n{tables}\nPRAGMA application_id = {APPLICATION};\nPRAGMA user_version = {FORMAT};\nCOMMIT;"
    );
    connection.execute_batch(&made).map_err(|error| StoreError::of(path, &error))
}

/// Reads the format of a file.
///
/// # Errors
///
/// The file is no store, or a newer program wrote it.
pub(super) fn format_of(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let number = |name: &str| {
        let found = connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        found.map_err(|error| with_holder(path, StoreError::of(path, &error)))
    };
    let (application, format) = (number("application_id")?, number("user_version")?);
    match format {
        _ if application != APPLICATION => Err(StoreError::Foreign(path.to_path_buf())),
        format if format > FORMAT => Err(StoreError::Newer { path: path.to_path_buf(), found: format, known: FORMAT }),
        format if format < OLDEST => Err(StoreError::damaged(format!("there is no format {format}"))),
        format => Ok(format),
    }
}

/// Refuses a file whose header does not fit its content.
pub(super) fn look_through(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| with_holder(path, StoreError::of(path, &error));
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if schema_of(connection).map_err(failed)? != own_schema(format_of(connection, path)?) {
        return Err(StoreError::damaged("its tables are not those of this format"));
    }
    let pages = number("page_count").map_err(failed)?;
    let page = number("page_size").map_err(failed)?;
    let size = fs::metadata(path).map_or(0, |data| data.len());
    if u64::try_from(pages.saturating_mul(page)) != Ok(size) {
        return Err(StoreError::damaged(format!("it has {size} bytes, and should have {pages} pages of {page}")));
    }
    if number("freelist_count").map_err(failed)? != 0 {
        return Err(StoreError::damaged("it lists unused pages, but a campaign file never has any"));
    }
    Ok(())
}

/// Adds the holder of the file to an error, if the database only reports that it is locked.
fn with_holder(path: &Path, error: StoreError) -> StoreError {
    let StoreError::Io { message, .. } = &error else { return error };
    if !message.contains("locked") {
        return error;
    }
    let text = fs::read_to_string(beside(path, "lock")).unwrap_or_default();
    StoreError::Held { path: path.to_path_buf(), holder: serde_json::from_str(&text).unwrap_or_default() }
}

/// An empty database in memory.
fn memory(path: &Path) -> Result<Connection, StoreError> {
    Connection::open_in_memory().map_err(|error| StoreError::of(path, &error))
}

fn copied_into_memory(from: &Connection, path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| with_holder(path, StoreError::of(path, &error));
    let mut to = memory(path)?;
    match Backup::new(from, &mut to).and_then(|backup| backup.step(-1)).map_err(failed)? {
        StepResult::Done => {}
        _ => {
            return Err(with_holder(path, StoreError::Io { path: path.to_path_buf(), message: "it is locked".into() }));
        }
    }
    harden(&to).map_err(failed)?;
    to.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(to)
}

/// Computes the hash of all rows of a database.
fn content_of(connection: &Connection) -> rusqlite::Result<ContentHash> {
    let mut bytes = Vec::new();
    for (name, definition) in schema_of(connection)? {
        if !definition.is_some_and(|text| text.starts_with("CREATE TABLE")) {
            continue;
        }
        let mut statement = connection.prepare(&format!("SELECT * FROM {name} ORDER BY rowid"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        bytes.extend(name.as_bytes());
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                let part = match row.get_ref(column)? {
                    ValueRef::Null => &[][..],
                    ValueRef::Integer(number) => &number.to_le_bytes(),
                    ValueRef::Real(number) => &number.to_le_bytes(),
                    ValueRef::Text(part) | ValueRef::Blob(part) => part,
                };
                bytes.extend((part.len() as u64).to_le_bytes());
                bytes.extend(part);
            }
        }
    }
    Ok(ContentHash::of(&bytes))
}

/// Syncs the folder of a file, so that a new name is on disk.
pub fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Opens a file for reading. If a program ended during a write, the write is rolled back first, under the lock of the
/// file; if the file cannot be written, in a copy. `lock`: takes the lock unless the caller holds it.
pub fn connect_to_read(
    path: &Path,
    lock: impl FnOnce() -> Result<Option<Lock>, StoreError>,
) -> Result<Connection, StoreError> {
    let read_only = || open(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let connection = read_only()?;
    let half_a_write = matches!(look_at(&connection), Err(rusqlite::Error::SqliteFailure(failure, _))
        if failure.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK);
    if !half_a_write {
        return Ok(connection);
    }
    drop(connection);
    let rolled_back = lock().and_then(|_lock| {
        // With write access, reading the file rolls the write back.
        let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        look_at(&connection).map_err(|error| StoreError::of(path, &error))
    });
    match rolled_back {
        Ok(()) => read_only(),
        Err(StoreError::Io { .. } | StoreError::ReadOnly { .. }) => rolled_back_elsewhere(path),
        Err(other) => Err(other),
    }
}

/// Rolls a partial write back in a copy of the file and its journal. Opens the copy.
fn rolled_back_elsewhere(path: &Path) -> Result<Connection, StoreError> {
    let folder = std::env::temp_dir().join(format!("riskbreaker-{}-{}", std::process::id(), random_number()));
    let copied = (|| {
        let io = |error: std::io::Error| StoreError::Io {
            path: path.to_path_buf(),
            message: format!(
                "a program ended while it wrote, and that cannot be taken back here or in {} ({})",
                folder.display(),
                system_message(&error)
            ),
        };
        fs::create_dir(&folder).map_err(io)?;
        let copy = folder.join("copy.rbsave");
        fs::copy(path, &copy).map_err(io)?;
        fs::copy(beside(path, "journal"), beside(&copy, "journal")).map_err(io)?;
        let open_again = || {
            for file in [&copy, &beside(&copy, "journal")] {
                let mut rights = fs::metadata(file)?.permissions();
                #[cfg(unix)]
                std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o600);
                #[cfg(not(unix))]
                rights.set_readonly(false);
                fs::set_permissions(file, rights)?;
            }
            Ok(())
        };
        open_again().map_err(io)?;
        let connection = open(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        look_at(&connection).map_err(|error| StoreError::of(path, &error))?;
        look_through(&connection, &copy)?;
        copied_into_memory(&connection, path)
    })();
    let _ = fs::remove_dir_all(&folder);
    copied
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        let Some(disk) = &self.disk else { return };
        // Remove the empty journal. If that fails, it is removed next time.
        let _ = disk.connection.execute_batch("PRAGMA journal_mode = DELETE;");
        // Remove the file of a new campaign that could not be written.
        if self.made && self.failures > 0 && matches!(self.entries(), Ok(0)) && self.must_be_unchanged().is_ok() {
            let _ = fs::remove_file(&self.path);
            let _ = fs::remove_file(beside(&self.path, "journal"));
        }
    }
}

fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_master ORDER BY name")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The definitions of the tables in a format.
fn tables_of(format: i64) -> String {
    match format {
        1 => format!("{TABLES}{PLAIN_SOURCES}"),
        2 => format!("{TABLES}{PLAIN_SOURCES}{LABELS}"),
        _ => format!("{TABLES}{LABELS}{SINCE_3}"),
    }
}

/// The expected tables in a format.
fn own_schema(format: i64) -> Vec<(String, Option<String>)> {
    let schema = || -> rusqlite::Result<_> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&tables_of(format))?;
        schema_of(&connection)
    };
    schema().unwrap_or_default()
}
