use std::sync::Arc;

use serde::Serialize;

use riskbreaker_state::EntityId;

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
    pub(crate) const WORDS: [(&str, TurnState); 4] =
        [("acted", TurnState::Acted), ("now", TurnState::Now), ("to_come", TurnState::ToCome), ("out", TurnState::Out)];
}
