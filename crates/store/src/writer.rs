//! A change of the file in progress: executes statements in memory and records them for the disk. The statements of a
//! table are in the file of its rows.

use std::cell::RefCell;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::checksum::word_sum;
use super::disk::WaitingStatement;
use super::error::StoreError;
use super::pack::Dictionary;

/// A change of the file in progress.
pub struct FileWriter<'c> {
    pub(super) connection: &'c Connection,
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
    pub(super) fn put<const N: usize>(&self, statement: &str, row: [&dyn ToSql; N]) -> Result<(), StoreError> {
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
}
