use serde::{Deserialize, Serialize};

use super::{KindId, Value};

/// An entity: its kind, and the values of the kind's fields in their order.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entity {
    pub kind: KindId,
    pub fields: Vec<Value>,
}

impl Clone for Entity {
    fn clone(&self) -> Entity {
        Entity { kind: self.kind, fields: self.fields.clone() }
    }

    fn clone_from(&mut self, other: &Entity) {
        self.kind = other.kind;
        self.fields.clone_from(&other.fields);
    }
}
