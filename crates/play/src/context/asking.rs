//! A question while its action runs: what it asks, who answers it, and what the tape holds for it.

use std::sync::Arc;

use crate::{Answer, Question};
use riskbreaker_state::EntityId;

/// The seat, topic and subject of a question, which do not depend on its answer.
#[derive(Clone)]
pub struct Asking {
    pub seat: Arc<str>,
    pub topic: Arc<str>,
    pub about: Option<EntityId>,
}

impl Asking {
    pub fn of(question: &Question) -> Asking {
        Asking { seat: question.seat.clone(), topic: question.topic.clone(), about: question.about }
    }
}

/// The source of the next answer.
#[derive(Debug)]
pub enum Answerer<'a> {
    /// The explorer or a person: each needs the whole question.
    Reader,
    /// The tape, with the option that its slot names, if the answer is an option.
    Tape(Option<&'a Arc<str>>),
    /// An earlier run of the explorer, which has asked the same question.
    Known,
    Policy(&'a Arc<str>),
    /// The question's default, since nobody plays the seat.
    Default,
}

/// How a question is to be answered.
pub enum Asked {
    Answered(Answer),
    /// By this policy.
    Policy(Arc<str>),
    /// By the default, since nobody plays the seat.
    Default,
    /// By a person: the question stays open.
    Open,
}

/// The content of the tape slot for a question that is asked.
pub enum Taped {
    Answered(Answer),
    /// Another question of its race was answered first.
    Closed,
    /// Something that does not fit; it has been cut off.
    Cut,
}
