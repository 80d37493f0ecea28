use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::lock::Holder;
use crate::play::StartError;
use crate::ruleset::LoadError;

/// Why a store cannot be opened, read or written. What was kept before stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("{} is held by {holder}", .path.display())]
    Held { path: PathBuf, holder: Holder },
    #[error("{} is not a file of campaigns", .0.display())]
    Foreign(PathBuf),
    #[error("{} has format {found}; this program reads formats up to {known}: use a newer program", .path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// Something in the file is not what was written there.
    #[error("the file is damaged: {what}; `riskbreaker recover` saves what can be read")]
    Damaged { what: String },
    #[error("there is no campaign `{name}`; {instead}")]
    Unknown { name: String, instead: String },
    #[error("there is a campaign `{0}` already")]
    Exists(String),
    /// The kept rules lead to another game than the one that was kept.
    #[error("entry {entry}: {message}")]
    Diverged { entry: u32, message: String },
    #[error("no space left for {}: nothing was written", .0.display())]
    Full(PathBuf),
    #[error("{}: {message}", .path.display())]
    Io { path: PathBuf, message: String },
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Start(#[from] StartError),
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
                    StoreError::Io { path, message: "the file or its folder cannot be written".into() }
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

    /// Whether the same may succeed later: what was written before stands.
    pub fn may_pass(&self) -> bool {
        matches!(self, StoreError::Full(_) | StoreError::Io { .. } | StoreError::Held { .. })
    }
}
