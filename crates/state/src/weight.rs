//! Estimates of the memory that the values of a game use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Change, Entity, State, Value};

/// The overhead of an entity, an entry or an attachment in bytes.
const EACH: usize = 128;

impl Value {
    /// Bytes of the value outside its own slot.
    #[inline]
    #[doc(hidden)]
    pub fn weight(&self) -> usize {
        match self {
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Ratio(..) | Value::Entity(_) => 0,
            Value::Text(text) => text.len(),
            Value::List(items) => list_weight(items),
            Value::Map(items) => map_weight(items),
        }
    }
}

// These two functions are separate, so that the weight of a plain value, needed at every change, is inlined.

fn list_weight(items: &[Value]) -> usize {
    items.iter().map(|item| size_of::<Value>() + item.weight()).sum()
}

fn map_weight(items: &BTreeMap<Arc<str>, Value>) -> usize {
    items.iter().map(|(key, item)| EACH + key.len() + item.weight()).sum()
}

impl Entity {
    pub(super) fn weight(&self) -> usize {
        EACH + self.fields.iter().map(|value| size_of::<Value>() + value.weight()).sum::<usize>()
    }
}

impl Change {
    /// Bytes that the change needs in a history. The value before the change was counted with the earlier change.
    pub fn weight(&self) -> usize {
        EACH + match self {
            Change::Set { to, .. } | Change::Data { to, .. } => to.weight(),
            Change::Spawn { made, .. } => made.weight(),
            Change::Schedule { entry } => entry.args.weight(),
            Change::Attach { made, .. } => made.data.weight(),
            Change::Remove { .. }
            | Change::Unschedule { .. }
            | Change::Rekey { .. }
            | Change::Detach { .. }
            | Change::LeaveOut { .. }
            | Change::Finish { .. } => 0,
        }
    }
}

impl State {
    /// Bytes of all its values.
    pub fn weight(&self) -> usize {
        let entries = self.agenda().entries().map(|entry| EACH + entry.args.weight());
        let attachments = self.attachments().values().map(|attachment| EACH + attachment.data.weight());
        self.entities().map(|(_, entity)| entity.weight()).chain(entries).chain(attachments).sum()
    }
}
