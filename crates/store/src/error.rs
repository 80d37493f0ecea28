use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::lock::Holder;
use riskbreaker_play::StartError;
use riskbreaker_ruleset::LoadError;

/// The reason why a store cannot be opened, read or written. Earlier content stays unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process or store has it open.
    #[error("{} is held by {holder}", .path.display())]
    Held {
        /// The file.
        path: PathBuf,
        /// The program that has it open.
        holder: Holder,
    },
    /// The file is no store.
    #[error("{} is not a file of campaigns", .0.display())]
    Foreign(PathBuf),
    /// A newer program wrote it.
    #[error("{} has format {found}; this program reads formats up to {known}: use a newer program", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this program reads.
        known: i64,
    },
    /// The content of the file differs from what was written.
    #[error("the file is damaged: {what}; `riskbreaker recover` saves what can be read")]
    Damaged {
        /// The damaged part.
        what: String,
    },
    /// There is no campaign of that name.
    #[error("there is no campaign `{name}`; {instead}")]
    Unknown {
        /// The given name.
        name: String,
        /// The most similar name, or all names, as a clause.
        instead: String,
    },
    /// The name exists already.
    #[error("there is a campaign `{0}` already")]
    Exists(String),
    /// The replay under the stored rules gives another game than the stored one.
    #[error("entry {entry}: {message}")]
    Diverged {
        /// The first entry that differs.
        entry: u32,
        /// The difference.
        message: String,
    },
    /// Another program has changed the file since the last write. Nothing is written to it until
    /// [`Campaign::retry`](super::Campaign::retry) has found it unchanged; the game is still in memory.
    #[error("{}: {message} since the last line was kept; `save OTHER.rbsave` keeps the game in another file, and `retry` \
             continues this one if it is unchanged", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The change.
        message: String,
    },
    /// The file is empty.
    #[error("{} is empty (0 bytes), as a sync program or a power cut leaves a file: put a copy of it back, or remove it to begin \
             a new campaign of this name", .0.display())]
    Empty(PathBuf),
    /// The disk is full.
    #[error("no space left for {}: nothing was written", .0.display())]
    Full(PathBuf),
    /// The file or its folder cannot be written. [`Store::read`](super::Store::read) can open an existing file.
    #[error("{}: {message}; use a folder that can be written, or a copy of the file in one", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The path that cannot be written, and the system's message.
        message: String,
    },
    /// The system refused to read or write.
    #[error("{}: {message}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// The request cannot be carried out; contains a sentence.
    #[error("{0}")]
    Refused(String),
    /// A game cannot begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Rules cannot be loaded.
    #[error(transparent)]
    Rules(#[from] LoadError),
}

impl StoreError {
    pub(super) fn damaged(what: impl Into<String>) -> StoreError {
        StoreError::Damaged { what: what.into() }
    }

    /// Converts a database error of a file.
    pub(super) fn of(path: &std::path::Path, error: &rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        match error {
            rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::DiskFull => StoreError::Full(path),
                ErrorCode::NotADatabase => StoreError::Foreign(path),
                ErrorCode::DatabaseCorrupt => {
                    StoreError::damaged(message.clone().unwrap_or_else(|| failure.to_string()))
                }
                ErrorCode::ReadOnly => {
                    StoreError::ReadOnly { path, message: "the file or its folder cannot be written".into() }
                }
                _ => StoreError::Io { path, message: message.clone().unwrap_or_else(|| failure.to_string()) },
            },
            rusqlite::Error::QueryReturnedNoRows => StoreError::damaged("a record is missing"),
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..) => StoreError::damaged(error.to_string()),
            other => StoreError::Io { path, message: other.to_string() },
        }
    }

    /// Converts a system error of a file.
    pub(super) fn of_system(path: &std::path::Path, error: &std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::FileTooLarge => StoreError::Full(path.to_path_buf()),
            _ => StoreError::Io { path: path.to_path_buf(), message: riskbreaker_ruleset::system_message(error) },
        }
    }

    /// Sets the path of an error that occurred where the path was unknown.
    pub(super) fn at(self, file: &std::path::Path) -> StoreError {
        match self {
            StoreError::Io { message, .. } => StoreError::Io { path: file.to_path_buf(), message },
            StoreError::ReadOnly { message, .. } => StoreError::ReadOnly { path: file.to_path_buf(), message },
            StoreError::Full(_) => StoreError::Full(file.to_path_buf()),
            other => other,
        }
    }

    /// True if the same call may succeed later; earlier writes are unaffected.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            StoreError::Full(_)
                | StoreError::ReadOnly { .. }
                | StoreError::Io { .. }
                | StoreError::Held { .. }
                | StoreError::Changed { .. }
        )
    }
}
