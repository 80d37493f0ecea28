//! What a host of clients remembers of a table: results by idempotency key, invitations, people with their devices, and the pause.
//!
//! The rows are private to their file: neither an export nor a copy has them. So no text of them goes into the dictionary.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[cfg(feature = "serve")]
use super::campaign::{Campaign, lock};
use super::error::StoreError;
use super::file::StoreFile;
use super::rows::{key, numbered_sum};
use super::writer::FileWriter;

/// The result of a command that was carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptResult {
    /// The role and the seat of the client.
    pub by: (String, Option<String>),
    /// The idempotency key.
    pub key: String,
    /// Tells requests with the same key apart.
    pub request: i64,
    pub result: Json,
}

/// A change of what a host remembers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostChange {
    /// The token is a hash.
    Invited {
        token: String,
        role: String,
        seat: Option<String>,
    },
    Revoked {
        token: String,
    },
    Paused(bool),
    /// A code that is exchanged for the token of a new device; it is a hash, too.
    Code {
        token: String,
        role: String,
        seats: Vec<String>,
        /// Whose device it is to be, if not that of a new person.
        person: Option<u32>,
        name: Option<String>,
        /// Whether it ends when it is used.
        once: bool,
    },
    /// A person, as they are from now on.
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
    /// Whether the join code is taken, and whether anybody may watch.
    Lobby {
        open: bool,
        watch: bool,
    },
    /// Who takes decisions back, by the word of the policy, whether seats may look ahead, and how many seconds later watchers are
    /// told what happens.
    Options {
        undo: String,
        odds: bool,
        delay: u32,
    },
    /// The port at which the table is served: the tokens in browsers belong to it.
    Port(u16),
}

/// A row that is written with the next entry.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only a host makes them"))]
pub enum HostRow {
    Result(KeptResult),
    Change(HostChange),
}

/// What a host remembers of a campaign.
#[cfg(feature = "serve")]
#[derive(Debug, Default)]
pub struct HostMemory {
    /// The last results, the oldest first.
    pub results: Vec<KeptResult>,
    /// All changes, the oldest first.
    pub changes: Vec<HostChange>,
}

/// Writes rows behind those that are there.
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

#[cfg(feature = "serve")]
impl Campaign {
    /// Writes a row with the next [`Campaign::keep`], in the same transaction.
    #[doc(hidden)]
    pub fn write_with_next(&mut self, row: HostRow) {
        self.waiting.push(row);
    }

    /// Writes changes at once, all or none.
    ///
    /// # Errors
    ///
    /// As [`Campaign::keep`].
    #[doc(hidden)]
    pub fn write_host_changes(&mut self, changes: Vec<HostChange>) -> Result<(), StoreError> {
        let rows: Vec<HostRow> = changes.into_iter().map(HostRow::Change).collect();
        self.write_row(|to, game, _| write_rows(to, game, &rows))
    }

    /// What the host remembers, with at most the last `most` results.
    ///
    /// # Errors
    ///
    /// A row is damaged.
    #[doc(hidden)]
    pub fn host_memory(&self, most: usize) -> Result<HostMemory, StoreError> {
        let (file, game) = (lock(&self.file), self.game());
        Ok(HostMemory {
            results: file.host_rows("request", game, most)?,
            changes: file.host_rows("host", game, usize::MAX)?,
        })
    }
}

impl StoreFile {
    /// The last rows of a table of the host, at most `most`, with their sums checked.
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
