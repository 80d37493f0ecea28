//! A campaign as text: lines of JSON from which it can be restored, and a story for people.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::lock;
use super::generation::Generation;
use super::label::label;
use super::name::normalized;
use super::notes::CampaignNote;
use super::rows::{ActionRow, GameRow, MomentBody, MomentRow, Piece, action_sum, checkpoint_sum, key, moment_sum};
use super::store::Store;
use super::writer::FileWriter;
use riskbreaker_play::{Checkpoint, Done, Happening, in_one_line};
use riskbreaker_ruleset::typed_text::with_path;
use riskbreaker_ruleset::{ContentHash, system_message};
use riskbreaker_state::{Value, readable_name};

/// The format of the lines. In format 1, hashes of rules did not name their algorithm.
const FORMAT: u32 = 2;

/// One line. The lines are in the order of row numbers, so that two versions of a game differ only at the end.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum TextLine {
    Campaign {
        format: u32,
        #[serde(deserialize_with = "with_path")]
        campaign: GameRow,
    },
    File {
        hash: String,
        text: String,
    },
    Rules {
        hash: String,
        #[serde(deserialize_with = "with_path")]
        rules: Generation,
    },
    Piece {
        id: u32,
        #[serde(deserialize_with = "with_path")]
        piece: Piece,
    },
    Action {
        id: u32,
        after: u32,
        #[serde(deserialize_with = "with_path")]
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
        #[serde(deserialize_with = "with_path")]
        entry: MomentBody,
        /// The decision as text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    Note {
        id: u32,
        #[serde(deserialize_with = "with_path")]
        note: CampaignNote,
    },
    /// For readers only: contains no further data.
    Sheet {
        name: String,
        sheet: Vec<(String, String)>,
    },
}

impl Campaign {
    /// Writes the whole campaign as lines of JSON. [`Store::import`] restores the same game from them.
    ///
    /// # Errors
    ///
    /// The file is damaged, or writing fails.
    pub fn export(&mut self, to: &mut dyn Write) -> Result<(), StoreError> {
        let sheets = self.sheets();
        let (mut file, game) = (self.file(), self.game());
        file.must_be_whole(game)?;
        // The checksum depends on the encoding of the rows: it is computed again.
        let row = GameRow { last: 0, ..self.row().clone() };
        let mut line = |line: &TextLine| -> Result<(), StoreError> {
            let text = serde_json::to_string(line).map_err(|error| StoreError::Refused(error.to_string()))?;
            writeln!(to, "{text}").map_err(|error| output(&error))
        };
        line(&TextLine::Campaign { format: FORMAT, campaign: row.clone() })?;
        let mut hashes: Vec<&String> = file.generations.iter().collect();
        hashes.sort();
        let mut written = std::collections::BTreeSet::new();
        for hash in hashes {
            let rules = file.generation(hash)?;
            for (path, hash) in rules.contents() {
                if let Ok(text) = file.stored_file(path, hash)
                    && written.insert(hash.clone())
                {
                    line(&TextLine::File { hash: hash.clone(), text })?;
                }
            }
            line(&TextLine::Rules { hash: hash.clone(), rules })?;
        }
        for id in file.numbers("piece", game, &row, row.pieces) {
            line(&TextLine::Piece { id, piece: file.piece(game, id)? })?;
        }
        for id in file.numbers("action", game, &row, row.actions) {
            let found = file.action(game, id)?;
            line(&TextLine::Action { id, after: found.parent, action: file.done(&found)? })?;
            if let Some((body, _)) = file.checkpoint(game, id)? {
                line(&TextLine::Checkpoint { action: id, checkpoint: file.words.unpack_value(&body)? })?;
            }
        }
        for id in file.numbers("moment", game, &row, row.moments) {
            let (found, entry) = file.checked_moment(game, id)?;
            let (after, decisions, tip, state) = (found.parent, found.decisions, found.tip, found.state);
            let text = Some(label(&file, game, id)?);
            line(&TextLine::Entry { id, after, decisions, tip, state, entry, text })?;
        }
        for id in file.numbers("note", game, &row, row.notes) {
            line(&TextLine::Note { id, note: file.note(game, id)? })?;
        }
        for (name, sheet) in sheets {
            line(&TextLine::Sheet { name, sheet })?;
        }
        Ok(())
    }

