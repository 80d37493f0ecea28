//! The characters of a campaign between scenes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use riskbreaker_state::Value;

/// The characters of a campaign by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Roster {
    /// The characters, by title.
    pub characters: BTreeMap<String, Character>,
}

/// A character with its possessions and injuries. It is carried from scene to scene, and from one version of the rules
/// to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Character {
    /// The ruleset with which it was last saved.
    pub ruleset: String,
    /// The name of its kind.
    pub kind: String,
    /// Values by field name. Values without a field in the current rules stay here.
    pub fields: BTreeMap<String, Value>,
    /// The sheet, in the form that the ruleset's creation reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<Value>,
}
