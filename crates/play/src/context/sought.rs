use std::sync::Arc;

use riskbreaker_state::{EntityId, Value};

/// A value of a field for which a query looks.
#[derive(Clone, Debug)]
pub enum Sought<'a> {
    /// A text that belongs to the script.
    Text(&'a str),
    /// Any value.
    Other(Value),
}

impl Sought<'_> {
    /// True if a field holds it. `found`: the value of the field, if there is one.
    pub fn is(&self, found: Option<&Value>) -> bool {
        match (self, found) {
            (Sought::Text(text), Some(Value::Text(found))) => **found == **text,
            (Sought::Other(value), Some(found)) => value == found,
            (Sought::Text(_), _) | (Sought::Other(_), None) => false,
        }
    }

    /// A copy as a value of the state.
    pub fn value(&self) -> Value {
        match self {
            Sought::Text(text) => Value::Text(Arc::from(*text)),
            Sought::Other(value) => value.clone(),
        }
    }
}

impl From<EntityId> for Sought<'_> {
    fn from(id: EntityId) -> Self {
        Sought::Other(Value::Entity(id))
    }
}
