use std::sync::Arc;

use serde::Serialize;

use super::{ActionContext, Fault, Seat};
use riskbreaker_state::{EntityId, Value};

/// The order of play, as returned by `order` in `play.luau`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Order {
    /// The heading of the order, such as `Round 3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The turns, in order.
    pub turns: Vec<Turn>,
}

/// One turn of the order of play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Turn {
    /// The entity that acts.
    pub entity: EntityId,
    /// Its title.
    pub title: Arc<str>,
    /// Whether it has acted already.
    pub state: TurnState,
    /// The number that determines the order, such as a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// A remark, such as `holds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The state of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// Its turn is over.
    Acted,
    /// It acts now.
    Now,
    /// Its turn is still to come.
    ToCome,
    /// It has no turn any more.
    Out,
}

impl TurnState {
    const WORDS: [(&str, TurnState); 4] =
        [("acted", TurnState::Acted), ("now", TurnState::Now), ("to_come", TurnState::ToCome), ("out", TurnState::Out)];
}

/// The most turns of an order.
const MOST_TURNS: usize = 1_000;

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

impl Seat<'_> {
    /// The order of play as the viewer knows it. `None` if the ruleset has none, or none now.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn order(&mut self) -> Result<Option<Order>, Fault> {
        if !self.session.ruleset().has_order() {
            return Ok(None);
        }
        let seat = self.own_seat();
        self.look(move |game, vm| vm.order(&mut game.context, &seat))
    }
}