    /// Writes the campaign as a story: scene by scene, entry by entry, and the current sheets.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn story(&mut self, to: &mut dyn Write) -> Result<(), StoreError> {
        self.file().must_be_whole(self.game())?;
        let notes = self.notes()?;
        let mut notes = notes.iter().peekable();
        let mut failed = None;
        let row = self.row().clone();
        writeln!(to, "# {}\n\nBegun {} UTC, last played {} UTC.", row.name, row.made, row.played)
            .map_err(|e| output(&e))?;
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
            writeln!(to, "\n### {}\n", in_one_line(&name)).map_err(|error| output(&error))?;
            for (label, text) in sheet {
                writeln!(to, "- {}: {}", in_one_line(&label), in_one_line(&text)).map_err(|error| output(&error))?;
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

    /// The current sheets, by title. Empty if no scene is running.
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
    /// Reads a campaign from lines of JSON into a file without campaigns. It is replayed from its first entry before it
    /// is written.
    ///
    /// # Errors
    ///
    /// The lines are no campaign; the message has the number of the line. The file has no campaign then.
    pub fn import(&self, from: impl BufRead) -> Result<Campaign, StoreError> {
        if self.first()?.is_some() {
            return Err(StoreError::Refused("the file has a campaign already".into()));
        }
        let mut lines = from.lines().enumerate();
        let read = |at: usize, text: io::Result<String>| -> Result<TextLine, StoreError> {
            let wrong = |message: String| StoreError::Refused(format!("line {}: {message}", at + 1));
            serde_json::from_str(&text.map_err(|error| wrong(error.to_string()))?)
                .map_err(|error| wrong(error.to_string()))
        };
        let (at, first) = lines.next().ok_or_else(|| wrong("there are no lines"))?;
        let first = first.map_err(|error| StoreError::Refused(format!("line 1: {error}")))?;
        if !first.trim_start().starts_with('{') {
            let cure = "these are no lines of JSON; `riskbreaker export FILE --json` writes what can be imported";
            return Err(StoreError::Refused(cure.into()));
        }
        let TextLine::Campaign { format, campaign: row } = read(at, Ok(first))? else {
            return Err(StoreError::Refused("line 1 does not begin a campaign".into()));
        };
        if !(1..=FORMAT).contains(&format) {
            let message = format!("the lines have format {format}; this program reads formats up to {FORMAT}");
            return Err(StoreError::Refused(message));
        }
        let name = normalized(&row.name).map_err(|error| StoreError::Refused(format!("line 1: {error}")))?;
        let mut import = Import { row: GameRow { last: 0, name, ..row }, ..Import::default() };
        {
            let file = &mut *lock(&self.file);
            let generations = file.generations.clone();
            let imported = file.write_checked(
                |to| {
                    to.new_game(0, &import.row.name)?;
                    for (at, text) in lines {
                        import.take(to, read(at, text)?).map_err(|error| match error {
                            StoreError::Refused(message) => StoreError::Refused(format!("line {}: {message}", at + 1)),
                            other => other,
                        })?;
                    }
                    import.finish(to)?;
                    Ok(import.generations)
                },
                |file, generations| {
                    file.generations.extend(generations.iter().cloned());
                    let whole = file.must_be_whole(0);
                    whole.map_err(|error| {
                        let message = match error {
                            StoreError::Damaged { what } => what,
                            other => other.to_string(),
                        };
                        StoreError::Refused(format!("the lines are no whole campaign: {message}"))
                    })
                },
            );
            if imported.is_err() {
                file.generations = generations;
                file.rules.clear();
            }
            imported?;
        }
        Campaign::open(&self.file, 0)
    }
}

/// A campaign that is being read from lines: checksums by number, and rows whose checksum is not known yet.
#[derive(Default)]
struct Import {
    row: GameRow,
    generations: Vec<String>,
    pieces: HashMap<u32, i64>,
    /// Actions without their checksums, which are in `settled` once an entry refers to them.
    actions: HashMap<u32, ActionRow>,
    settled: HashMap<u32, i64>,
    checkpoints: Vec<(u32, Vec<u8>)>,
    moments: HashMap<u32, i64>,
}

impl Import {
    fn take(&mut self, to: &mut FileWriter<'_>, line: TextLine) -> Result<(), StoreError> {
        match line {
            TextLine::Campaign { .. } => return Err(wrong("a second campaign")),
            TextLine::File { hash, text } => {
                if !ContentHash::fits(&hash, text.as_bytes()) {
                    return Err(wrong("a file of the rules that was changed: its hash does not fit"));
                }
                to.source_as(&hash, &text)?;
            }
            TextLine::Rules { hash, rules } => {
                to.generation(&hash, &rules)?;
                self.generations.push(hash);
            }
            // Later rows get numbers after all existing ones, whatever the first line says.
            TextLine::Piece { id, piece } => {
                self.row.pieces = self.row.pieces.max(id);
                if self.pieces.insert(id, to.piece(0, id, &piece)?).is_some() {
                    return Err(wrong("a piece that was there before"));
                }
            }
            TextLine::Action { id, after, action } => {
                if id == 0 || after >= id {
                    return Err(wrong("an action that comes before the one it follows"));
                }
                self.row.actions = self.row.actions.max(id);
                let body = to.words.pack(&action)?;
                self.actions.insert(id, ActionRow { id, parent: after, body, sum: 0 });
            }
            TextLine::Checkpoint { action, checkpoint } => {
                let body = to.words.pack(&checkpoint)?;
                to.words.unpack::<Checkpoint>(&body)?;
                self.checkpoints.push((action, body));
            }
            TextLine::Entry { id, after, decisions, tip, state, entry, text } => {
                if id == 0 || after >= id {
                    return Err(wrong("an entry that comes before the one it follows"));
                }
                if id > self.row.moments {
                    return Err(wrong(&format!("an entry after the last one, which is {}", self.row.moments)));
                }
                let reached = self.settle(tip, entry.scene)?;
                let parent = match after {
                    0 => 0,
                    after => *self.moments.get(&after).ok_or_else(|| wrong("an entry is missing"))?,
                };
                let body = to.words.pack(&entry)?;
                let sum = moment_sum(parent, reached, (decisions, tip, state), &body);
                self.moments.insert(id, sum);
                to.moment(0, &MomentRow { id, parent: after, decisions, tip, state, body, sum })?;
                if let Some(text) = text {
                    to.label(key(0, id), sum, &text)?;
                }
                if id == self.row.moments {
                    self.row.last = sum;
                }
            }
            TextLine::Note { id, note } => {
                self.row.notes = self.row.notes.max(id);
                to.numbered("note", 0, id, &note)?;
            }
            TextLine::Sheet { .. } => {}
        }
        Ok(())
    }

