use serde::{Deserialize, Serialize};

use crate::state::{EntityId, EntryId, Value};

/// The game master's hand: a change that no rule made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Writes a field. The value is checked against the field's type.
    Set { entity: EntityId, field: String, value: Value },
    /// Takes an entity away.
    Remove { entity: EntityId },
    /// Takes an entry off the agenda.
    Cancel { entry: EntryId },
    /// Replaces the faces of a roll of the open action, which is then run again.
    Face { ordinal: u32, faces: Vec<u32> },
    /// Leaves something of the rules out of this game: a hook, an item's hooks, a card, an entry or a free act.
    LeaveOut { name: String },
    /// Takes it in again.
    TakeIn { name: String },
    /// Sets a house rule that the ruleset declares. The value is read as someone types it.
    Switch { name: String, value: Value },
    /// Says something.
    Say { text: String },
}
