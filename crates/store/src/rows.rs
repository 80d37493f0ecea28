//! The rows of one campaign, read with their checksums verified.

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::file::{StoreFile, sum};
use super::random_number;
use riskbreaker_play::{DecisionCount, Done, Place, Seating, Setup};

/// How a campaign stands: the only row that is written over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GameRow {
    pub name: String,
    /// In universal time.
    pub made: String,
    /// When something was kept last.
    pub played: String,
    /// The moment at which the campaign stands; 0 before the first.
    pub head: u32,
    /// How many rows there are.
    pub moments: u32,
    pub actions: u32,
    pub pieces: u32,
    pub notes: u32,
    /// The sum of the last moment.
    pub last: i64,
    /// Tells it from other campaigns, wherever its file is moved or copied to; empty in files up to format 2.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub identity: String,
    /// Whether it was recovered from a damaged file: then some rows may not be there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

impl GameRow {
    /// Gives an identity to a campaign that has none.
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

/// A moment at which something was kept: a node of the tree of everything that was ever decided.
#[derive(Clone, Debug)]
pub struct MomentRow {
    pub id: u32,
    /// The moment before it; 0 for the first.
    pub parent: u32,
    /// How many decisions stood in its scene.
    pub decisions: u32,
    /// The last action that was done; 0 where none was.
    pub tip: u32,
    /// The hash of the state behind that action.
    pub state: i64,
    pub body: Vec<u8>,
    pub sum: i64,
}

/// What a moment holds besides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentBody {
    /// The piece that says how the scene began; 0 between scenes.
    pub scene: u32,
    /// The piece that says who sits where.
    pub seating: u32,
    /// The piece with the characters; 0 where there are none.
    pub roster: u32,
    /// What was done, where the tape does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl MomentBody {
    /// Splits the number of decisions in the row into those that were made and those that wait.
    pub fn counted(&self, decisions: u32) -> DecisionCount {
        let made = self.place.as_ref().map_or(decisions, |place| place.made().min(decisions));
        DecisionCount { made, waiting: decisions - made }
    }
}

/// How a scene began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scene {
    pub title: String,
    /// The hash of the rules that it began by.
    pub rules: String,
    pub setup: Setup,
}

/// What is kept as a piece.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    Scene(Scene),
    Seating(Seating),
    Roster(super::roster::Roster),
}

/// The number of a row in its table.
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

/// That of a row of `piece` or `note`.
pub fn numbered_sum(table: &str, id: i64, body: &[u8]) -> i64 {
    sum(&[table.as_bytes(), &id.to_le_bytes(), body])
}

impl StoreFile {
    /// The numbers of the campaigns, in the order of their making.
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
            return Err(StoreError::damaged("the place at which the campaign stands"));
        }
        self.words.unpack(&body)
    }

    pub fn action(&self, game: u32, id: u32) -> Result<ActionRow, StoreError> {
        let row = self.find("SELECT parent, body, sum FROM action WHERE id = ?1", [key(game, id)], |row| {
            Ok(ActionRow { id, parent: row.get(0)?, body: row.get(1)?, sum: row.get(2)? })
        })?;
        row.ok_or_else(|| StoreError::damaged(format!("action {id} of the tape is missing")))
    }

    /// The numbers of the rows that a campaign has in a table, from 1 to `last`. Only one that was recovered lacks some.
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

    /// The checkpoint behind an action, as it is packed, with the sum of the action. The checkpoint's own sum is checked.
    pub fn checkpoint(&self, game: u32, action: u32) -> Result<Option<(Vec<u8>, i64)>, StoreError> {
        let Some((body, known)) = self.body("checkpoint", key(game, action))? else { return Ok(None) };
        let sum = self.action(game, action)?.sum;
        if known != checkpoint_sum(sum, &body) {
            return Err(StoreError::damaged(format!("the checkpoint behind action {action}")));
        }
        Ok(Some((body, sum)))
    }

    /// The sum of an action, or that of the scene for what stands before its first.
    pub fn sum_of(&self, game: u32, action: u32, scene: u32) -> Result<i64, StoreError> {
        match action {
            0 if scene == 0 => Ok(0),
            0 => Ok(self.numbered("piece", game, scene)?.1),
            id => Ok(self.action(game, id)?.sum),
        }
    }

    /// An action with its sum checked.
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

    /// The sums of the moments from `first` to `last`; 0 for one that is missing.
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

    /// The moments that follow one, the oldest first.
    pub fn moments_after(&self, game: u32, parent: u32) -> Result<Vec<u32>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let (first, last) = (key(game, 0), key(game + 1, 0));
        let mut statement = self
            .connection
            .prepare("SELECT id FROM moment WHERE parent = ?1 AND id >= ?2 AND id < ?3 ORDER BY id")
            .map_err(failed)?;
        let ids = statement.query_map((key(game, parent), first, last), |row| row.get::<_, i64>(0)).map_err(failed)?;
        ids.map(|id| id.map(|id| id as u32).map_err(failed)).collect()
    }

    /// A moment with its sum checked, and what it holds.
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

    /// A row of `piece` or `note`, with its sum checked.
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
