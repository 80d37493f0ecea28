//! The viewers' numbers of open questions in a session.

use std::sync::PoisonError;

use super::Session;
use crate::game::ViewerNumbering;
use crate::{Question, QuestionId, Viewer, push_sparing};

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
    /// [`Seat::questions`](super::seat::Seat::questions).
    pub fn number_for(&self, viewer: &Viewer, question: QuestionId) -> Option<QuestionId> {
        self.numbered(viewer).into_iter().find(|(_, open)| open.id == question).map(|(number, _)| number)
    }

    /// The open question with this number for a viewer.
    pub fn question_of(&self, viewer: &Viewer, number: QuestionId) -> Option<&Question> {
        self.numbered(viewer).into_iter().find(|(own, _)| *own == number).map(|(_, open)| open)
    }
}
