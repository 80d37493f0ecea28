use riskbreaker::Session;

/// A place between two lines: the decisions that stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// All decisions but the requests below.
    made: u32,
    /// Requests for other rules that wait for their boundary. There they go, and the change that comes of them is a decision of
    /// the line that has reached it.
    asked: u32,
}

impl Mark {
    pub fn of(session: &Session) -> Mark {
        Mark::of_counts((session.decisions(), session.waiting_requests()))
    }

    /// The decisions, and those of them that are requests for other rules.
    pub fn of_counts((decisions, asked): (u32, u32)) -> Mark {
        Mark { made: decisions.saturating_sub(asked), asked }
    }

    pub fn sum(self) -> u32 {
        self.made + self.asked
    }

    /// Whether something has been decided between this place and `now`.
    pub fn is_before(self, now: Mark) -> bool {
        self.made < now.made || self.asked < now.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_go_at_the_boundary_do_not_shift_the_lines() {
        let mark = |made, asked| Mark { made, asked };
        // A request, a line of three answers at whose end the change takes effect, and an undo of that line.
        let (asking, line, after, back) = (mark(5, 0), mark(5, 1), mark(9, 0), mark(5, 0));
        assert!(asking.is_before(after) && line.is_before(after));
        assert!(!line.is_before(back) && !asking.is_before(back));
        assert!(line.is_before(mark(6, 0)) && Mark::of_counts((6, 1)) == line);
    }
}
