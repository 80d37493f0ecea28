//! What an undo restores after a change of rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Driver, Ruleset};
use riskbreaker_state::{Renames, Schema, State, Value};

/// What an undo restores after a change of rules: the earlier state with its schema.
#[derive(Clone, Debug)]
pub struct Swap {
    pub schema: Schema,
    pub state: State,
    /// The names of kinds and fields that differ in the rules after the change. A change to another ruleset, which is
    /// undone as a whole, has none.
    pub names: Renames,
    /// The rules, house rules and seats that were in force. `None` for a reload.
    pub in_force: Option<InForce>,
}

/// The rules, house rules and drivers of a game.
#[derive(Clone, Debug)]
pub struct InForce {
    pub rules: Arc<Ruleset>,
    pub switches: Arc<BTreeMap<String, Value>>,
    pub seats: BTreeMap<Arc<str>, Driver>,
}
