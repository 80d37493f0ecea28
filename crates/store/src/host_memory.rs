//! What a host of clients keeps with its campaign: writes rows with the next entry or at once, and reads them back.

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::lock;
use super::host::{HostChange, HostRow, KeptResult, write_rows};

/// The host's data of a campaign.
#[derive(Debug, Default)]
pub struct HostMemory {
    /// The last results, oldest first.
    pub results: Vec<KeptResult>,
    /// All changes, oldest first.
    pub changes: Vec<HostChange>,
}

impl Campaign {
    /// Adds a row to the next [`Campaign::keep`], in the same transaction.
    #[doc(hidden)]
    pub fn write_with_next(&mut self, row: HostRow) {
        self.waiting.push(row);
    }

    /// Writes changes immediately, all or none.
    ///
    /// # Errors
    ///
    /// As [`Campaign::keep`].
    #[doc(hidden)]
    pub fn write_host_changes(&mut self, changes: Vec<HostChange>) -> Result<(), StoreError> {
        let rows: Vec<HostRow> = changes.into_iter().map(HostRow::Change).collect();
        self.write_row(|to, game, _| write_rows(to, game, &rows))
    }

    /// The host's data, with at most the last `most` results.
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
