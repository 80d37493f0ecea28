//! Verifies a whole file: every row is read, and its checksum compared.

use serde::Serialize;

use super::Store;
use super::campaign::lock;
use super::error::StoreError;
use super::log::label;
use super::rows::{checkpoint_sum, key};

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
        let mut note = |result: Result<(), StoreError>| match result {
            Ok(()) => true,
            Err(StoreError::Damaged { what }) => {
                found.problems.push(what);
                false
            }
            Err(other) => {
                found.problems.push(other.to_string());
                false
            }
        };
        let whole = file
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
            .map_err(|error| file.failed(&error))
            .and_then(|told| if told == "ok" { Ok(()) } else { Err(StoreError::damaged(told)) });
        note(whole);
        let mut hashes: Vec<&String> = file.generations.iter().collect();
        hashes.sort();
        let mut counts = (0, 0, 0, 0, 0);
        for hash in hashes {
            note(file.generation(hash).and_then(|generation| file.files(&generation)).map(|_| ()));
            counts.4 += 1;
        }
        for game in file.games()? {
            counts.0 += 1;
            let row = match file.game(game) {
                Ok(row) => row,
                Err(error) => {
                    note(Err(error));
                    continue;
                }
            };
            let there = |table: &str, id: u32| !row.recovered || file.has(table, key(game, id));
            for id in (1..=row.notes).filter(|id| there("note", *id)) {
                note(file.note(game, id).map(|_| ()));
            }
            for id in (1..=row.pieces).filter(|id| there("piece", *id)) {
                note(file.piece(game, id).map(|_| ()));
            }
            let mut scenes = std::collections::HashMap::new();
            for id in (1..=row.moments).filter(|id| there("moment", *id)) {
                counts.1 += 1;
                match file.checked_moment(game, id) {
                    Ok((moment, body)) => {
                        scenes.insert(moment.tip, body.scene);
                        note(label(file, game, id).map(|_| ()));
                    }
                    Err(error) => {
                        note(Err(error));
                    }
                }
            }
            let mut scene = 0;
            for id in (1..=row.actions).rev().filter(|id| there("action", *id)) {
                counts.2 += 1;
                scene = scenes.get(&id).copied().unwrap_or(scene);
                note(file.checked_action(game, id, scene).and_then(|row| file.done(&row)).map(|_| ()));
                match file.body("checkpoint", key(game, id)) {
                    Ok(None) => {}
                    Ok(Some((body, sum))) => {
                        counts.3 += 1;
                        let right = file.action(game, id).map(|action| sum == checkpoint_sum(action.sum, &body));
                        note(match right {
                            Ok(true) => Ok(()),
                            Ok(false) => Err(StoreError::damaged(format!("the checkpoint behind action {id}"))),
                            Err(error) => Err(error),
                        });
                    }
                    Err(error) => {
                        note(Err(error));
                    }
                }
            }
        }
        (found.campaigns, found.entries, found.actions, found.checkpoints, found.rules) = counts;
        found.problems.truncate(MOST_PROBLEMS);
        Ok(found)
    }
}
