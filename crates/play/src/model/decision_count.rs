/// The number of decisions that are not undone. Each is undone by one [`Session::undo`](crate::Session::undo).
///
/// A request for other rules waits for its boundary. It is removed there, and the resulting change counts as a decision
/// made. So the later of two counts of a game compares as greater, even if its total is smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionCount {
    /// Answers, edits, free acts and changes of rules that took effect.
    pub made: u32,
    /// Requests to change the rules, or to cancel a change, that wait for their boundary.
    pub waiting: u32,
}

impl DecisionCount {
    /// The sum of both counts.
    pub fn total(self) -> u32 {
        self.made + self.waiting
    }

    /// The number of decisions since an earlier count.
    pub fn since(self, earlier: DecisionCount) -> u32 {
        self.made.saturating_sub(earlier.made) + self.waiting.saturating_sub(earlier.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_go_at_the_boundary_do_not_shift_the_order() {
        let count = |made, waiting| DecisionCount { made, waiting };
        // A request, a line of three answers that ends at the boundary, and an undo of that line.
        let (asking, line, after) = (count(5, 0), count(5, 1), count(9, 0));
        assert!(asking < line && line < after && line < count(6, 0));
        assert_eq!((line.since(asking), after.since(line), asking.since(after)), (1, 4, 0));
    }
}
