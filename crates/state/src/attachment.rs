use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::numbers::DrawnNumber;
use super::{EntityId, Value};

/// Names an attachment inside the host: counted from 1 over the whole game. Rules know it by [`Attachment::number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttachmentId(pub u32);

/// A hook holder put on an entity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attachment {
    /// Id of the hook or item.
    pub hook: Arc<str>,
    pub owner: EntityId,
    pub data: Value,
    /// The number that scripts are given, where that is not the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbered: Option<DrawnNumber>,
}

impl Attachment {
    /// The number by which rules know it. It tells nothing of what is attached in secret. `id`: its own.
    pub fn number(&self, id: AttachmentId) -> u32 {
        self.numbered.map_or(id.0, |numbered| numbered.number)
    }
}
