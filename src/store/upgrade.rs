//! Converts a file of an older format to the current one: a copy is converted and verified, and then replaces the file.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::Store;
use super::error::StoreError;
use super::file::{Access, FORMAT, LABELS, StoreFile, connect, sync_folder};
use super::lock::beside;
use super::log::text_of;
use super::pack::Words;
use super::rows::key;
use super::writer::Writer;
use crate::ruleset::{Library, system_message};

/// Brings the file at `path` to the format of today. Whoever calls this holds its lock, and has it open no more.
///
/// # Errors
///
/// The file is damaged, or there is no room for the copy. The file is as it was then.
pub fn upgrade(path: &Path, library: &Library) -> Result<(), StoreError> {
    let draft = beside(path, "upgrading");
    let done = write(path, &draft, library).and_then(|()| {
        let io = |error: io::Error| StoreError::Io { path: draft.clone(), message: system_message(&error) };
        File::open(&draft).and_then(|file| file.sync_all()).map_err(io)?;
        fs::rename(&draft, path).map_err(io)?;
        sync_folder(path);
        Ok(())
    });
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

fn write(path: &Path, draft: &Path, library: &Library) -> Result<(), StoreError> {
    let before = found_in(path, library)?;
    fs::copy(path, draft)
        .map_err(|error| StoreError::Io { path: draft.to_path_buf(), message: system_message(&error) })?;
    let texts = labels(&StoreFile::read_unlocked(draft, library.clone())?)?;
    let failed = |error: rusqlite::Error| StoreError::of(draft, &error);
    let mut connection = connect(draft, Access::Write)?;
    let transaction = connection.transaction().map_err(failed)?;
    transaction.execute_batch(LABELS).map_err(failed)?;
    let mut words = Words::default();
    let to = Writer::new(&transaction, &mut words);
    texts.iter().try_for_each(|(id, known, text)| to.label(*id, *known, text))?;
    transaction.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    connection.execute_batch("PRAGMA journal_mode = DELETE;").map_err(failed)?;
    drop(connection);
    let after = found_in(draft, library)?;
    if before != after {
        return Err(StoreError::damaged("its copy in the format of today does not hold the same"));
    }
    Ok(())
}

/// What format 2 has besides: the words of each entry, with its number and its sum.
fn labels(file: &StoreFile) -> Result<Vec<(i64, i64, String)>, StoreError> {
    let mut texts = Vec::new();
    for game in file.games()? {
        let row = file.game(game)?;
        for id in file.numbers("moment", game, &row, row.moments) {
            texts.push((key(game, id), file.moment(game, id)?.sum, text_of(file, game, id)?));
        }
    }
    Ok(texts)
}

/// What a file holds: its rows, all verified, and where each of its campaigns stands.
fn found_in(path: &Path, library: &Library) -> Result<impl PartialEq + use<>, StoreError> {
    let file = StoreFile::read_unlocked(path, library.clone())?;
    let stands = file.games()?.into_iter().map(|id| file.game(id)).collect::<Result<Vec<_>, _>>()?;
    let found = Store::of_file(file).verify()?;
    match found.problems.first() {
        Some(problem) => Err(StoreError::damaged(problem.clone())),
        None => Ok((found, stands)),
    }
}
