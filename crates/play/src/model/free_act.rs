//! Acts that a seat may take out of turn.

use std::sync::Arc;

use serde::Serialize;

/// A free act: an act that a seat may take out of turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct FreeAct {
    /// The seat that may take it.
    pub seat: Arc<str>,
    /// The name of the act.
    pub name: Arc<str>,
    /// The label for people.
    pub title: Arc<str>,
    /// True if it can be taken now.
    pub enabled: bool,
    /// The reason why it cannot be taken.
    pub reason: Option<String>,
}
