//! Checks of values against a schema that look at the entities of a state.

use std::sync::Arc;

use super::State;
use crate::{Entity, EntityId, FieldId, Kind, Schema, Type, Unfit, Value};

impl Schema {
    /// The title of an entity in a state of this schema; its number if it does not exist.
    #[doc(hidden)]
    pub fn title_in(&self, state: &State, id: EntityId) -> Arc<str> {
        let title = |entity: &Entity| self.kind(entity.kind).title_of(id, &entity.fields);
        state.entity(id).map_or_else(|| Arc::from(id.to_string()), title)
    }
}

impl Kind {
    /// Checks that a field accepts a value: it has the field's type, and the end of a relation is not empty.
    ///
    /// # Errors
    ///
    /// The expected and the given value, as a clause after "the field NAME".
    #[doc(hidden)]
    pub fn check(&self, field: FieldId, value: &Value, schema: &Schema, state: &State) -> Result<(), Unfit> {
        self.field(field).ty.check(value, schema, state)?;
        if *value == Value::None && self.relates.contains(&field) {
            let clause = format!("is never empty: a {} goes when what it refers to goes", self.name);
            return Err(Unfit::with_clause(&self.field(field).ty, value, clause));
        }
        Ok(())
    }
}

impl Type {
    /// Checks that a field of this type accepts a value.
    ///
    /// # Errors
    ///
    /// The expected and the given value, as a clause after "the field NAME".
    #[doc(hidden)]
    pub fn check(&self, value: &Value, schema: &Schema, state: &State) -> Result<(), Unfit> {
        self.check_kind(value, schema, state)?;
        match (self, value) {
            (Type::Int { min, max }, Value::Int(n)) => {
                let low = min.is_some_and(|min| *n < min);
                let high = max.is_some_and(|max| *n > max);
                if low || high {
                    return Err(Unfit::new(self, value));
                }
                Ok(())
            }
            (Type::Ref(_), Value::Entity(id)) if state.entity(*id).is_none() => {
                Err(Unfit::with_clause(self, value, format!("refers to {id}, which is not there any more")))
            }
            (Type::List(element), Value::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    element.check(item, schema, state).map_err(|error| error.at(format_args!("place {}", at + 1)))?;
                }
                Ok(())
            }
            (Type::Map(element), Value::Map(items)) => {
                for (key, item) in items.iter() {
                    element.check(item, schema, state).map_err(|error| error.at(format_args!("`{key}`")))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Like [`Type::check_sort`], and checks that a referenced entity is of the required kind.
    #[doc(hidden)]
    pub fn check_kind(&self, value: &Value, schema: &Schema, state: &State) -> Result<(), Unfit> {
        self.check_sort(value)?;
        let (Type::Ref(Some(kind)), Value::Entity(id)) = (self, value) else { return Ok(()) };
        match state.entity(*id).map(|entity| &schema.kind(entity.kind).name) {
            Some(found) if found != kind => {
                Err(Unfit::with_clause(self, value, format!("takes {}, not a {found}", self.wanted())))
            }
            _ => Ok(()),
        }
    }
}
