//! A table as a file: the saved game with the number of its last step, so that no number is reused after a restart, and
//! with the pause of the game master.

use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use super::error::Failure;
use super::table::TableGame;
use riskbreaker_play::{Session, is_saved_game, saved_table};
use riskbreaker_ruleset::{Library, system_message};
use riskbreaker_store::sync_folder;

/// The places where clients may read and write files.
#[derive(Clone, Debug, Default)]
pub(super) struct Saves {
    /// The folder to which all paths are confined; `None` for the whole file system.
    folder: Option<PathBuf>,
}

impl Saves {
    /// Confines paths to a folder.
    ///
    /// # Errors
    ///
    /// The folder does not exist.
    pub fn within(folder: &Path) -> std::io::Result<Saves> {
        let folder = fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::NotADirectory));
        }
        Ok(Saves { folder: Some(folder) })
    }

    /// Resolves a path that a client names.
    ///
    /// # Errors
    ///
    /// A path that leads out of the folder, also through a link.
    pub fn place(&self, path: &str) -> Result<String, Failure> {
        let Some(folder) = &self.folder else { return Ok(path.to_owned()) };
        let refused = |why: &str| Err(Failure::File { message: format!("{path}: {why}") });
        let mut place = folder.clone();
        for part in Path::new(path).components() {
            match part {
                Component::CurDir => continue,
                Component::Normal(part) => place.push(part),
                _ => return refused("this host keeps its files in one folder: give a path below it, without `..`"),
            }
            if place.is_symlink() {
                return refused("it is or leads through a link, and this host keeps its files in one folder");
            }
        }
        match place.to_str() {
            Some(_) if place == *folder => refused("give the name of a file"),
            Some(place) => Ok(place.to_owned()),
            None => refused("the name of its folder is no UTF-8"),
        }
    }
}

/// Returns the text of a saved game. `whole`: a session with the whole game, if that of the table has only the last
/// part.
pub(super) fn write(game: &TableGame, whole: Option<&Session>) -> String {
    whole.unwrap_or(&game.session).save_at_table(Some(game.seq), game.is_paused())
}

/// Parses a saved game. Its next step has the number after the last one; 1 for a save that was not made at a table.
pub(super) fn read(library: &Library, text: &str) -> Result<TableGame, Failure> {
    let session = Session::load(library, text)?;
    let (step, paused) = saved_table(text);
    let mut game = TableGame::new(session, step.unwrap_or(0).min((1 << 53) - 2) + 1).later();
    if paused {
        game.pause(true);
    }
    Ok(game)
}

/// Writes a saved game atomically. An existing file is replaced only if it is a saved game, too.
pub(super) fn put(path: &str, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::File { message: format!("{path}: {}", system_message(&error)) };
    let target = Path::new(path);
    match fs::symlink_metadata(target) {
        Ok(found) if !found.is_file() => {
            return Err(Failure::File { message: format!("{path}: not a regular file") });
        }
        Ok(_) if !is_saved_game(target).map_err(failed)? => {
            let message = format!("{path}: it is there already and is no saved game, so it is not overwritten");
            return Err(Failure::File { message });
        }
        _ => {}
    }
    let (part, mut file) = draft_of(path).map_err(failed)?;
    let mut write = || {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, target)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&part);
        failed(error)
    })?;
    sync_folder(target);
    Ok(())
}

/// Creates a new file next to a path. A host that was killed may have left one, even with the same process number.
fn draft_of(path: &str) -> std::io::Result<(String, fs::File)> {
    let mut number = 0_u32;
    loop {
        let part = format!("{path}.{}-{number}.part", std::process::id());
        match fs::OpenOptions::new().write(true).create_new(true).open(&part) {
            Ok(file) => return Ok((part, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// The most bytes of a saved game that is read.
const MOST_BYTES: u64 = 64 << 20;

pub(super) fn get(path: &str) -> Result<String, Failure> {
    let failed = |message: String| Failure::File { message: format!("{path}: {message}") };
    let found = fs::metadata(path).map_err(|error| failed(system_message(&error)))?;
    if !found.is_file() {
        return Err(failed("not a regular file".into()));
    }
    if found.len() > MOST_BYTES {
        return Err(failed(format!("more than {} MiB", MOST_BYTES >> 20)));
    }
    fs::read_to_string(path).map_err(|error| failed(system_message(&error)))
}
