use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::lock::Holder;
use riskbreaker_play::StartError;
use riskbreaker_ruleset::LoadError;

/// Why a store cannot be opened, read or written. What was kept before stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process or store has it open.
    #[error("{} is held by {holder}", .path.display())]
    Held {
        /// The file.
        path: PathBuf,
        /// Who has it.
        holder: Holder,
    },
    /// Not one of ours.
    #[error("{} is not a file of campaigns", .0.display())]
    Foreign(PathBuf),
    /// A later program wrote it.
    #[error("{} has format {found}; this program reads formats up to {known}: use a newer program", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The last format that is known.
        known: i64,
    },
    /// Something in the file is not what was written there.
    #[error("the file is damaged: {what}; `riskbreaker recover` saves what can be read")]
    Damaged {
        /// What it is.
        what: String,
    },
    /// No campaign of that name.
    #[error("there is no campaign `{name}`; {instead}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The nearest name, or all names, as a clause.
        instead: String,
    },
    /// The name is taken.
    #[error("there is a campaign `{0}` already")]
    Exists(String),
    /// The kept rules lead to another game than the one that was kept.
    #[error("entry {entry}: {message}")]
    Diverged {
        /// The entry at which it shows.
        entry: u32,
        /// What is different.
        message: String,
    },
    /// Another program has changed the file since it was written last. Nothing is written into it until
    /// [`Campaign::retry`](super::Campaign::retry) has found it as it was; the game is still in memory.
    #[error("{}: {message} since the last line was kept; `save OTHER.rbsave` keeps the game in another file, and `retry` \
             continues this one if it is unchanged", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What has changed.
        message: String,
    },
    /// The file has no byte.
    #[error("{} is empty (0 bytes), as a sync program or a power cut leaves a file: put a copy of it back, or remove it to begin \
             a new campaign of this name", .0.display())]
    Empty(PathBuf),
    /// The disk is full.
    #[error("no space left for {}: nothing was written", .0.display())]
    Full(PathBuf),
    /// The file or its folder cannot be written. [`Store::read`](super::Store::read) opens a file that is there.
    #[error("{}: {message}; use a folder that can be written, or a copy of the file in one", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What cannot be written, and what the system said.
        message: String,
    },
    /// The system refused to read or write.
    #[error("{}: {message}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// What was asked for cannot be done; a sentence.
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

    /// What the database said of a file.
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

    /// What the system said of a file.
    pub(super) fn of_system(path: &std::path::Path, error: &std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::FileTooLarge => StoreError::Full(path.to_path_buf()),
            _ => StoreError::Io { path: path.to_path_buf(), message: riskbreaker_ruleset::system_message(error) },
        }
    }

    /// The same of a file that was not named where the error came about.
    pub(super) fn at(self, file: &std::path::Path) -> StoreError {
        match self {
            StoreError::Io { message, .. } => StoreError::Io { path: file.to_path_buf(), message },
            StoreError::ReadOnly { message, .. } => StoreError::ReadOnly { path: file.to_path_buf(), message },
            StoreError::Full(_) => StoreError::Full(file.to_path_buf()),
            other => other,
        }
    }

    /// Whether the same may succeed later: what was written before stands.
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
