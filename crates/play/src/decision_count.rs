use super::Session;

/// How many decisions stand. Each is one [`Session::undo`].
///
/// A request for other rules waits for its boundary. There it goes, and the change that comes of it is a decision that has been
/// made. So of two counts of a game, the later one is the greater one, although it may be fewer decisions in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionCount {
    /// Answers, edits, free acts and changes of rules.
    pub made: u32,
    /// Requests for other rules, and to call them off, that wait for their boundary.
    pub waiting: u32,
}

impl DecisionCount {
    /// All of them.
    pub fn total(self) -> u32 {
        self.made + self.waiting
    }

    /// How many decisions have come since an earlier count.
    pub fn since(self, earlier: DecisionCount) -> u32 {
        self.made.saturating_sub(earlier.made) + self.waiting.saturating_sub(earlier.waiting)
    }
}

impl Session {
    /// How many decisions stand: those that were made, and those that wait.
    pub fn decision_count(&self) -> DecisionCount {
        self.game().decision_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_go_at_the_boundary_do_not_shift_the_order() {
        let count = |made, waiting| DecisionCount { made, waiting };
        // A request, a line of three answers at whose end the change takes effect, and an undo of that line.
        let (asking, line, after) = (count(5, 0), count(5, 1), count(9, 0));
        assert!(asking < line && line < after && line < count(6, 0));
        assert_eq!((line.since(asking), after.since(line), asking.since(after)), (1, 4, 0));
    }
}
