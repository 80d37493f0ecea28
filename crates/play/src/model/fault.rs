use std::sync::Arc;

use riskbreaker_state::Unfit;
use serde::{Deserialize, Serialize};

/// How the message begins if a written face does not fit its die.
pub(crate) const WRONG_FACE: &str = "the next written face";

/// What a fault says about the game in which it occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultKind {
    /// A script did something that it may not, or used up a budget.
    #[default]
    Mistake,
    /// A question has no open answer: the game is stuck.
    NoOpenAnswer,
    /// The game went on for too long without an end.
    Endless,
}

/// What a script did wrong. The action is taken back to its start; the game waits for a [`Remedy`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}{message}", self.place())]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Fault {
    /// What is wrong, in a sentence.
    pub message: String,
    /// The file, such as `my-game/maneuvers/feint.luau`.
    pub path: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1, in characters. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The number of characters, from `column` on, that the fault is about; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u32,
    /// The text of `line`.
    pub source_line: Option<String>,
    /// A suggestion how to fix it.
    pub cure: Option<String>,
    /// The chain of calls in the ruleset's own files, innermost first.
    pub chain: Vec<String>,
    /// The name of the action that failed.
    pub action: Option<Arc<str>>,
    /// The title and rule ids of the card whose file contains the fault, or whose call led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Arc<str>>,
    /// Who acted, what was answered and which dice were rolled, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// True if a budget of work, time or memory ran out, or the host itself failed. The script machine was discarded.
    pub fatal: bool,
    /// What the fault says about the game. It is not kept: a fault that was loaded is a [`FaultKind::Mistake`].
    #[serde(skip)]
    pub kind: FaultKind,
    /// The value that does not fit its type, if the fault is about one. It is not kept.
    #[serde(skip)]
    pub unfit: Option<Box<Unfit>>,
}

fn is_zero(length: &u32) -> bool {
    *length == 0
}

/// A person's choice after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Remedy {
    /// Run the action again, with what is already on its tape.
    Retry,
    /// Skip the action. A recurring entry stays on the agenda.
    SkipAction,
}

impl Fault {
    #[doc(hidden)]
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), ..Fault::default() }
    }

    /// True if the script is right and a face that was written in advance does not fit the die that is rolled.
    #[doc(hidden)]
    pub fn is_wrong_face(&self) -> bool {
        self.message.starts_with(WRONG_FACE)
    }

    fn place(&self) -> String {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => match self.column {
                Some(column) => format!("{path}:{line}:{column}: "),
                None => format!("{path}:{line}: "),
            },
            (Some(path), None) => format!("{path}: "),
            _ => String::new(),
        }
    }
}
