//! Checksums of entries over their content, independent of the numbers of dictionary words and rows: equal entries of
//! two files have equal checksums.

use super::checksum::{ContentSums, sum};
use super::error::StoreError;
use super::file::StoreFile;
use super::rows::{MomentBody, key};

impl ContentSums {
    /// Stores the checksum of a row. Call this in the order of row numbers.
    fn note(sums: &mut Vec<i64>, id: u32, sum: i64) {
        sums.resize(id as usize, 0);
        sums.push(sum);
    }
}

/// The checksum of a row; 0 if there is none.
fn at(sums: &[i64], id: u32) -> i64 {
    sums.get(id as usize).copied().unwrap_or_default()
}

impl StoreFile {
    /// The checksums of the entries of a campaign from `first` to `last`; 0 for a lost one. Each covers the entry
    /// before it, the decisions, the state, the actions with their texts, the scene, the seats and the roster. The text
    /// of an entry in the log is made from these.
    pub fn entry_sums(&mut self, game: u32, first: u32, last: u32) -> Result<Vec<i64>, StoreError> {
        let mut sums = self.content_sums.remove(&game).unwrap_or_default();
        let noted = self.note_sums(game, &mut sums);
        let found = (first..=last).map(|id| at(&sums.entries, id)).collect();
        self.content_sums.insert(game, sums);
        noted.map(|()| found)
    }

    fn note_sums(&self, game: u32, sums: &mut ContentSums) -> Result<(), StoreError> {
        let ContentSums { pieces, actions, entries } = sums;
        let failed = |error: rusqlite::Error| self.failed(&error);
        let range = |known: usize| (key(game, known.max(1) as u32), key(game + 1, 0));
        let mut statement = self
            .connection
            .prepare("SELECT id, body FROM piece WHERE id >= ?1 AND id < ?2 ORDER BY id")
            .map_err(failed)?;
        let mut rows = statement.query(range(pieces.len())).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (id, body): (i64, Vec<u8>) = (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
            ContentSums::note(pieces, id as u32, sum(&[b"piece", &self.words.spelled_out(&body)?]));
        }
        let query = "SELECT id, parent, body FROM action WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut statement = self.connection.prepare(query).map_err(failed)?;
        let mut rows = statement.query(range(actions.len())).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (id, body): (i64, Vec<u8>) = (row.get(0).map_err(failed)?, row.get(2).map_err(failed)?);
            let before = at(actions, row.get(1).map_err(failed)?);
            let sum = sum(&[b"action", &before.to_le_bytes(), &self.words.spelled_out(&body)?]);
            ContentSums::note(actions, id as u32, sum);
        }
        let query = "SELECT id, parent, decisions, tip, state, body FROM moment WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut statement = self.connection.prepare(query).map_err(failed)?;
        let mut rows = statement.query(range(entries.len())).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (id, parent): (i64, i64) = (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
            let (decisions, tip, state): (u32, u32, i64) =
                (row.get(2).map_err(failed)?, row.get(3).map_err(failed)?, row.get(4).map_err(failed)?);
            let body: MomentBody = self.words.unpack(&row.get::<_, Vec<u8>>(5).map_err(failed)?)?;
            let parts = [
                at(entries, parent as u32),
                i64::from(decisions),
                at(actions, tip),
                state,
                at(pieces, body.scene),
                at(pieces, body.seating),
                at(pieces, body.roster),
            ];
            let besides = riskbreaker_state::in_stored_form(|| serde_json::to_vec(&(&body.act, &body.place)));
            let besides = besides.map_err(|error| StoreError::damaged(error.to_string()))?;
            ContentSums::note(entries, id as u32, sum(&[b"entry", &parts.map(i64::to_le_bytes).concat(), &besides]));
        }
        Ok(())
    }
}
