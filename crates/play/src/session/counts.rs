//! Counts of decisions in a session.

use super::Session;
use crate::DecisionCount;

impl Session {
    /// The number of decisions that are not undone: those made, and those that wait.
    pub fn decision_count(&self) -> DecisionCount {
        self.game().decision_count()
    }
}
