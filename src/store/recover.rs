//! Makes a whole file from a damaged one. It keeps every row whose checksum is right, if the rows that it builds on are kept,
//! too.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use serde::Serialize;

use super::error::StoreError;
use super::file::{Access, StoreFile, word_sum};
use super::generation::{Generation, generation_sum};
use super::lock::{Lock, beside, told};
use super::notes::note_sum;
use super::pack::Words;
use super::pages::rows;
use super::rows::{GameRow, MomentBody, Piece, action_sum, checkpoint_sum, game_sum, moment_sum, piece_sum};
use crate::play::{Checkpoint, Done};
use crate::ruleset::{ContentHash, Library};

/// What was saved of a damaged file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// Where the damaged file is kept.
    pub damaged: PathBuf,
    /// What was saved of each campaign.
    pub campaigns: Vec<RecoveredCampaign>,
    /// What is lost, a sentence each.
    pub lost: Vec<String>,
}

/// What was saved of one campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveredCampaign {
    /// The name of the campaign.
    pub name: String,
    /// Entries that are there again.
    pub entries: u32,
    /// Entries that the file said it had; nothing where that could not be read.
    pub had: Option<u32>,
    /// The entry at which it stands now, and where it stood.
    pub head: u32,
    /// The entry where it stood, if that can still be read.
    pub stood: Option<u32>,
}

/// A row of an entry: parent, decisions, action, hash of the state, body, sum.
type FoundMoment = (i64, u32, u32, i64, Vec<u8>, i64);

/// What was found, by its number.
#[derive(Default)]
struct Salvage {
    words: BTreeMap<i64, String>,
    sources: BTreeMap<String, String>,
    generations: BTreeMap<String, Vec<u8>>,
    games: BTreeMap<i64, (String, Vec<u8>)>,
    actions: BTreeMap<i64, (i64, Vec<u8>, i64)>,
    moments: BTreeMap<i64, FoundMoment>,
    /// Of checkpoints, pieces and notes, which their sums tell apart.
    bodies: BTreeMap<i64, Vec<(Vec<u8>, i64)>>,
}

