//! The part of a history that was not replayed.

use std::sync::Arc;

use crate::{Ruleset, Setup};

/// The part of a history that came from a checkpoint and was not replayed: the changes of its actions are not known yet.
#[derive(Debug)]
pub(crate) struct Unplayed {
    pub(crate) rules: Arc<Ruleset>,
    pub(crate) setup: Setup,
    pub(crate) actions: usize,
    /// The hash of the state after these actions.
    pub(crate) state: String,
}
