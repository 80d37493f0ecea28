use serde::{Deserialize, Serialize};

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The entity and what was asked about, in words.
    pub title: String,
    /// The value, in words.
    pub value: String,
    /// For a derived value: its terms, in the order they were worked out.
    pub terms: Vec<Term>,
    /// For a field: the changes that led to the value, in order.
    pub changes: Vec<String>,
}

/// One part of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    pub label: String,
    pub value: String,
    /// The file that adds it.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// How deep in the working out it was added: the parts of a part lie deeper, and come before it.
    pub depth: u32,
}