    /// Computes the checksum of an action (of the scene, if there is none) and of its ancestors.
    fn settle(&mut self, tip: u32, scene: u32) -> Result<i64, StoreError> {
        let (mut way, mut at) = (Vec::new(), tip);
        while at != 0 && !self.settled.contains_key(&at) {
            way.push(at);
            at = self.actions.get(&at).ok_or_else(|| wrong("an action is missing"))?.parent;
        }
        let known = if at == 0 { self.pieces.get(&scene) } else { self.settled.get(&at) };
        let mut sum = known.copied().unwrap_or_default();
        for id in way.into_iter().rev() {
            sum = action_sum(sum, &self.actions[&id].body);
            self.settled.insert(id, sum);
        }
        Ok(sum)
    }

    /// Writes the rows that waited for their checksum, and the current entry.
    fn finish(&mut self, to: &mut FileWriter<'_>) -> Result<(), StoreError> {
        let sum = |id: &u32| self.settled.get(id).copied().unwrap_or_default();
        for (id, action) in &mut self.actions {
            action.sum = sum(id);
            to.action(0, action)?;
        }
        for (action, body) in &self.checkpoints {
            to.body("checkpoint", key(0, *action), body, checkpoint_sum(sum(action), body))?;
        }
        let (row, found) = (&self.row, self.moments.len());
        let whole = row.recovered || found == row.moments as usize;
        if !whole || !(row.head == 0 || self.moments.contains_key(&row.head)) {
            let message = format!("the lines hold {found} entries, and should hold {}", row.moments);
            return Err(StoreError::Refused(message));
        }
        to.game(0, row)
    }
}

fn wrong(message: &str) -> StoreError {
    StoreError::Refused(message.to_owned())
}

fn output(error: &io::Error) -> StoreError {
    StoreError::Io { path: "the output".into(), message: system_message(error) }
}
