//! The data of a host of clients about a table: results by idempotency key, invitations, people with their devices, the
//! pause, and an open vote.
//!
//! The rows are private to their file: exports and copies omit them. So their texts do not go into the dictionary.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::StoreError;
use super::file::StoreFile;
use super::rows::{key, numbered_sum};
use super::writer::FileWriter;

/// The result of a finished command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptResult {
    /// The role and the seat of the client.
    pub by: KeptRole,
    /// The idempotency key.
    pub key: String,
    /// Distinguishes requests with the same key.
    pub request: i64,
    pub result: Json,
}

/// A change of the host's data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostChange {
    /// `token`: a hash of the token.
    Invited {
        token: String,
        role: String,
        seat: Option<String>,
    },
    Revoked {
        token: String,
    },
    Paused(bool),
    /// A code that can be exchanged for the token of a new device; also stored as a hash.
    Code {
        token: String,
        role: String,
        seats: Vec<String>,
        /// The person whose device it will be. `None`: a new person.
        person: Option<u32>,
        name: Option<String>,
        /// True if it can be used only once.
        once: bool,
    },
    /// The new data of a person.
    Person {
        person: u32,
        name: Option<String>,
        role: String,
        seats: Vec<String>,
    },
    PersonGone {
        person: u32,
    },
    Device {
        person: u32,
        device: u32,
        token: String,
    },
    DeviceGone {
        device: u32,
    },
    /// The settings for entry: whether the join code is accepted, and whether anybody may watch.
    Lobby {
        open: bool,
        watch: bool,
    },
    /// The undo policy of the table by its name, whether seats may see odds, and the delay for watchers in seconds.
    Options {
        undo: String,
        odds: bool,
        delay: u32,
    },
    /// The port at which the table is served, to which the tokens in browsers are bound.
    Port(u16),
    /// The vote on an undo that is open now; `None` when it is over.
    Vote(Option<Box<KeptVote>>),
}

/// A vote of the table on an undo. Each role is a word with the seats, if it has some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptVote {
    pub id: u64,
    pub by: KeptRole,
    /// The name of the person who asks for the undo.
    pub name: Option<String>,
    pub decisions: u32,
    pub agreed: Vec<KeptRole>,
    pub asked: Vec<KeptRole>,
}

/// The word of a role, and its seats in one text.
pub type KeptRole = (String, Option<String>);

/// A row that is written with the next entry.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only a host makes them"))]
pub enum HostRow {
    Result(KeptResult),
    Change(HostChange),
}

/// Appends rows to the tables of the host.
pub(super) fn write_rows(to: &FileWriter<'_>, game: u32, rows: &[HostRow]) -> Result<(), StoreError> {
    rows.iter().try_for_each(|row| {
        let (table, body) = match row {
            HostRow::Result(result) => ("request", serde_json::to_vec(result)),
            HostRow::Change(change) => ("host", serde_json::to_vec(change)),
        };
        let body = body.map_err(|error| StoreError::damaged(error.to_string()))?;
        let id = to.last_id(table, game)?.map_or(key(game, 1), |last| last + 1);
        to.body(table, id, &body, numbered_sum(table, id, &body))
    })
}

impl StoreFile {
    /// The last rows of a host table, at most `most`, with verified checksums.
    pub fn host_rows<T: DeserializeOwned>(&self, table: &str, game: u32, most: usize) -> Result<Vec<T>, StoreError> {
        if self.format < 3 {
            return Ok(Vec::new());
        }
        let failed = |error: rusqlite::Error| self.failed(&error);
        let query = format!("SELECT id, body, sum FROM {table} WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3");
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut found = statement.query((key(game, 0), key(game + 1, 0), most)).map_err(failed)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let (id, body, known): (i64, Vec<u8>, i64) =
                (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?, row.get(2).map_err(failed)?);
            let read = serde_json::from_slice(&body).ok().filter(|_| known == numbered_sum(table, id, &body));
            rows.push(read.ok_or_else(|| StoreError::damaged(format!("row {} of {table}", id as u32)))?);
        }
        rows.reverse();
        Ok(rows)
    }
}
