//! Notes of the game master, and the dates of play.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::campaign::Campaign;
use super::date;
use super::error::StoreError;
use super::file::StoreFile;
use super::rows::GameRow;
use super::writer::FileWriter;

/// A note or the beginning of a sitting. It is not affected by undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignNote {
    /// The time, in UTC.
    pub date: String,
    /// The current entry at that time.
    pub entry: u32,
    /// The text of the note. `None` for the beginning of a sitting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The number of the note among those with a text, from 1, for [`Campaign::correct_note`]. 0 for the beginning of a
    /// sitting.
    #[serde(skip_deserializing, default, skip_serializing_if = "is_zero")]
    pub number: u32,
    /// The number of the earlier note that this one replaces. Without a text, it removes that note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) corrects: Option<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Writes a note to the file.
pub fn write_note(to: &mut FileWriter<'_>, game: u32, row: &mut GameRow, text: Option<&str>) -> Result<(), StoreError> {
    write_correction(to, game, row, text, None)
}

fn write_correction(
    to: &mut FileWriter<'_>,
    game: u32,
    row: &mut GameRow,
    text: Option<&str>,
    corrects: Option<u32>,
) -> Result<(), StoreError> {
    row.notes += 1;
    let note = CampaignNote { date: date::now(), entry: row.head, text: text.map(str::to_owned), number: 0, corrects };
    to.numbered("note", game, row.notes, &note).map(drop)
}

impl Campaign {
    /// Records the beginning of a sitting, unless that was done already.
    fn sit_down_once(&mut self) -> Result<(), StoreError> {
        if self.sat_down { Ok(()) } else { self.sit_down() }
    }

    /// Records the beginning of a sitting.
    #[doc(hidden)]
    pub fn sit_down(&mut self) -> Result<(), StoreError> {
        self.write_row(|to, game, row| write_note(to, game, row, None))?;
        self.sat_down = true;
        Ok(())
    }

    /// Writes a note. It is not part of the game, and undo does not remove it.
    pub fn note(&mut self, text: &str) -> Result<(), StoreError> {
        // The note begins a sitting if nothing else was written before.
        self.sit_down_once()?;
        self.write_row(|to, game, row| write_note(to, game, row, Some(text)))
    }

    /// Replaces the text of a note, by its number; removes the note if there is no text. Its date stays.
    ///
    /// # Errors
    ///
    /// There is no note with that number. The file cannot be written.
    pub fn correct_note(&mut self, number: u32, text: Option<&str>) -> Result<(), StoreError> {
        let notes = self.notes_by_row()?;
        let found = notes.iter().find(|(_, note)| note.number == number && note.text.is_some());
        let Some((corrected, _)) = found else {
            return Err(StoreError::Refused(format!("There is no note {number}; `note` lists them.")));
        };
        self.write_row(|to, game, row| write_correction(to, game, row, text, Some(*corrected)))
    }

    /// The corrected notes and the beginnings of sittings, oldest first.
    pub fn notes(&self) -> Result<Vec<CampaignNote>, StoreError> {
        Ok(self.notes_by_row()?.into_values().collect())
    }

    /// Like [`Campaign::notes`], by the row numbers in the file, which include corrections and sittings.
    fn notes_by_row(&self) -> Result<BTreeMap<u32, CampaignNote>, StoreError> {
        let (file, game, row) = (self.file(), self.game(), self.row());
        let mut notes: BTreeMap<u32, CampaignNote> = BTreeMap::new();
        let mut written = 0;
        for id in file.numbers("note", game, row, row.notes) {
            let note = file.note(game, id)?;
            match note.corrects {
                None => {
                    written += u32::from(note.text.is_some());
                    let number = if note.text.is_some() { written } else { 0 };
                    notes.insert(id, CampaignNote { number, ..note });
                }
                Some(number) if note.text.is_none() => drop(notes.remove(&number)),
                Some(number) => {
                    if let Some(corrected) = notes.get_mut(&number) {
                        corrected.text = note.text;
                    }
                }
            }
        }
        Ok(notes)
    }

    /// The last beginning of a sitting, with its entry and time, at which a recap begins.
    pub fn last_sitting(&self) -> Result<Option<CampaignNote>, StoreError> {
        Ok(self.notes()?.into_iter().rfind(|note| note.text.is_none()))
    }
}

impl StoreFile {
    pub fn note(&self, game: u32, id: u32) -> Result<CampaignNote, StoreError> {
        self.words.unpack(&self.numbered("note", game, id)?.0)
    }
}
