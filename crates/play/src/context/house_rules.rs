//! House rules of a running game, and the marks that an edit leaves.

use std::sync::Arc;

use super::ActionContext;
use crate::Refusal;
use riskbreaker_state::{EntityId, FieldId, KindId, Value};

impl ActionContext {
    /// Converts the typed value of a house rule to the value that the rule would get.
    ///
    /// # Errors
    ///
    /// The nearest name, or the values that the rule allows.
    pub fn house_rule(&self, name: &str, value: &Value) -> Result<Value, Refusal> {
        let Some(switch) = self.rules.switch(name) else {
            let names = self.rules.switches().map(|switch| &*switch.name);
            let sentence = format!("{} has no house rule `{name}`", self.rules.id());
            return Err(Refusal::unknown_among_many(sentence, name, names));
        };
        let typed = match value {
            Value::Bool(yes) => yes.to_string(),
            value => value.to_string(),
        };
        let value = switch.parse(&typed)?;
        Ok(value.as_value())
    }

    /// Sets a house rule as an edit. Returns a line that says what changed.
    pub fn set_house_rule(&mut self, name: &str, value: &Value) -> Result<String, Refusal> {
        let value = self.house_rule(name, value)?;
        let from = Arc::make_mut(&mut self.switches).insert(name.to_string(), value.clone()).unwrap_or_default();
        self.state.renew_identity();
        Ok(format!("house rule: {name} {from} -> {value}"))
    }

    /// Sets every field that is declared `by_hand`, after an edit of the game.
    pub fn note_change_by_hand(&mut self) {
        let rules = self.rules.clone();
        for (at, kind) in rules.schema().kinds.iter().enumerate() {
            for (place, _) in kind.fields.iter().enumerate().filter(|(_, field)| field.by_hand) {
                let (kind, field) = (KindId(at as u16), FieldId(place as u16));
                let entities = self.state.entities().filter(|(_, entity)| entity.kind == kind);
                let ids: Vec<EntityId> = entities.map(|(id, _)| id).collect();
                for id in ids {
                    self.state.set(id, field, Value::Bool(true));
                    self.state.note_stale(id, field);
                }
            }
        }
    }
}
