//! The log of a campaign: all decisions as text, including undone ones, which stay reachable.

use serde::Serialize;

use super::campaign::Campaign;
use super::error::StoreError;
use super::label::label;

/// One entry of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct LogEntry {
    /// Its number, from 1.
    pub entry: u32,
    /// The preceding entry; 0 for the first.
    pub after: u32,
    /// The decision as text.
    pub text: String,
    /// True if it is on the path to the current entry.
    pub stands: bool,
    /// True if it is the current entry.
    pub here: bool,
    /// True if no entry follows it: the end of a branch.
    pub last: bool,
}

impl Campaign {
    /// The entries of a campaign in the order of their creation, at most the last `most`. `all`: includes undone
    /// entries.
    pub fn log(&self, all: bool, most: usize) -> Result<Vec<LogEntry>, StoreError> {
        let (file, game) = (self.file(), self.game());
        let mut way = Vec::new();
        let mut at = self.head();
        while at != 0 && (all || way.len() < most) {
            way.push(at);
            let before = file.moment(game, at)?.parent;
            if before >= at {
                return Err(StoreError::damaged(format!("entry {at}")));
            }
            at = before;
        }
        way.reverse();
        let ids: Vec<u32> = match all {
            true => file.numbers("moment", game, self.row(), self.entries()).collect(),
            false => way.clone(),
        };
        let skipped = ids.len().saturating_sub(most);
        ids[skipped..]
            .iter()
            .map(|id| {
                let row = file.moment(game, *id)?;
                Ok(LogEntry {
                    entry: *id,
                    after: row.parent,
                    text: label(&file, game, *id)?,
                    stands: way.binary_search(id).is_ok(),
                    here: *id == self.head(),
                    last: file.moments_after(game, *id)?.is_empty(),
                })
            })
            .collect()
    }

    /// The decision of an entry as text.
    pub fn text(&self, entry: u32) -> Result<String, StoreError> {
        label(&self.file(), self.game(), entry)
    }
}
