//! Verifies a whole file: every row is read, and its checksum compared.

use serde::Serialize;

use super::Store;
use super::campaign::lock;
use super::error::StoreError;
use super::log::label;

/// Problems that are told.
const MOST_PROBLEMS: usize = 100;

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Campaigns in the file.
    pub campaigns: u32,
    /// Their entries.
    pub entries: u32,
    /// Their actions.
    pub actions: u32,
    /// Their checkpoints.
    pub checkpoints: u32,
    /// Rulesets that are kept in the file.
    pub rules: u32,
    /// What is wrong, a sentence each.
    pub problems: Vec<String>,
}

impl Store {
    /// Reads every row of the file and compares its sum. No game is played: [`Campaign::replay`](super::Campaign::replay) does
    /// that.
    ///
    /// # Errors
    ///
    /// The file cannot be read at all.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        let mut found = Verification::default();
        let file = &*lock(&self.file);
        let mut problems = Vec::new();
        let mut note = |result: Result<(), StoreError>| match result {
            Ok(()) => {}
            Err(StoreError::Damaged { what }) => problems.push(what),
            Err(other) => problems.push(other.to_string()),
        };
        let whole = file
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
            .map_err(|error| file.failed(&error))
            .and_then(|told| if told == "ok" { Ok(()) } else { Err(StoreError::damaged(told)) });
        note(whole);
        let mut hashes: Vec<&String> = file.generations.iter().collect();
        hashes.sort();
        for hash in hashes {
            found.rules += 1;
            note(file.generation(hash).and_then(|generation| file.files(&generation)).map(drop));
        }
        for game in file.games()? {
            found.campaigns += 1;
            let row = match file.game(game) {
                Ok(row) => row,
                Err(error) => {
                    note(Err(error));
                    continue;
                }
            };
            for id in file.numbers("note", game, &row, row.notes) {
                note(file.note(game, id).map(drop));
            }
            for id in file.numbers("piece", game, &row, row.pieces) {
                note(file.piece(game, id).map(drop));
            }
            let mut scenes = std::collections::HashMap::new();
            for id in file.numbers("moment", game, &row, row.moments) {
                found.entries += 1;
                note(file.checked_moment(game, id).and_then(|(moment, body)| {
                    scenes.insert(moment.tip, body.scene);
                    label(file, game, id).map(drop)
                }));
            }
            let mut scene = 0;
            for id in file.numbers("action", game, &row, row.actions).rev() {
                found.actions += 1;
                scene = scenes.get(&id).copied().unwrap_or(scene);
                note(file.checked_action(game, id, scene).and_then(|row| file.done(&row)).map(drop));
                let checkpoint = file.checkpoint(game, id);
                found.checkpoints += u32::from(!matches!(checkpoint, Ok(None)));
                note(checkpoint.map(drop));
            }
        }
        problems.truncate(MOST_PROBLEMS);
        found.problems = problems;
        Ok(found)
    }
}
