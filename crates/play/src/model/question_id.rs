//! The number of a question.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies an open question: the action that asks, and the tape slot of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[serde(expecting = "the id of a question: its `action` and its `ordinal`")]
pub struct QuestionId {
    /// Number of the action, counted from 1 over the whole game.
    pub action: u32,
    /// Index of the slot on the action's tape, from 0.
    pub ordinal: u32,
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.action, self.ordinal)
    }
}
