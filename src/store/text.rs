//! A campaign as text: lines of JSON from which it can be read back whole, and a story for people.

use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Store;
use super::campaign::{Campaign, lock, write_game};
use super::error::StoreError;
use super::generation::{Generation, generation_sum};
use super::notes::{Note, note_sum};
use super::rows::{GameRow, MomentBody, Piece, action_sum, checkpoint_sum, key, moment_sum, piece_sum};
use crate::play::{Checkpoint, Done, Happening};
use crate::ruleset::ContentHash;
use crate::state::{Value, readable_name};

/// The format of the lines.
const FORMAT: u32 = 1;

/// One line. The order of the lines is that of the numbers, so that a game that went on differs only at the end.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
    Campaign {
        format: u32,
        campaign: GameRow,
    },
    File {
        hash: String,
        text: String,
    },
    Rules {
        hash: String,
        rules: Generation,
    },
    Piece {
        id: u32,
        piece: Piece,
    },
    Action {
        id: u32,
        after: u32,
        action: Done,
    },
    Checkpoint {
        action: u32,
        checkpoint: Json,
    },
    Entry {
        id: u32,
        after: u32,
        decisions: u32,
        tip: u32,
        state: i64,
        entry: MomentBody,
    },
    Note {
        id: u32,
        note: Note,
    },
    /// For reading: it says nothing that the others do not.
    Sheet {
        name: String,
        sheet: Vec<(String, String)>,
    },
}

impl Campaign {
    /// Writes the campaign as lines of JSON, whole: [`Store::import`] reads it back to the same game.
    ///
    /// # Errors
    ///
    /// The file is damaged, or what it is written to fails.
    pub fn export(&mut self, to: &mut dyn Write) -> Result<(), StoreError> {
        let sheets = self.sheets();
        let (file, game) = (self.file(), self.game());
        // The sum depends on how the rows are packed: it is made anew.
        let row = GameRow { last: 0, ..self.row().clone() };
        let mut line = |line: &Line| -> Result<(), StoreError> {
            let text = serde_json::to_string(line).map_err(|error| StoreError::Refused(error.to_string()))?;
            writeln!(to, "{text}").map_err(|error| output(&error))
        };
        line(&Line::Campaign { format: FORMAT, campaign: row.clone() })?;
        let mut hashes: Vec<&String> = file.generations.iter().collect();
        hashes.sort();
        let mut written = std::collections::BTreeSet::new();
        for hash in hashes {
            let rules = file.generation(hash)?;
            for text in file.files(&rules).unwrap_or_default().into_values() {
                let hash = ContentHash::of(text.as_bytes()).to_string();
                if written.insert(hash.clone()) {
                    line(&Line::File { hash, text })?;
                }
            }
            line(&Line::Rules { hash: hash.clone(), rules })?;
        }
        let there = |table: &str, id: &u32| !row.recovered || file.has(table, key(game, *id));
        for id in (1..=row.pieces).filter(|id| there("piece", id)) {
            line(&Line::Piece { id, piece: file.piece(game, id)? })?;
        }
        for id in (1..=row.actions).filter(|id| there("action", id)) {
            let found = file.action(game, id)?;
            line(&Line::Action { id, after: found.parent, action: file.done(&found)? })?;
            if let Some((body, _)) = file.body("checkpoint", key(game, id))? {
                line(&Line::Checkpoint { action: id, checkpoint: file.words.unpack_value(&body)? })?;
            }
        }
        for id in (1..=row.moments).filter(|id| there("moment", id)) {
            let (found, entry) = file.checked_moment(game, id)?;
            let (after, decisions, tip, state) = (found.parent, found.decisions, found.tip, found.state);
            line(&Line::Entry { id, after, decisions, tip, state, entry })?;
        }
        for id in (1..=row.notes).filter(|id| there("note", id)) {
            line(&Line::Note { id, note: file.note(game, id)? })?;
        }
        for (name, sheet) in sheets {
            line(&Line::Sheet { name, sheet })?;
        }
        Ok(())
    }

