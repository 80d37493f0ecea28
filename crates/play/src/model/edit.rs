//! Manual edits, as data.

use serde::{Deserialize, Serialize};

use riskbreaker_state::{EntityId, EntryId, Value};

/// A manual change by the game master.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub enum Edit {
    /// Writes a field. The value is checked against the field's type. If `field` names a relation, it makes a relation to the
    /// entity given as the value, or ends all such relations of the entity if the value is empty.
    Set {
        /// The entity.
        entity: EntityId,
        /// The name of a field of it, or of a relation.
        field: String,
        /// The new value.
        value: Value,
    },
    /// Removes an entity and its relations.
    Remove {
        /// The entity.
        entity: EntityId,
    },
    /// Takes an entry off the agenda.
    Cancel {
        /// The entry, as a view lists it.
        entry: EntryId,
    },
    /// Replaces the faces of a roll of the open action, which is then run again.
    Face {
        /// The place of the roll in the open action, from 0.
        ordinal: u32,
        /// The faces in the order of the roll.
        faces: Vec<u32>,
    },
    /// Disables a part of the rules in this game: a hook, an item's hooks, a card, an entry or a free act.
    LeaveOut {
        /// A card, hook, entry or free act.
        name: String,
    },
    /// Enables it again.
    TakeIn {
        /// The name of a disabled part.
        name: String,
    },
    /// Sets a house rule that the ruleset declares. The value is read as someone types it.
    Switch {
        /// The name of the house rule.
        name: String,
        /// Its new value.
        value: Value,
    },
    /// Writes a line into the log.
    Say {
        /// The line.
        text: String,
    },
    /// Skips this many words of the dice generator, so that later rolls have other results.
    OtherDice {
        /// The number of words to skip.
        words: u64,
    },
}

impl Edit {
    /// The value that the edit writes into the game, if it writes one.
    pub(crate) fn value(&self) -> Option<&Value> {
        match self {
            Edit::Set { value, .. } | Edit::Switch { value, .. } => Some(value),
            Edit::Remove { .. }
            | Edit::Cancel { .. }
            | Edit::Face { .. }
            | Edit::LeaveOut { .. }
            | Edit::TakeIn { .. }
            | Edit::Say { .. }
            | Edit::OtherDice { .. } => None,
        }
    }
}
