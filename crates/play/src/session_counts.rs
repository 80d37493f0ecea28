//! Counts of decisions in a session.

use crate::{DecisionCount, Session};

impl Session {
    /// The number of decisions that are not undone: those made, and those that wait.
    pub fn decision_count(&self) -> DecisionCount {
        self.game().decision_count()
    }
}
