//! The numbers of open questions for each viewer.

use std::sync::Mutex;

use crate::{QuestionId, Viewer};

/// The numbers that each viewer of a game has for the open questions it sees.
///
/// A viewer's numbers count only the questions that the viewer saw. They reveal nothing about hidden actions, rolls and
/// answers. A question gets its number when a viewer first looks at it.
#[derive(Debug, Default)]
pub(crate) struct Numberings(pub(crate) Mutex<Vec<(Viewer, ViewerNumbering)>>);

/// The numbers of one viewer.
#[derive(Debug, Default)]
pub(crate) struct ViewerNumbering {
    /// The tape slot of each open question, and the viewer's number for it.
    open: Box<[(QuestionId, QuestionId)]>,
    /// The action of the last numbered question, and the viewer's number for that question.
    last: Option<(u32, QuestionId)>,
}

impl ViewerNumbering {
    /// Returns the numbers of the currently open questions, in their order. Assigns new ones where needed.
    pub(crate) fn of(&mut self, open: impl Iterator<Item = QuestionId>) -> Vec<QuestionId> {
        let mut now = Vec::new();
        for place in open {
            let known = self.open.iter().find(|(at, _)| *at == place).map(|(_, number)| *number);
            let number = known.unwrap_or_else(|| self.next(place.action));
            now.push((place, number));
        }
        self.open = now.into();
        self.open.iter().map(|(_, number)| *number).collect()
    }

    fn next(&mut self, action: u32) -> QuestionId {
        let number = match self.last {
            None => QuestionId { action: 1, ordinal: 0 },
            Some((last, number)) if last == action => {
                QuestionId { action: number.action, ordinal: number.ordinal.saturating_add(1) }
            }
            Some((_, number)) => QuestionId { action: number.action.saturating_add(1), ordinal: 0 },
        };
        self.last = Some((action, number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(action: u32, ordinal: u32) -> QuestionId {
        QuestionId { action, ordinal }
    }

    #[test]
    fn numbers_count_what_is_seen_and_never_come_again() {
        let mut own = ViewerNumbering::default();
        // Hidden slots before a question do not count.
        assert_eq!(own.of([at(7, 3), at(7, 5)].into_iter()), [at(1, 0), at(1, 1)]);
        assert_eq!(own.of([at(7, 5), at(7, 9)].into_iter()), [at(1, 1), at(1, 2)]);
        assert_eq!(own.of([at(12, 0)].into_iter()), [at(2, 0)]);
        // After an undo, the same question gets a new number, so that an answer to the old one is refused as late.
        assert_eq!(own.of([at(7, 9)].into_iter()), [at(3, 0)]);
        assert_eq!(own.of(std::iter::empty()), []);
        assert_eq!(own.of([at(7, 9)].into_iter()), [at(3, 1)]);
    }
}
