//! Verifies a whole file: reads every row, compares its checksum, and replays every entry.

use serde::Serialize;

use super::error::StoreError;
use super::file::StoreFile;
use super::whole::MOST_PROBLEMS;

/// The result of verifying a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The number of campaigns.
    pub campaigns: u32,
    /// The number of their entries.
    pub entries: u32,
    /// The number of their actions.
    pub actions: u32,
    /// The number of their checkpoints.
    pub checkpoints: u32,
    /// The number of rulesets stored in the file.
    pub rules: u32,
    /// The problems, a sentence each.
    pub problems: Vec<String>,
}

impl Verification {
    /// Verifies a file. `play`: also replays the entries.
    pub(super) fn of(file: &mut StoreFile, play: bool) -> Result<Verification, StoreError> {
        let mut found = Verification::default();
        let whole = file
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
            .map_err(|error| file.failed(&error))?;
        if whole != "ok" {
            found.problems.push(whole.replace('\n', " "));
        }
        let mut hashes: Vec<&String> = file.generations.iter().collect();
        hashes.sort();
        for hash in hashes {
            found.rules += 1;
            match file.generation(hash).and_then(|generation| file.files(&generation)) {
                Ok(_) => {}
                Err(StoreError::Damaged { what }) => found.problems.push(what),
                Err(other) => found.problems.push(other.to_string()),
            }
        }
        for game in file.games()? {
            let mut of_game = file.look_at_rows(game);
            if play {
                file.play_all(game, &mut of_game);
            }
            found.campaigns += 1;
            found.entries += of_game.entries;
            found.actions += of_game.actions;
            found.checkpoints += of_game.checkpoints;
            found.problems.extend(of_game.problems);
        }
        found.problems.truncate(MOST_PROBLEMS);
        Ok(found)
    }
}
