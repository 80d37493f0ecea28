//! Reads the order of play that a ruleset computes.

use super::ActionContext;
use crate::{Order, Turn, TurnState};
use riskbreaker_state::Value;

impl Order {
    /// Reads the value returned by `order`. `None` if there is no order now.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with the value.
    pub fn read(value: &Value, context: &ActionContext) -> Result<Option<Order>, String> {
        const FORM: &str = "{ label = \"Round 3\", turns = { { who = actor, state = \"now\" } } }";
        let order = match value {
            Value::None => return Ok(None),
            Value::Map(order) => order,
            other => return Err(format!("`order` in play.luau must return {FORM} or nil, not {}", other.type_name())),
        };
        let turns = match order.get("turns") {
            Some(Value::List(turns)) if turns.len() <= MOST_TURNS => turns,
            Some(Value::List(_)) => return Err(format!("`order` in play.luau has more than {MOST_TURNS} turns")),
            _ => return Err(format!("`order` in play.luau must return {FORM}")),
        };
        let label = order.get("label").map(|label| context.words(label));
        Ok(Some(Order { label, turns: turns.iter().map(|turn| Turn::read(turn, context)).collect::<Result<_, _>>()? }))
    }
}

impl Turn {
    fn read(value: &Value, context: &ActionContext) -> Result<Turn, String> {
        let Value::Map(turn) = value else {
            return Err(format!("a turn of `order` is {{ who = actor, state = \"now\" }}, not {}", value.type_name()));
        };
        let Some(Value::Entity(entity)) = turn.get("who") else {
            return Err("a turn of `order` needs `who`, an entity".into());
        };
        let word = turn.get("state").and_then(Value::as_text).unwrap_or_default();
        let Some((_, state)) = TurnState::WORDS.iter().find(|(known, _)| *known == word) else {
            let words = TurnState::WORDS.map(|(word, _)| word).join(", ");
            return Err(format!("a turn of `order` needs `state`, one of {words}, not `{word}`"));
        };
        let at = match turn.get("at") {
            None => None,
            Some(Value::Int(at)) => Some(*at),
            Some(other) => return Err(format!("`at` of a turn of `order` is a number, not {}", other.type_name())),
        };
        let note = turn.get("note").map(|note| context.words(note)).filter(|note| !note.is_empty());
        Ok(Turn { entity: *entity, title: context.title(*entity), state: *state, at, note })
    }
}

/// The most turns of an order.
const MOST_TURNS: usize = 1_000;
