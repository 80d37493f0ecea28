use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attachment, AttachmentId, Entity, EntityId, Entry, EntryId, FieldId, Key, Value};

/// One change of a [`State`](super::State), with all data needed to undo it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Set {
        entity: EntityId,
        field: FieldId,
        from: Value,
        to: Value,
    },
    Spawn {
        entity: EntityId,
        made: Entity,
    },
    Remove {
        entity: EntityId,
        was: Entity,
    },
    Schedule {
        entry: Entry,
    },
    Unschedule {
        entry: Entry,
    },
    Rekey {
        id: EntryId,
        from: Key,
        to: Key,
    },
    Attach {
        id: AttachmentId,
        made: Attachment,
    },
    Detach {
        id: AttachmentId,
        was: Attachment,
    },
    /// The data of an attachment.
    Data {
        id: AttachmentId,
        from: Value,
        to: Value,
    },
    /// The game master disables a part of the rules, or enables it again.
    LeaveOut {
        name: Arc<str>,
        out: bool,
    },
    /// The game ended with this outcome.
    Finish {
        from: Option<String>,
        to: Option<String>,
    },
}

impl Change {
    /// True if [`State::make_again`](super::State::make_again) supports the change: no entity or attachment is added or
    /// removed, and no number is drawn.
    pub fn can_be_made_again(&self) -> bool {
        match self {
            Change::Schedule { entry } => entry.numbered.is_none(),
            Change::Set { .. } | Change::Unschedule { .. } | Change::Rekey { .. } | Change::Finish { .. } => true,
            Change::Spawn { .. }
            | Change::Remove { .. }
            | Change::Attach { .. }
            | Change::Detach { .. }
            | Change::Data { .. }
            | Change::LeaveOut { .. } => false,
        }
    }
}
