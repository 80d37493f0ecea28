//! The rows of a campaign: written with checksums, and read with verified ones.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checksum::sum;
use super::error::StoreError;
use super::file::StoreFile;
use super::random::random_number;
use super::writer::FileWriter;
use riskbreaker_play::{DecisionCount, Done, Place, Seating, Setup};

/// The state of a campaign: the only row that is overwritten.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GameRow {
    pub name: String,
    /// The time of its creation, in UTC.
    pub made: String,
    /// The time of the last write, in UTC.
    pub played: String,
    /// The current entry; 0 before the first.
    pub head: u32,
    /// The numbers of rows.
    pub moments: u32,
    pub actions: u32,
    pub pieces: u32,
    pub notes: u32,
    /// The checksum of the last entry.
    pub last: i64,
    /// Identifies the campaign, wherever its file is moved or copied to; empty in files up to format 2.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub identity: String,
    /// True if it was recovered from a damaged file: some rows may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

impl GameRow {
    /// Sets a random identity unless the campaign has one.
    pub fn have_identity(&mut self) {
        if self.identity.is_empty() {
            self.identity = format!("{:016x}{:016x}", random_number(), random_number());
        }
    }
}

/// An action of the tape.
#[derive(Clone, Debug)]
pub struct ActionRow {
    pub id: u32,
    /// The action before it; 0 for the first of a scene.
    pub parent: u32,
    pub body: Vec<u8>,
    pub sum: i64,
}

/// An entry: a node of the tree of all decisions.
#[derive(Clone, Debug)]
pub struct MomentRow {
    pub id: u32,
    /// The entry before it; 0 for the first.
    pub parent: u32,
    /// The number of decisions in its scene.
    pub decisions: u32,
    /// The last finished action; 0 if there is none.
    pub tip: u32,
    /// The hash of the state after that action.
    pub state: i64,
    pub body: Vec<u8>,
    pub sum: i64,
}

/// The further content of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentBody {
    /// The piece with the beginning of the scene; 0 between scenes.
    pub scene: u32,
    /// The piece with the drivers of the seats.
    pub seating: u32,
    /// The piece with the characters; 0 if there are none.
    pub roster: u32,
    /// A decision that is not on the tape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl MomentBody {
    /// Splits the number of decisions in the row into those made and those waiting.
    pub fn counted(&self, decisions: u32) -> DecisionCount {
        let made = self.place.as_ref().map_or(decisions, |place| place.made().min(decisions));
        DecisionCount { made, waiting: decisions - made }
    }
}

/// The beginning of a scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scene {
    pub title: String,
    /// The hash of the rules with which it began.
    pub rules: String,
    pub setup: Setup,
}

/// The content of a piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    Scene(Scene),
    Seating(Seating),
    Roster(super::roster::Roster),
}

/// The row id in a table.
pub fn key(game: u32, id: u32) -> i64 {
    (i64::from(game) << 32) | i64::from(id)
}

pub fn game_sum(id: u32, body: &[u8]) -> i64 {
    sum(&[b"game", &id.to_le_bytes(), body])
}

pub fn action_sum(parent: i64, body: &[u8]) -> i64 {
    sum(&[b"action", &parent.to_le_bytes(), body])
}

pub fn moment_sum(parent: i64, tip: i64, numbers: (u32, u32, i64), body: &[u8]) -> i64 {
    let (decisions, action, state) = numbers;
    let numbers = [u64::from(decisions).to_le_bytes(), u64::from(action).to_le_bytes(), state.to_le_bytes()];
    sum(&[b"moment", &parent.to_le_bytes(), &tip.to_le_bytes(), &numbers.concat(), body])
}

pub fn checkpoint_sum(action: i64, body: &[u8]) -> i64 {
    sum(&[b"checkpoint", &action.to_le_bytes(), body])
}

/// The checksum of a row of `piece` or `note`.
pub fn numbered_sum(table: &str, id: i64, body: &[u8]) -> i64 {
    sum(&[table.as_bytes(), &id.to_le_bytes(), body])
}

