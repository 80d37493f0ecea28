//! The report of the memo: entries that could not be recorded, and values that no trace covered.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Memo;
use super::guard::Guard;
use super::query::{Query, field_words};
use super::recording::Missed;
use super::traces::{Miss, TraceTable};
use riskbreaker_state::{EntityId, FieldId, KindId, Schema, State};

/// A reason why an agenda entry could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NotRecorded {
    /// The agenda entry, or the function of play.luau.
    pub entry: String,
    /// The operation that cannot be recorded.
    pub reason: String,
    /// File and line of the operation, or of the function if no script was running.
    pub place: String,
    /// The number of occurrences.
    pub count: u64,
}

/// A new value in an entry, for which its script had to run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NewBranch {
    /// The agenda entry, or the function of play.luau.
    pub entry: String,
    /// The field, roll or query that had a new value.
    pub met: String,
    /// The number of occurrences.
    pub count: u64,
}

/// The most reasons that are counted.
const MOST_REASONS: usize = 200;

impl Memo {
    /// The reasons why entries were not recorded, the most frequent first.
    pub fn not_recorded(&self) -> Vec<NotRecorded> {
        let row = |((entry, reason, place), count): (&(Arc<str>, &'static str, String), &u64)| NotRecorded {
            entry: entry.to_string(),
            reason: (*reason).to_string(),
            place: place.clone(),
            count: *count,
        };
        let mut rows: Vec<NotRecorded> = self.aborts.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// The new values in entries, the most frequent first.
    pub fn new_branches(&self, schema: &Schema) -> Vec<NewBranch> {
        let mut rows: BTreeMap<(&str, String), u64> = BTreeMap::new();
        for ((entry, missed), count) in &self.missed {
            let met = match missed {
                Missed::Root => "another owner, other arguments, other entities or other attachments".to_owned(),
                Missed::Roll => "another roll".into(),
                Missed::Query(query) => query.words(schema),
                Missed::Field(kind, field) => field_words(schema, *kind, *field),
                Missed::AtLeast(kind, field, least) => {
                    format!("whether {} is at least {least}", field_words(schema, *kind, *field))
                }
            };
            *rows.entry((entry, met)).or_insert(0) += count;
        }
        let row = |((entry, met), count): ((&str, String), u64)| NewBranch { entry: entry.to_owned(), met, count };
        let mut rows: Vec<NewBranch> = rows.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }

    /// Records where a look-up ended.
    #[cold]
    pub(crate) fn note_miss(&mut self, what: &Arc<str>, miss: Miss, table: &TraceTable, state: &State) {
        let missed = match miss {
            Miss::Root => Missed::Root,
            Miss::At(guard) => match (table.query(guard, &self.numbering), guard.kind()) {
                (Some(Query::AtLeast(guard, least)), _) => {
                    let (kind, field) = self.kind_and_field(guard, state);
                    Missed::AtLeast(kind, field, least)
                }
                (Some(query), _) => Missed::Query(query.about(EntityId(0))),
                (None, Guard::FIELD) => {
                    let (kind, field) = self.kind_and_field(guard, state);
                    Missed::Field(kind, field)
                }
                (None, _) => Missed::Roll,
            },
        };
        self.last_missed = Some((what.clone(), missed));
    }

    /// The kind of the entity that a guard on a field reads (`None` if it does not exist), and the field.
    fn kind_and_field(&self, guard: Guard, state: &State) -> (Option<KindId>, FieldId) {
        let (entity, field) = self.numbering.field(guard);
        let entity = self.numbering.entity(entity).and_then(|id| state.entity(id));
        (entity.map(|entity| entity.kind), field)
    }

    /// Counts the new value of the entry or function, which ran to its end and was recorded.
    pub(crate) fn count_miss(&mut self) {
        if let Some(missed) = self.last_missed.take() {
            *self.missed.entry(missed).or_insert(0) += 1;
        }
    }

    pub(crate) fn refuse(&mut self, what: &Arc<str>, reason: &'static str) {
        // Count it once, as an entry that cannot be recorded.
        self.last_missed.take_if(|(missed, _)| missed == what);
        let key = (what.clone(), reason, self.locate.map(|locate| locate()).unwrap_or_default());
        if self.aborts.len() < MOST_REASONS || self.aborts.contains_key(&key) {
            *self.aborts.entry(key).or_insert(0) += 1;
        }
    }
}
