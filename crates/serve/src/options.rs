use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use riskbreaker_store::HostChange;

/// The policy for taking decisions back at a table. A game master may take back any decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoPolicy {
    /// Only game masters.
    GameMaster,
    /// A seat may take back its own last decisions, until somebody else decides.
    #[default]
    Own,
    /// A seat may take back any decision, if everybody who plays and is connected agrees.
    Ask,
}

impl UndoPolicy {
    const WORDS: [(UndoPolicy, &'static str); 3] =
        [(UndoPolicy::GameMaster, "game_master"), (UndoPolicy::Own, "own"), (UndoPolicy::Ask, "ask")];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(policy, _)| *policy == self).map_or("own", |(_, word)| word)
    }

    fn of_word(word: &str) -> Option<UndoPolicy> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(policy, _)| *policy)
    }
}

/// The options of a table, apart from its rules. Game masters change them by `options`; the campaign stores them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableOptions {
    /// The policy for taking decisions back.
    pub undo: UndoPolicy,
    /// True if seats may ask for `odds` and for a `hint`.
    pub odds: bool,
    /// The delay of watchers, in seconds.
    pub delay: u32,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions { undo: UndoPolicy::default(), odds: true, delay: 0 }
    }
}

/// The longest delay for watchers, in seconds.
pub(super) const LONGEST_DELAY: u32 = 300;

impl TableOptions {
    /// The delay of watchers.
    pub(super) fn watch_later(&self) -> Duration {
        Duration::from_secs(self.delay.into())
    }

    /// The options as a change for the campaign file.
    pub(super) fn change(&self) -> HostChange {
        HostChange::Options { undo: self.undo.word().to_owned(), odds: self.odds, delay: self.delay }
    }

    /// The options that an earlier host stored. An unknown policy becomes the default.
    pub(super) fn remembered(undo: &str, odds: bool, delay: u32) -> TableOptions {
        TableOptions { undo: UndoPolicy::of_word(undo).unwrap_or_default(), odds, delay: delay.min(LONGEST_DELAY) }
    }
}
