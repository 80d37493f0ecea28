use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Failure;
use super::viewer::Role;
use riskbreaker_store::HostChange;

/// Who takes decisions back at a table. A game master takes back any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoPolicy {
    /// Only game masters.
    GameMaster,
    /// A seat its own last decisions, until somebody else decides.
    #[default]
    Own,
    /// A seat any decision, if everybody who plays and is connected agrees.
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

/// What a table allows besides its rules. Game masters change it by `options`; the campaign remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableOptions {
    /// Who takes decisions back.
    pub undo: UndoPolicy,
    /// Whether seats may ask for `odds` and for a `hint`.
    pub odds: bool,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions { undo: UndoPolicy::default(), odds: true }
    }
}

impl TableOptions {
    /// As the campaign remembers them.
    pub(super) fn change(&self) -> HostChange {
        HostChange::Options { undo: self.undo.word().to_owned(), odds: self.odds }
    }

    /// Those that an earlier host wrote. An unknown policy is the usual one.
    pub(super) fn remembered(undo: &str, odds: bool) -> TableOptions {
        TableOptions { undo: UndoPolicy::of_word(undo).unwrap_or_default(), odds }
    }

    /// Refuses to look ahead for a seat at a table that has switched it off.
    pub(super) fn must_show_odds(&self, role: &Role) -> Result<(), Failure> {
        if self.odds || role.is_master() {
            return Ok(());
        }
        Err(Failure::Unavailable { reason: "the game master has switched odds and hints off for this table".into() })
    }
}
