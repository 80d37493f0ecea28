use std::fmt;

use crate::{Type, Value};

/// A value that does not fit a type. Prints as a clause after "the field NAME": the expected and the given value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The type that is wanted, without the lists and maps around it.
    pub wanted: Type,
    /// The value that is given.
    pub given: Value,
    clause: String,
}

impl Unfit {
    /// Describes a value of another type, or one out of bounds.
    pub(crate) fn new(wanted: &Type, given: &Value) -> Unfit {
        let told = match (wanted, given) {
            (Type::Enum(_), Value::Text(text)) => format!("`{text}`"),
            (Type::Int { .. }, Value::Int(n)) => n.to_string(),
            _ => format!("{} ({given})", given.type_name()),
        };
        Unfit::with_clause(wanted, given, format!("takes {}, not {told}", wanted.wanted()))
    }

    /// Describes a value in words of the caller.
    #[doc(hidden)]
    pub fn with_clause(wanted: &Type, given: &Value, clause: String) -> Unfit {
        Unfit { wanted: wanted.clone(), given: given.clone(), clause }
    }

    /// Adds the place in a list or map.
    pub(crate) fn at(mut self, place: fmt::Arguments<'_>) -> Unfit {
        self.clause = format!("{} at {place}", self.clause);
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clause)
    }
}