impl StoreFile {
    /// The numbers of the campaigns, in the order of their creation.
    pub fn games(&self) -> Result<Vec<u32>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = self.connection.prepare("SELECT id FROM game ORDER BY id").map_err(failed)?;
        let ids = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        ids.collect::<Result<_, _>>().map_err(failed)
    }

    /// A campaign by its number.
    pub fn game(&self, id: u32) -> Result<GameRow, StoreError> {
        let (body, known) = self.body("game", i64::from(id))?.ok_or_else(|| StoreError::damaged("a campaign"))?;
        if known != game_sum(id, &body) {
            return Err(StoreError::damaged("the current entry of the campaign"));
        }
        self.words.unpack(&body)
    }

    pub fn action(&self, game: u32, id: u32) -> Result<ActionRow, StoreError> {
        let row = self.find("SELECT parent, body, sum FROM action WHERE id = ?1", [key(game, id)], |row| {
            Ok(ActionRow { id, parent: row.get(0)?, body: row.get(1)?, sum: row.get(2)? })
        })?;
        row.ok_or_else(|| StoreError::damaged(format!("action {id} of the tape is missing")))
    }

    /// The row numbers of a campaign in a table, from 1 to `last`. Only a recovered campaign has gaps.
    pub fn numbers(
        &self,
        table: &'static str,
        game: u32,
        row: &GameRow,
        last: u32,
    ) -> impl DoubleEndedIterator<Item = u32> {
        let recovered = row.recovered;
        (1..=last).filter(move |id| !recovered || self.has(table, key(game, *id)))
    }

    /// The encoded checkpoint after an action, with the checksum of the action. Verifies the checkpoint's own checksum.
    pub fn checkpoint(&self, game: u32, action: u32) -> Result<Option<(Vec<u8>, i64)>, StoreError> {
        let Some((body, known)) = self.body("checkpoint", key(game, action))? else { return Ok(None) };
        let sum = self.action(game, action)?.sum;
        if known != checkpoint_sum(sum, &body) {
            return Err(StoreError::damaged(format!("the checkpoint after action {action}")));
        }
        Ok(Some((body, sum)))
    }

    /// The checksum of an action; that of the scene before its first action.
    pub fn sum_of(&self, game: u32, action: u32, scene: u32) -> Result<i64, StoreError> {
        match action {
            0 if scene == 0 => Ok(0),
            0 => Ok(self.numbered("piece", game, scene)?.1),
            id => Ok(self.action(game, id)?.sum),
        }
    }

    /// Reads an action and verifies its checksum.
    pub fn checked_action(&self, game: u32, id: u32, scene: u32) -> Result<ActionRow, StoreError> {
        let row = self.action(game, id)?;
        if row.parent >= id || row.sum != action_sum(self.sum_of(game, row.parent, scene)?, &row.body) {
            return Err(StoreError::damaged(format!("action {id} of the tape")));
        }
        Ok(row)
    }

    pub fn done(&self, row: &ActionRow) -> Result<Done, StoreError> {
        self.words.unpack(&row.body)
    }

    pub fn moment(&self, game: u32, id: u32) -> Result<MomentRow, StoreError> {
        let query = "SELECT parent, decisions, tip, state, body, sum FROM moment WHERE id = ?1";
        let row = self.find(query, [key(game, id)], |row| moment_of(id, row))?;
        row.ok_or_else(|| StoreError::damaged(format!("entry {id} is missing")))
    }

    /// The checksums of the entries from `first` to `last`; 0 for a missing one.
    pub fn moment_sums(&self, game: u32, first: u32, last: u32) -> Result<Vec<i64>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut sums = vec![0; (last + 1).saturating_sub(first) as usize];
        let mut statement =
            self.connection.prepare("SELECT id, sum FROM moment WHERE id >= ?1 AND id <= ?2").map_err(failed)?;
        let mut rows = statement.query((key(game, first), key(game, last))).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let at = row.get::<_, i64>(0).map_err(failed)? - key(game, first);
            if let Some(sum) = usize::try_from(at).ok().and_then(|at| sums.get_mut(at)) {
                *sum = row.get(1).map_err(failed)?;
            }
        }
        Ok(sums)
    }

    /// The entries that follow one, oldest first.
    pub fn moments_after(&self, game: u32, parent: u32) -> Result<Vec<u32>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let (first, last) = (key(game, 0), key(game + 1, 0));
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM moment WHERE parent = ?1 AND id >= ?2 AND id < ?3 ORDER BY id")
            .map_err(failed)?;
        let ids = statement.query_map((key(game, parent), first, last), |row| row.get::<_, i64>(0)).map_err(failed)?;
        ids.map(|id| id.map(|id| id as u32).map_err(failed)).collect()
    }

    /// Reads an entry with its content and verifies its checksum.
    pub fn checked_moment(&self, game: u32, id: u32) -> Result<(MomentRow, MomentBody), StoreError> {
        let row = self.moment(game, id)?;
        let body: MomentBody = self.words.unpack(&row.body)?;
        let parent = match row.parent {
            0 => 0,
            parent if parent < id => self.moment(game, parent)?.sum,
            _ => return Err(StoreError::damaged(format!("entry {id}"))),
        };
        let tip = self.sum_of(game, row.tip, body.scene)?;
        if row.sum != moment_sum(parent, tip, (row.decisions, row.tip, row.state), &row.body) {
            return Err(StoreError::damaged(format!("entry {id}")));
        }
        Ok((row, body))
    }

    /// Reads a row of `piece` or `note` and verifies its checksum.
    pub fn numbered(&self, table: &str, game: u32, id: u32) -> Result<(Vec<u8>, i64), StoreError> {
        let key = key(game, id);
        let (body, known) =
            self.body(table, key)?.ok_or_else(|| StoreError::damaged(format!("{table} {id} is missing")))?;
        if known != numbered_sum(table, key, &body) {
            return Err(StoreError::damaged(format!("{table} {id}")));
        }
        Ok((body, known))
    }

    pub fn piece(&self, game: u32, id: u32) -> Result<Piece, StoreError> {
        self.words.unpack(&self.numbered("piece", game, id)?.0)
    }

    pub fn scene(&self, game: u32, id: u32) -> Result<Scene, StoreError> {
        match self.piece(game, id)? {
            Piece::Scene(scene) => Ok(scene),
            _ => Err(StoreError::damaged(format!("piece {id} is no scene"))),
        }
    }

    pub fn seating(&self, game: u32, id: u32) -> Result<Seating, StoreError> {
        match self.piece(game, id)? {
            Piece::Seating(seating) => Ok(seating),
            _ => Err(StoreError::damaged(format!("piece {id} is no seating"))),
        }
    }
}

