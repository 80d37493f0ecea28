//! The reason why a game stopped advancing.

use crate::Fault;

/// The reason why a game stopped advancing.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    Ask,
    Fault(Fault),
    Over(String),
    /// The budget of actions that the caller gave is used up.
    Paused,
    /// The boundary is reached at which the pending rules take effect.
    Boundary,
}
