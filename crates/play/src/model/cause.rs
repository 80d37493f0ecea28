//! Why an action runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::edit::Edit;
use super::patch::Patch;
use riskbreaker_state::{EntityId, EntryId};

/// Why an action runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The start of the game.
    #[default]
    Start,
    /// An agenda entry.
    Entry {
        /// The entry.
        id: EntryId,
        /// The name of the entry.
        what: Arc<str>,
        /// The entity that owns the entry, if it has an owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<EntityId>,
    },
    /// A free act of a seat.
    Free {
        /// The seat that acts.
        seat: Arc<str>,
        /// The name of the act.
        name: Arc<str>,
    },
    /// An edit by the game master.
    Edit {
        /// What was changed.
        edit: Edit,
    },
    /// A reload: other rules of the same ruleset came into force.
    Reload {
        /// The hash of the rules from then on.
        rules: String,
        /// The files in which they differ.
        files: Patch,
    },
    /// A change to another ruleset or to other layers.
    Rules {
        /// The id of the ruleset.
        ruleset: String,
        /// The layers over it, bottom first.
        layers: Vec<String>,
        /// The hash of the rules from then on.
        hash: String,
        /// The files in which they differ.
        files: Patch,
    },
}

impl Cause {
    /// True if the action brought other rules into force.
    #[doc(hidden)]
    pub fn brings_rules(&self) -> bool {
        self.rules_brought().is_some()
    }

    /// The files that differ between the old and the new rules. `None` if the action brought no rules.
    #[doc(hidden)]
    pub fn files(&self) -> Option<&Patch> {
        match self {
            Cause::Reload { files, .. } | Cause::Rules { files, .. } => Some(files),
            Cause::Start | Cause::Entry { .. } | Cause::Free { .. } | Cause::Edit { .. } => None,
        }
    }

    /// The hash of the new rules. `None` if the action brought no rules.
    #[doc(hidden)]
    pub fn rules_brought(&self) -> Option<&str> {
        match self {
            Cause::Reload { rules: hash, .. } | Cause::Rules { hash, .. } => Some(hash),
            Cause::Start | Cause::Entry { .. } | Cause::Free { .. } | Cause::Edit { .. } => None,
        }
    }
}

/// Names the action for messages, such as `an edit`.
pub(crate) fn words_of(cause: &Cause) -> Arc<str> {
    match cause {
        Cause::Start => Arc::from("the start of the game"),
        Cause::Entry { what, .. } => what.clone(),
        Cause::Free { name, .. } => name.clone(),
        Cause::Edit { .. } => Arc::from("an edit"),
        Cause::Reload { .. } => Arc::from("a reload"),
        Cause::Rules { ruleset, .. } => Arc::from(format!("the change to {ruleset}")),
    }
}