impl FileWriter<'_> {
    /// Writes a campaign with its number and name, before its state is known.
    pub fn new_game(&self, id: u32, name: &str) -> Result<(), StoreError> {
        self.put("INSERT INTO game (id, name, body, sum) VALUES (?1, ?2, x'', 0)", [&id, &name])
    }

    /// Overwrites the state of a campaign, the only row that is overwritten.
    pub fn game(&mut self, id: u32, row: &GameRow) -> Result<(), StoreError> {
        let body = self.words.pack(row)?;
        let sum = game_sum(id, &body);
        self.put("UPDATE game SET body = ?2, sum = ?3 WHERE id = ?1", [&id, &body, &sum])
    }

    pub fn action(&self, game: u32, row: &ActionRow) -> Result<(), StoreError> {
        let statement = "INSERT INTO action (id, parent, body, sum) VALUES (?1, ?2, ?3, ?4)";
        self.put(statement, [&key(game, row.id), &row.parent, &row.body, &row.sum])
    }

    pub fn moment(&self, game: u32, row: &MomentRow) -> Result<(), StoreError> {
        let MomentRow { id, parent, decisions, tip, state, body, sum } = row;
        self.put(
            "INSERT INTO moment (id, parent, decisions, tip, state, body, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            [&key(game, *id), &key(game, *parent), decisions, tip, state, body, sum],
        )
    }

    pub fn piece(&mut self, game: u32, id: u32, piece: &Piece) -> Result<i64, StoreError> {
        self.numbered("piece", game, id, piece)
    }

    /// Writes a row of `piece` or `note`. Returns its checksum.
    pub fn numbered(&mut self, table: &str, game: u32, id: u32, row: &impl Serialize) -> Result<i64, StoreError> {
        let (id, body) = (key(game, id), self.words.pack(row)?);
        let sum = numbered_sum(table, id, &body);
        self.body(table, id, &body, sum)?;
        Ok(sum)
    }

    /// The last row id of a campaign in a table.
    pub fn last_id(&self, table: &str, game: u32) -> Result<Option<i64>, StoreError> {
        let query = format!("SELECT max(id) FROM {table} WHERE id >= ?1 AND id < ?2");
        let range = (key(game, 0), key(game + 1, 0));
        let found = self.connection.prepare_cached(&query).and_then(|mut last| last.query_row(range, |row| row.get(0)));
        found.map_err(|error| StoreError::of(Path::new("the file"), &error))
    }

    /// Writes a row of a table with only a body and a checksum: `piece`, `note` and `checkpoint`.
    pub fn body(&self, table: &str, id: i64, body: &[u8], sum: i64) -> Result<(), StoreError> {
        self.put(&format!("INSERT OR IGNORE INTO {table} (id, body, sum) VALUES (?1, ?2, ?3)"), [&id, &body, &sum])
    }
}

fn moment_of(id: u32, row: &rusqlite::Row<'_>) -> rusqlite::Result<MomentRow> {
    let parent: i64 = row.get(0)?;
    Ok(MomentRow {
        id,
        parent: parent as u32,
        decisions: row.get(1)?,
        tip: row.get(2)?,
        state: row.get(3)?,
        body: row.get(4)?,
        sum: row.get(5)?,
    })
}

/// The actions after `from` up to `to`, oldest first.
pub(super) fn actions_between(
    file: &StoreFile,
    game: u32,
    from: u32,
    to: u32,
    scene: u32,
) -> Result<Arc<[Done]>, StoreError> {
    let (mut done, mut at) = (Vec::new(), to);
    while at != from {
        if at < from {
            return Err(StoreError::damaged(format!("the tape between the actions {from} and {to}")));
        }
        let row = file.checked_action(game, at, scene)?;
        done.push(file.done(&row)?);
        at = row.parent;
    }
    done.reverse();
    Ok(done.into())
}
