use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker_state::{Schema, State, Value};

/// The state of a game under its former rules.
pub struct Former {
    /// The id of the ruleset that the conversion script is written for.
    pub ruleset: String,
    /// The version of that ruleset by which the game was played.
    pub version: String,
    /// The places of the steps of the conversion that apply to it, from 0.
    pub steps: Vec<usize>,
    pub switches: Arc<BTreeMap<String, Value>>,
    pub state: State,
    pub schema: Schema,
}
