//! The numbers of open questions for each viewer.

use std::sync::{Mutex, PoisonError};

use super::packed::push_sparing;
use super::{Question, QuestionId, Session, Viewer};

/// The numbers that each viewer of a game has for the open questions it sees.
///
/// A viewer's numbers count only the questions that the viewer saw. They reveal nothing about hidden actions, rolls and
/// answers. A question gets its number when a viewer first looks at it.
#[derive(Debug, Default)]
pub(super) struct Numberings(Mutex<Vec<(Viewer, ViewerNumbering)>>);

/// The numbers of one viewer.
#[derive(Debug, Default)]
struct ViewerNumbering {
    /// The tape slot of each open question, and the viewer's number for it.
    open: Box<[(QuestionId, QuestionId)]>,
    /// The action of the last numbered question, and the viewer's number for that question.
    last: Option<(u32, QuestionId)>,
}

impl ViewerNumbering {
    /// Returns the numbers of the currently open questions, in their order. Assigns new ones where needed.
    fn of(&mut self, open: impl Iterator<Item = QuestionId>) -> Vec<QuestionId> {
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

impl Session {
    /// The open questions that a viewer sees, each with the viewer's number.
    fn numbered(&self, viewer: &Viewer) -> Vec<(QuestionId, &Question)> {
        let seen = || self.questions().iter().filter(|question| viewer.sees(&question.audience));
        if viewer.is_master() {
            return seen().map(|question| (question.id, question)).collect();
        }
        let mut all = self.game().numberings.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == viewer).unwrap_or_else(|| {
            push_sparing(&mut all, (viewer.clone(), ViewerNumbering::default()));
            all.len() - 1
        });
        let numbers = all[at].1.of(seen().map(|question| question.id));
        numbers.into_iter().zip(seen()).collect()
    }

    /// The open questions that a viewer sees, with the viewer's numbers as ids.
    #[doc(hidden)]
    pub fn questions_seen_by(&self, viewer: &Viewer) -> Vec<Question> {
        let own = |(id, question): (QuestionId, &Question)| Question { id, ..question.clone() };
        self.numbered(viewer).into_iter().map(own).collect()
    }

    /// The viewer's number for an open question, if the viewer sees it; see
    /// [`Seat::questions`](super::Seat::questions).
    pub fn number_for(&self, viewer: &Viewer, question: QuestionId) -> Option<QuestionId> {
        self.numbered(viewer).into_iter().find(|(_, open)| open.id == question).map(|(number, _)| number)
    }

    /// The open question with this number for a viewer.
    pub fn question_of(&self, viewer: &Viewer, number: QuestionId) -> Option<&Question> {
        self.numbered(viewer).into_iter().find(|(own, _)| *own == number).map(|(_, open)| open)
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
