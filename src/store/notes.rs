//! Notes of the game master, and the dates of play.

use serde::{Deserialize, Serialize};

use super::campaign::Campaign;
use super::date;
use super::error::StoreError;
use super::file::StoreFile;
use super::rows::GameRow;
use super::writer::Writer;

/// A line beside a campaign. It stays whatever is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// In universal time.
    pub date: String,
    /// The entry at which the campaign stood.
    pub entry: u32,
    /// What was written; nothing where people sat down to play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Puts a note into the file.
pub fn write_note(to: &mut Writer<'_>, game: u32, row: &mut GameRow, text: Option<&str>) -> Result<(), StoreError> {
    row.notes += 1;
    let note = Note { date: date::now(), entry: row.head, text: text.map(str::to_owned) };
    to.numbered("note", game, row.notes, &note).map(drop)
}

impl Campaign {
    /// Writes a note. It is no part of the game, and no undo takes it back.
    pub fn note(&mut self, text: &str) -> Result<(), StoreError> {
        // The sitting begins with the note if nothing else was written before.
        self.sit_down_once()?;
        self.write_row(|to, game, row| write_note(to, game, row, Some(text)))
    }

    /// The notes, and when people sat down to play, the oldest first.
    pub fn notes(&self) -> Result<Vec<Note>, StoreError> {
        let (file, game, row) = (self.file(), self.game(), self.row());
        file.numbers("note", game, row, row.notes).map(|id| file.note(game, id)).collect()
    }

    /// The entry at which people sat down last, and when: where a recap begins.
    pub fn last_sitting(&self) -> Result<Option<Note>, StoreError> {
        Ok(self.notes()?.into_iter().rfind(|note| note.text.is_none()))
    }
}

impl StoreFile {
    pub fn note(&self, game: u32, id: u32) -> Result<Note, StoreError> {
        self.words.unpack(&self.numbered("note", game, id)?.0)
    }
}