/// Saves what can be read of a damaged file. The damaged file is kept beside it, with `-damaged` behind its name.
///
/// # Errors
///
/// The file cannot be read or written, or nothing can be read in it. It is as it was then.
pub fn recover(path: impl AsRef<Path>, library: &Library) -> Result<Recovery, StoreError> {
    let path = path.as_ref();
    let io = |error: std::io::Error| StoreError::Io { path: path.to_path_buf(), message: told(&error) };
    let lock = Lock::take(path)?;
    let bytes = fs::read(path).map_err(io)?;
    let found = Salvage::of(&bytes);
    let draft = beside(path, "recovering");
    let _ = fs::remove_file(&draft);
    let written = found.write(path, &draft, library);
    let mut recovery = match written {
        Ok(recovery) if recovery.campaigns.iter().any(|campaign| campaign.entries > 0) => recovery,
        Ok(_) => {
            let _ = fs::remove_file(&draft);
            return Err(StoreError::damaged("no entry of any campaign can be read in it"));
        }
        Err(error) => {
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
    };
    let mut damaged = beside(path, "damaged");
    for more in 2.. {
        if !damaged.exists() {
            break;
        }
        damaged = beside(path, &format!("damaged-{more}"));
    }
    // The journal belongs to the damaged file: it must not be played into the new one.
    let journal = beside(path, "journal");
    if journal.exists() {
        fs::rename(&journal, beside(&damaged, "journal")).map_err(io)?;
    }
    fs::rename(path, &damaged).map_err(io)?;
    fs::rename(&draft, path).map_err(io)?;
    drop(lock);
    recovery.damaged = damaged;
    Ok(recovery)
}

impl Salvage {
    fn of(bytes: &[u8]) -> Salvage {
        let mut found = Salvage::default();
        for row in rows(bytes) {
            let id = row.id;
            match row.columns.as_slice() {
                [Value::Null, Value::Text(text), Value::Integer(known)] if *known == word_sum(id, text) => {
                    found.words.insert(id, text.clone());
                }
                [Value::Null, Value::Text(hash), Value::Text(text)]
                    if ContentHash::of(text.as_bytes()).to_string() == *hash =>
                {
                    found.sources.insert(hash.clone(), text.clone());
                }
                [Value::Null, Value::Text(name), Value::Blob(body), Value::Integer(known)] => {
                    if *known == generation_sum(name, body) {
                        found.generations.insert(name.clone(), body.clone());
                    } else if u32::try_from(id).is_ok_and(|id| *known == game_sum(id, body)) {
                        found.games.insert(id, (name.clone(), body.clone()));
                    }
                }
                [Value::Null, Value::Integer(parent), Value::Blob(body), Value::Integer(known)] => {
                    found.actions.insert(id, (*parent, body.clone(), *known));
                }
                [
                    Value::Null,
                    Value::Integer(parent),
                    Value::Integer(decisions),
                    Value::Integer(tip),
                    Value::Integer(state),
                    Value::Blob(body),
                    Value::Integer(known),
                ] => {
                    let (Ok(decisions), Ok(tip)) = (u32::try_from(*decisions), u32::try_from(*tip)) else { continue };
                    found.moments.insert(id, (*parent, decisions, tip, *state, body.clone(), *known));
                }
                [Value::Null, Value::Blob(body), Value::Integer(known)] => {
                    found.bodies.entry(id).or_default().push((body.clone(), *known));
                }
                _ => {}
            }
        }
        found
    }

    /// Writes what holds into a new file.
    fn write(&self, path: &Path, draft: &Path, library: &Library) -> Result<Recovery, StoreError> {
        let mut recovery = Recovery::default();
        let mut lose = |what: String| recovery.lost.push(what);
        let mut texts = Vec::new();
        while let Some(text) = self.words.get(&(texts.len() as i64)) {
            texts.push(text.clone());
        }
        let most = self.words.keys().next_back().map_or(0, |last| *last as usize + 1);
        if texts.len() < most {
            lose(format!("{} entries of the dictionary", most - texts.len()));
            // Rows that need those are lost with them; the numbers of the others stay.
            while texts.len() < most {
                let known = self.words.get(&(texts.len() as i64)).cloned();
                texts.push(known.unwrap_or_else(|| format!("\u{0}{}", texts.len())));
            }
        }
        let gone: Vec<u64> = (0..most as i64).filter(|id| !self.words.contains_key(id)).map(|id| id as u64).collect();
        let words = Words::of(texts.clone()).without(gone);
        let mut file = StoreFile::open(draft, library.clone(), Access::Write, true)?;
        let failed = |error: rusqlite::Error| StoreError::of(draft, &error);
        let transaction = file.connection.transaction().map_err(failed)?;
        for (id, text) in texts.iter().enumerate() {
            let id = id as i64;
            transaction
                .execute("INSERT INTO word (id, text, sum) VALUES (?1, ?2, ?3)", (id, text, word_sum(id, text)))
                .map_err(failed)?;
        }
        for (hash, text) in &self.sources {
            transaction.execute("INSERT INTO source (hash, text) VALUES (?1, ?2)", (hash, text)).map_err(failed)?;
        }
        let mut whole_rules = Vec::new();
        for (hash, body) in &self.generations {
            let generation: Option<Generation> = words.unpack(body).ok();
            let whole = generation
                .as_ref()
                .is_some_and(|generation| generation.contents().all(|content| self.sources.contains_key(content)));
            if !whole {
                lose(format!(
                    "files of the rules {hash}: they are played by those on the disk where these are the same"
                ));
            }
            if generation.is_some() {
                whole_rules.push(hash.clone());
                transaction
                    .execute(
                        "INSERT INTO generation (hash, body, sum) VALUES (?1, ?2, ?3)",
                        (hash, body, generation_sum(hash, body)),
                    )
                    .map_err(failed)?;
            }
        }
        let games: std::collections::BTreeSet<i64> =
            self.games.keys().copied().chain(self.moments.keys().map(|id| id >> 32)).collect();
        for game in games {
            let known: Option<GameRow> = self.games.get(&game).and_then(|(_, body)| words.unpack(body).ok());
            let name = known.as_ref().map(|row| row.name.clone()).or_else(|| Some(self.games.get(&game)?.0.clone()));
            let fallback = match game {
                0 => path.file_stem().map_or_else(|| "campaign".into(), |stem| stem.to_string_lossy().into_owned()),
                game => format!("campaign {game}"),
            };
            let mut row = GameRow { name: name.unwrap_or(fallback), ..known.clone().unwrap_or_default() };
            if known.is_none() {
                lose(format!("where the campaign {} stood; it stands at its last entry now", row.name));
            }
            let first = game << 32;
            let last = (game + 1) << 32;
            // Pieces and notes stand by themselves.
            let mut pieces: HashMap<u32, (i64, Piece)> = HashMap::new();
            let (mut most_pieces, mut most_notes) = (0, 0);
            for (id, bodies) in self.bodies.range(first..last) {
                for (body, known) in bodies {
                    if *known == piece_sum(*id, body) {
                        let Ok(piece) = words.unpack::<Piece>(body) else { continue };
                        pieces.insert(*id as u32, (*known, piece));
                        most_pieces = most_pieces.max(*id as u32);
                        insert(&transaction, "piece", *id, body, *known).map_err(failed)?;
                    } else if *known == note_sum(*id, body) && words.unpack_value(body).is_ok() {
                        most_notes = most_notes.max(*id as u32);
                        insert(&transaction, "note", *id, body, *known).map_err(failed)?;
                    }
                }
            }
            let scenes: Vec<i64> = pieces
                .values()
                .filter(|(_, piece)| matches!(piece, Piece::Scene(scene) if whole_rules.contains(&scene.rules)))
                .map(|(sum, _)| *sum)
                .collect();
            // An action holds if its parent does.
            let mut actions: HashMap<u32, i64> = HashMap::new();
            let mut most_actions = 0;
            for (id, (parent, body, known)) in self.actions.range(first..last) {
                let holds = match *parent {
                    0 => scenes.iter().any(|scene| *known == action_sum(*scene, body)),
                    parent => u32::try_from(parent)
                        .ok()
                        .and_then(|parent| actions.get(&parent))
                        .is_some_and(|sum| *known == action_sum(*sum, body)),
                };
                most_actions = most_actions.max(*id as u32);
                if !holds || words.unpack::<Done>(body).is_err() {
                    continue;
                }
                actions.insert(*id as u32, *known);
                transaction
                    .execute(
                        "INSERT INTO action (id, parent, body, sum) VALUES (?1, ?2, ?3, ?4)",
                        (id, parent, body, known),
                    )
                    .map_err(failed)?;
                for (body, sum) in self.bodies.get(id).into_iter().flatten() {
                    if *sum == checkpoint_sum(*known, body) && words.unpack::<Checkpoint>(body).is_ok() {
                        insert(&transaction, "checkpoint", *id, body, *sum).map_err(failed)?;
                    }
                }
            }
            // An entry holds if its parent, its action and its pieces do.
            let mut moments: BTreeMap<u32, (u32, i64)> = BTreeMap::new();
            let mut had = 0;
            for (id, (parent, decisions, tip, state, body, known)) in self.moments.range(first..last) {
                had = had.max(*id as u32);
                let Ok(of) = words.unpack::<MomentBody>(body) else { continue };
                let before = *parent as u32;
                let parent_sum = match before {
                    0 => Some(0),
                    before => moments.get(&before).map(|(_, sum)| *sum),
                };
                let tip_sum = match (*tip, of.scene) {
                    (0, 0) => Some(0),
                    (0, scene) => pieces.get(&scene).map(|(sum, _)| *sum),
                    (tip, _) => actions.get(&tip).copied(),
                };
                let there = [of.scene, of.seating, of.roster].iter().all(|id| *id == 0 || pieces.contains_key(id));
                let (Some(parent_sum), Some(tip_sum), true) = (parent_sum, tip_sum, there) else { continue };
                if *known != moment_sum(parent_sum, tip_sum, (*decisions, *tip, *state), body) {
                    continue;
                }
                moments.insert(*id as u32, (before, *known));
                transaction
                    .execute(
                        "INSERT INTO moment (id, parent, decisions, tip, state, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                        (id, parent, decisions, tip, state, body, known),
                    )
                    .map_err(failed)?;
            }
            let stood = known.as_ref().map(|row| row.head);
            let had = known.as_ref().map_or(had, |row| row.moments.max(had));
            // Where it stood, or else the last entry before that on its way, or else the last one before it.
            let mut head = stood.unwrap_or(had);
            while head != 0 && !moments.contains_key(&head) {
                let parent = self.moments.get(&(first | i64::from(head))).map(|(parent, ..)| *parent as u32);
                head = match parent {
                    Some(parent) if parent < head => parent,
                    _ => moments.range(..head).next_back().map_or(0, |(id, _)| *id),
                };
            }
            let lost = had as usize - moments.len();
            if lost > 0 {
                lose(format!("{lost} of {had} entries of {}", row.name));
            }
            row.head = head;
            row.moments = moments.keys().next_back().copied().unwrap_or(0);
            row.last = moments.values().next_back().map_or(0, |(_, sum)| *sum);
            row.actions = row.actions.max(most_actions);
            row.pieces = row.pieces.max(most_pieces);
            row.notes = most_notes;
            row.recovered = true;
            let mut words = Words::of(texts.clone());
            let body = words.pack(&row)?;
            for (id, text) in words.unstored() {
                let id = id as i64;
                transaction
                    .execute("INSERT INTO word (id, text, sum) VALUES (?1, ?2, ?3)", (id, text, word_sum(id, text)))
                    .map_err(failed)?;
            }
            texts.extend(words.unstored().map(|(_, text)| text.to_owned()).collect::<Vec<_>>());
            let id = game as u32;
            transaction
                .execute(
                    "INSERT INTO game (id, name, body, sum) VALUES (?1, ?2, ?3, ?4)",
                    (game, &row.name, &body, game_sum(id, &body)),
                )
                .map_err(failed)?;
            let had = known.as_ref().map(|row| row.moments);
            recovery.campaigns.push(RecoveredCampaign {
                name: row.name,
                entries: moments.len() as u32,
                had,
                head,
                stood,
            });
        }
        transaction.commit().map_err(failed)?;
        Ok(recovery)
    }
}

fn insert(connection: &rusqlite::Connection, table: &str, id: i64, body: &[u8], known: i64) -> rusqlite::Result<()> {
    let statement = format!("INSERT OR IGNORE INTO {table} (id, body, sum) VALUES (?1, ?2, ?3)");
    connection.execute(&statement, (id, body, known)).map(|_| ())
}
