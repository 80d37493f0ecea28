//! Decisions that can be redone.

use std::sync::Arc;

use super::open::Open;
use crate::{Answer, DicePosition, Edit, Question, Ruleset};
use riskbreaker_state::Audience;

/// A decision of a person, as data, so that it can be redone.
#[derive(Clone, Debug)]
pub(crate) enum UndoOp {
    Answer {
        seat: Arc<str>,
        topic: Arc<str>,
        ordinal: u32,
        answer: Answer,
        /// For an undone answer: the value of [`Game::played`] when its question was open.
        played: usize,
    },
    Edit(Edit),
    /// `audience`: the viewers who may know the name of the act.
    Free {
        seat: Arc<str>,
        name: Arc<str>,
        audience: Audience,
    },
    Skip,
    /// A request for other rules, or a cancellation (`None`). `at`: the position at which the rules took effect, if the
    /// history before it is unchanged.
    Rules {
        rules: Option<Arc<Ruleset>>,
        at: Option<Box<BeforeRules>>,
    },
}

/// The position of a game just before other rules took effect.
#[derive(Clone, Debug)]
pub(crate) struct BeforeRules {
    /// The number of finished actions.
    pub done: usize,
    pub open: Option<Open>,
    pub position: DicePosition,
}

impl UndoOp {
    /// The answer to a question.
    pub fn answer(question: &Question, answer: &Answer) -> UndoOp {
        UndoOp::Answer {
            seat: question.seat.clone(),
            topic: question.topic.clone(),
            ordinal: question.id.ordinal,
            answer: answer.clone(),
            played: 0,
        }
    }
}