    /// Tells the campaign in words: scene by scene, entry by entry, and the sheets as they are now.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn story(&mut self, to: &mut dyn Write) -> Result<(), StoreError> {
        let notes = self.notes()?;
        let mut notes = notes.iter().peekable();
        let mut failed = None;
        let row = self.row().clone();
        writeln!(to, "# {}\n\nBegun {}, last played {}.", row.name, row.made, row.played).map_err(|e| output(&e))?;
        self.replay(None, |played| {
            let mut write = || -> io::Result<()> {
                if let Some(title) = &played.scene {
                    writeln!(to, "\n## {title}\n")?;
                }
                writeln!(to, "{}. {}", played.entry, played.text)?;
                for event in &played.events {
                    if event.audience.is_everybody() && !matches!(event.happening, Happening::Answered { .. }) {
                        writeln!(to, "   - {}", event.happening.line())?;
                    }
                }
                while let Some(note) = notes.next_if(|note| note.entry <= played.entry) {
                    match &note.text {
                        Some(text) => writeln!(to, "\n> {} {text}\n", note.date)?,
                        None => writeln!(to, "\n> {} the table sat down\n", note.date)?,
                    }
                }
                Ok(())
            };
            match write() {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(output(&error));
        }
        for (name, sheet) in self.sheets() {
            writeln!(to, "\n### {name}\n").map_err(|error| output(&error))?;
            for (label, text) in sheet {
                writeln!(to, "- {label}: {text}").map_err(|error| output(&error))?;
            }
        }
        for (name, character) in self.roster()?.characters {
            writeln!(to, "\n### {name} (roster, {})\n", character.ruleset).map_err(|error| output(&error))?;
            let of_sheet = match &character.sheet {
                Some(Value::Map(sheet)) => Some(sheet.iter().map(|(key, value)| (key.to_string(), value)).collect()),
                _ => None,
            };
            let lines: Vec<(String, &Value)> = of_sheet
                .unwrap_or_else(|| character.fields.iter().map(|(field, value)| (field.clone(), value)).collect());
            for (key, value) in lines.into_iter().filter(|(key, _)| key != "name") {
                writeln!(to, "- {}: {value}", readable_name(&key)).map_err(|error| output(&error))?;
            }
        }
        Ok(())
    }

    /// The sheets as they are now, by title. Nothing where no scene is under way.
    fn sheets(&mut self) -> Vec<(String, Vec<(String, String)>)> {
        let Ok(mut session) = self.session() else { return Vec::new() };
        let schema = session.ruleset().schema();
        let kinds: Vec<std::sync::Arc<str>> =
            schema.kinds.iter().filter(|kind| kind.sheet).map(|kind| kind.name.clone()).collect();
        let ids: Vec<_> = kinds.iter().flat_map(|kind| session.view().of_kind(kind).collect::<Vec<_>>()).collect();
        let mut sheets = Vec::new();
        for id in ids {
            let title = session.view().title(id).to_string();
            if let Ok(sheet) = session.sheet(id) {
                sheets.push((title, sheet));
            }
        }
        sheets
    }
}

impl Store {
    /// Reads a campaign from lines of JSON into a file that has none yet.
    ///
    /// # Errors
    ///
    /// Lines that are no campaign, with the number of the line. The file has no campaign then.
    pub fn import(&self, from: impl BufRead) -> Result<Campaign, StoreError> {
        if self.first()?.is_some() {
            return Err(StoreError::Refused("the file has a campaign already".into()));
        }
        let mut lines = from.lines().enumerate();
        let read = |at: usize, text: io::Result<String>| -> Result<Line, StoreError> {
            let wrong = |message: String| StoreError::Refused(format!("line {}: {message}", at + 1));
            serde_json::from_str(&text.map_err(|error| wrong(error.to_string()))?)
                .map_err(|error| wrong(error.to_string()))
        };
        let (at, first) = lines.next().ok_or_else(|| StoreError::Refused("there are no lines".into()))?;
        let first = first.map_err(|error| StoreError::Refused(format!("line 1: {error}")))?;
        if !first.trim_start().starts_with('{') {
            let cure = "these are no lines of JSON; `riskbreaker export FILE --json` writes what can be imported";
            return Err(StoreError::Refused(cure.into()));
        }
        let Line::Campaign { format, campaign: mut row } = read(at, Ok(first))? else {
            return Err(StoreError::Refused("line 1 does not begin a campaign".into()));
        };
        if format != FORMAT {
            return Err(StoreError::Refused(format!("the lines have format {format}; this program reads {FORMAT}")));
        }
        {
            let file = &mut *lock(&self.file);
            let mut generations = Vec::new();
            file.write(|transaction, words| {
                let failed = |error: rusqlite::Error| StoreError::of(Path::new("the file"), &error);
                let insert = |table: &str, id: i64, body: &[u8], known: i64| {
                    let statement = format!("INSERT INTO {table} (id, body, sum) VALUES (?1, ?2, ?3)");
                    transaction.execute(&statement, (id, body, known)).map(|_| ()).map_err(failed)
                };
                let mut pieces = std::collections::HashMap::new();
                let mut actions: std::collections::HashMap<u32, (i64, Vec<u8>, u32)> = std::collections::HashMap::new();
                let mut checkpoints = Vec::new();
                let mut moments: std::collections::HashMap<u32, i64> = std::collections::HashMap::new();
                let mut settled: std::collections::HashMap<u32, i64> = std::collections::HashMap::new();
                row.last = 0;
                transaction
                    .execute("INSERT INTO game (id, name, body, sum) VALUES (0, ?1, x'', 0)", [&row.name])
                    .map_err(failed)?;
                for (at, text) in lines {
                    let wrong = |message: &str| StoreError::Refused(format!("line {}: {message}", at + 1));
                    match read(at, text)? {
                        Line::Campaign { .. } => return Err(wrong("a second campaign")),
                        Line::File { text, .. } => {
                            let hash = ContentHash::of(text.as_bytes()).to_string();
                            transaction
                                .execute("INSERT OR IGNORE INTO source (hash, text) VALUES (?1, ?2)", (hash, text))
                                .map_err(failed)?;
                        }
                        Line::Rules { hash, rules } => {
                            let body = words.pack(&rules)?;
                            let known = generation_sum(&hash, &body);
                            transaction
                                .execute(
                                    "INSERT INTO generation (hash, body, sum) VALUES (?1, ?2, ?3)",
                                    (&hash, body, known),
                                )
                                .map_err(failed)?;
                            generations.push(hash);
                        }
                        Line::Piece { id, piece } => {
                            let (id, body) = (key(0, id), words.pack(&piece)?);
                            let known = piece_sum(id, &body);
                            insert("piece", id, &body, known)?;
                            pieces.insert(id as u32, known);
                        }
                        Line::Action { id, after, action } => {
                            if id == 0 || after >= id {
                                return Err(wrong("an action that comes before the one it follows"));
                            }
                            actions.insert(id, (0, words.pack(&action)?, after));
                        }
                        Line::Checkpoint { action, checkpoint } => {
                            let body = words.pack(&checkpoint)?;
                            words.unpack::<Checkpoint>(&body)?;
                            checkpoints.push((action, body));
                        }
                        Line::Entry { id, after, decisions, tip, state, entry } => {
                            if id == 0 || after >= id {
                                return Err(wrong("an entry that comes before the one it follows"));
                            }
                            let scene = pieces.get(&entry.scene).copied().unwrap_or(0);
                            // The sums of the actions on the way, from the last one that is settled.
                            let mut way = Vec::new();
                            let mut back = tip;
                            while back != 0 && !settled.contains_key(&back) {
                                let (.., after) = actions.get(&back).ok_or_else(|| wrong("an action is missing"))?;
                                way.push(back);
                                back = *after;
                            }
                            let mut known = if back == 0 { scene } else { settled[&back] };
                            for id in way.into_iter().rev() {
                                let (_, body, _) = &actions[&id];
                                known = action_sum(known, body);
                                settled.insert(id, known);
                            }
                            let body = words.pack(&entry)?;
                            let parent = match after {
                                0 => 0,
                                after => *moments.get(&after).ok_or_else(|| wrong("an entry is missing"))?,
                            };
                            let known = moment_sum(parent, known, (decisions, tip, state), &body);
                            moments.insert(id, known);
                            transaction
                                .execute(
                                    "INSERT INTO moment (id, parent, decisions, tip, state, body, sum) \
                                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                                    (key(0, id), key(0, after), decisions, tip, state, &body, known),
                                )
                                .map_err(failed)?;
                            if id == row.moments {
                                row.last = known;
                            }
                        }
                        Line::Note { id, note } => {
                            let (id, body) = (key(0, id), words.pack(&note)?);
                            insert("note", id, &body, note_sum(id, &body))?;
                        }
                        Line::Sheet { .. } => {}
                    }
                }
                for (id, (_, body, after)) in &actions {
                    let known = settled.get(id).copied().unwrap_or_default();
                    transaction
                        .execute(
                            "INSERT INTO action (id, parent, body, sum) VALUES (?1, ?2, ?3, ?4)",
                            (key(0, *id), after, body, known),
                        )
                        .map_err(failed)?;
                }
                for (action, body) in checkpoints {
                    let known = settled.get(&action).copied().unwrap_or_default();
                    insert("checkpoint", key(0, action), &body, checkpoint_sum(known, &body))?;
                }
                if (!row.recovered && moments.len() != row.moments as usize)
                    || !(row.head == 0 || moments.contains_key(&row.head))
                {
                    return Err(StoreError::Refused(format!(
                        "the lines hold {} entries, and should hold {}",
                        moments.len(),
                        row.moments
                    )));
                }
                write_game(transaction, words, 0, &row)
            })?;
            file.generations.extend(generations);
        }
        Campaign::open(&self.file, 0)
    }
}

fn output(error: &io::Error) -> StoreError {
    StoreError::Io { path: "the output".into(), message: super::lock::told(error) }
}
