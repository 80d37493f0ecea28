//! What a script may do at present, and why a run stopped.

use crate::FaultKind;
use riskbreaker_state::Unfit;

/// What a script may do at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Everything.
    Play,
    /// Only read. The text names the place for messages.
    Pure(&'static str),
    /// Change the state, but neither roll nor ask: the state is being converted to other rules.
    Conversion,
    /// Change the state and roll, but not ask: `deal` resamples what a seat cannot see.
    Deal,
}

/// The reason why a run stopped before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Questions are open.
    Question,
    /// The script ended the action.
    Cut(String),
    /// The rules refused the answer in this tape slot.
    Refused { ordinal: usize, topic: String, reason: String },
    /// The script did something it may not, or asked a question without an open answer.
    Fault {
        message: String,
        cure: Option<String>,
        kind: FaultKind,
        /// The value that does not fit, if the message is about one.
        unfit: Option<Box<Unfit>>,
    },
}
