//! Converts a file of an older format to the current one: a copy is converted and verified, and then replaces the file.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::types::Value;

use super::error::StoreError;
use super::file::{PRIVATE, StoreFile, sync_folder};
use super::generation::source_text;
use super::label::text_of;
use super::lock::beside;
use super::rows::{GameRow, key};
use super::verify::Verification;
use riskbreaker_ruleset::{Library, system_message};

/// Converts the file at `path` to the current format. The caller must hold its lock, and must have closed it.
///
/// # Errors
///
/// The file is damaged, or there is no room for the copy. The file is unchanged then.
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
    copy(&StoreFile::read_unlocked(path, library.clone())?, draft, None)?;
    if before != found_in(draft, library)? {
        return Err(StoreError::damaged("its copy in the format of today does not hold the same"));
    }
    Ok(())
}

/// Writes the content of a file to a new file of the current format, which replaces a file with that name. `only`: one
/// campaign by its number, with its row in the copy, which then omits private rows; `None` copies everything.
pub fn copy(from: &StoreFile, to: &Path, only: Option<(u32, GameRow)>) -> Result<(), StoreError> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::of_system(to, &error)),
        _ => {}
    }
    let mut file = StoreFile::create(to, from.library.clone())?;
    // The rows refer to the dictionary by number.
    file.words = from.words.clone().unwritten();
    file.write(|to| {
        let copied = |table: &&String| only.is_none() || !PRIVATE.contains(&table.as_str());
        from.tables()?.iter().filter(copied).try_for_each(|table| {
            from.each_row(table, |columns, row| match table.as_str() {
                "source" => {
                    let [_, Value::Text(hash), text] = row else { return Ok(()) };
                    source_text(text.into()).map_or(Ok(()), |text| to.source_as(hash, &text))
                }
                "word" => Ok(()),
                "generation" => to.row(table, columns, row),
                _ => {
                    let id = row.first().and_then(|id| if let Value::Integer(id) = id { Some(*id) } else { None });
                    let game = if table == "game" { id } else { id.map(|id| id >> 32) };
                    match &only {
                        Some((wanted, _)) if game != Some(i64::from(*wanted)) => Ok(()),
                        Some(_) if table == "game" => Ok(()),
                        _ => to.row(table, columns, row),
                    }
                }
            })
        })?;
        if let Some((game, row)) = &only {
            to.new_game(*game, &row.name)?;
            to.game(*game, row)?;
        }
        if from.format < 2 {
            labels(from)?.iter().try_for_each(|(id, known, text)| to.label(*id, *known, text))?;
        }
        Ok(())
    })
}

/// The additions of format 2: the text of each entry, with its number and its checksum.
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

/// The content of a file: its verified rows, and the current entry of each campaign.
fn found_in(path: &Path, library: &Library) -> Result<impl PartialEq + use<>, StoreError> {
    let mut file = StoreFile::read_unlocked(path, library.clone())?;
    let stands = file.games()?.into_iter().map(|id| file.game(id)).collect::<Result<Vec<_>, _>>()?;
    // A different replay by this version of the program is no damage.
    let found = Verification::of(&mut file, false)?;
    match found.problems.first() {
        Some(problem) => Err(StoreError::damaged(problem.clone())),
        None => Ok((found, stands)),
    }
}
