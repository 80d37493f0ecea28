use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::numbers::DrawnNumber;
use super::{EntityId, Value};

/// Identifies an attachment inside the host: counted from 1 over the whole game. Rules use [`Attachment::number`]
/// instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttachmentId(pub u32);

/// A hook holder attached to an entity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attachment {
    /// Id of the hook or item.
    pub hook: Arc<str>,
    pub owner: EntityId,
    pub data: Value,
    /// The number for scripts, if that is not the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbered: Option<DrawnNumber>,
}

impl Attachment {
    /// The number by which rules name it. It reveals nothing about secret attachments. `id`: its id.
    pub fn number(&self, id: AttachmentId) -> u32 {
        self.numbered.map_or(id.0, |numbered| numbered.number)
    }
}
