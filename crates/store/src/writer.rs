//! Writes rows: each table has one statement that adds to it.

use std::cell::RefCell;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql, params_from_iter};
use serde::Serialize;

use super::disk::WaitingStatement;
use super::error::StoreError;
use super::file::word_sum;
use super::generation::{Files, Generation, compressed, generation_sum};
use super::log::label_sum;
use super::pack::Dictionary;
use super::rows::{ActionRow, GameRow, MomentRow, Piece, game_sum, key, numbered_sum};
use riskbreaker_ruleset::ContentHash;

/// A change of the file in progress.
pub struct FileWriter<'c> {
    connection: &'c Connection,
    pub words: &'c mut Dictionary,
    /// The statements executed in memory, to be repeated on disk.
    change: RefCell<&'c mut Vec<WaitingStatement>>,
}

impl<'c> FileWriter<'c> {
    pub fn new(
        connection: &'c Connection,
        words: &'c mut Dictionary,
        change: &'c mut Vec<WaitingStatement>,
    ) -> FileWriter<'c> {
        FileWriter { connection, words, change: RefCell::new(change) }
    }

    /// Runs a statement with one row. The error lacks the path of the file, which the caller adds with
    /// [`StoreError::at`].
    fn put<const N: usize>(&self, statement: &str, row: [&dyn ToSql; N]) -> Result<(), StoreError> {
        let owned = |value: &&dyn ToSql| {
            Ok(match value.to_sql()? {
                ToSqlOutput::Borrowed(value) => Value::try_from(value).map_err(|_| rusqlite::Error::InvalidQuery)?,
                ToSqlOutput::Owned(value) => value,
                _ => return Err(rusqlite::Error::InvalidQuery),
            })
        };
        let row = row.iter().map(owned).collect::<rusqlite::Result<Vec<Value>>>();
        self.put_values(statement, row.map_err(|error| StoreError::of(Path::new("the file"), &error))?)
    }

    fn put_values(&self, statement: &str, row: Vec<Value>) -> Result<(), StoreError> {
        let done = self.connection.prepare_cached(statement).and_then(|mut known| {
            known.execute(params_from_iter(&row))?;
            self.change.borrow_mut().push(WaitingStatement { text: statement.to_owned(), row });
            Ok(())
        });
        done.map_err(|error| StoreError::of(Path::new("the file"), &error))
    }

    /// Writes a row of any table, as read from another store.
    pub fn row(&self, table: &str, columns: &[String], row: &[Value]) -> Result<(), StoreError> {
        let places: Vec<String> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
        let statement = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        self.put_values(&statement, row.to_vec())
    }

    /// Writes the new texts of the dictionary.
    pub fn new_words(&self) -> Result<(), StoreError> {
        self.words.unstored().try_for_each(|(id, text)| {
            let id = id as i64;
            self.put("INSERT INTO word (id, text, sum) VALUES (?1, ?2, ?3)", [&id, &text, &word_sum(id, text)])
        })
    }

    /// Writes a rule file, compressed, unless it exists. Returns its hash.
    pub fn source(&self, text: &str) -> Result<String, StoreError> {
        let hash = ContentHash::of(text.as_bytes()).to_string();
        self.source_as(&hash, text)?;
        Ok(hash)
    }

    /// Writes a rule file under its hash, which may have the form of an older program.
    pub fn source_as(&self, hash: &str, text: &str) -> Result<(), StoreError> {
        let known = self.connection.prepare_cached("SELECT 1 FROM source WHERE hash = ?1");
        let known = known.and_then(|mut known| known.exists([hash]));
        if !known.map_err(|error| StoreError::of(Path::new("the file"), &error))? {
            let text = compressed(text);
            self.put("INSERT OR IGNORE INTO source (hash, text) VALUES (?1, ?2)", [&hash, &text])?;
        }
        Ok(())
    }

    /// Writes rules with their files.
    pub fn rules(&mut self, hash: &str, rules: &Generation, files: &Files) -> Result<(), StoreError> {
        let hashes = files.iter().map(|(path, text)| Ok((path.to_string(), self.source(text)?)));
        let rules = rules.with_files(hashes.collect::<Result<_, StoreError>>()?);
        self.generation(hash, &rules)
    }

    pub fn generation(&mut self, hash: &str, rules: &Generation) -> Result<(), StoreError> {
        let body = self.words.pack(rules)?;
        self.packed_generation(hash, &body)
    }

    pub fn packed_generation(&self, hash: &str, body: &[u8]) -> Result<(), StoreError> {
        let statement = "INSERT OR IGNORE INTO generation (hash, body, sum) VALUES (?1, ?2, ?3)";
        self.put(statement, [&hash, &body, &generation_sum(hash, body)])
    }

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

    /// Writes the text of an entry. `moment`: the checksum of the entry.
    pub fn label(&self, id: i64, moment: i64, text: &str) -> Result<(), StoreError> {
        self.put("INSERT INTO label (id, text, sum) VALUES (?1, ?2, ?3)", [&id, &text, &label_sum(moment, text)])
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
