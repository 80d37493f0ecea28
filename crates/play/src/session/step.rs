//! The reason why a game stopped, for callers of a session.

use crate::{Fault, Halt};

/// The reason why a game stopped.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Step {
    /// A decision is needed: [`Session::questions`](crate::Session::questions) are open.
    Ask,
    /// A script failed, and its action was rolled back. Call [`Session::remedy`](crate::Session::remedy).
    Fault(Fault),
    /// The game is over, with this outcome.
    Over(String),
}

impl From<Halt> for Step {
    fn from(standing: Halt) -> Step {
        match standing {
            Halt::Ask | Halt::Paused | Halt::Boundary => Step::Ask,
            Halt::Fault(fault) => Step::Fault(fault),
            Halt::Over(text) => Step::Over(text),
        }
    }
}
