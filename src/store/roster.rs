//! The characters of a campaign, as they stand between scenes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::Value;

/// The characters of a campaign by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roster {
    pub characters: BTreeMap<String, Character>,
}

/// A character: the sheet it was built by, and what it has gained and suffered since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Character {
    /// The ruleset that the sheet is written for.
    pub ruleset: String,
    /// As `creation.luau` of the ruleset reads it.
    pub sheet: Value,
    /// Fields that differ from those of a new character, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lasting: BTreeMap<String, Value>,
}
