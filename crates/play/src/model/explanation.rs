use serde::{Deserialize, Serialize};

use super::term::Term;

/// Explains how a number came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The entity and the explained value, as text.
    pub title: String,
    /// The value, as text.
    pub value: String,
    /// For a derived value: its terms, in the order in which they were computed.
    pub terms: Vec<Term>,
    /// For a field: the changes that led to the value, in order.
    pub changes: Vec<String>,
}
