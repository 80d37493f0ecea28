//! Answers that are given in advance, and how an exploration answers other questions.

use std::sync::Arc;

use crate::model::AnswerSource;
use crate::{Answer, Question, Refusal, Slot, Viewer};
use riskbreaker_state::{EntityId, Value};

/// How an exploration answers questions that have no given answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answering {
    /// By the default, or by the first possible answer if there is no default.
    #[default]
    Default,
    /// By the answer that is worth most to the asked seat, as the ruleset measures it.
    Best,
    /// Only as given; any other question is refused.
    Given,
    /// By a policy of the ruleset.
    Policy(Arc<str>),
    /// As the driver of the seat does: by its policy, or by the default if the seat has no policy.
    Seated,
    /// As [`Answering::Seated`], but paths branch at the questions of seats that people play.
    Branched,
}

/// An answer that an exploration chose for a seat.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumed {
    /// The title of the entity that the question was about, or else the seat that was asked.
    pub who: Arc<str>,
    /// The topic of the question.
    pub topic: Arc<str>,
    /// The answer in words.
    pub answer: String,
    /// Where the answer came from.
    pub source: AnswerSource,
}

/// The most typed names that are corrected one by one in one look-ahead.
const MOST_RETYPED: usize = 20;

/// An answer that is given in advance.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The topic of the question.
    pub topic: String,
    /// The seat that must be asked. `None`: any seat.
    pub seat: Option<Arc<str>>,
    /// The entity that the question must be about. `None`: any.
    pub about: Option<EntityId>,
    /// The answer, as loosely as [`Session::reply`](crate::Session::reply) takes it.
    pub value: Value,
    /// True if the answer is only for the first such question, which is open now. Later equal questions are not
    /// answered by it.
    pub once: bool,
}

impl Given {
    /// An answer to one open question. It answers neither questions of other seats or about other entities, nor later
    /// ones.
    pub fn to(question: &Question, value: Value) -> Given {
        let (topic, seat) = (question.topic.to_string(), Some(question.seat.clone()));
        Given { topic, seat, about: question.about, value, once: true }
    }

    /// Looks ahead with answers as a person typed them. If one names no option exactly, the label of the only fitting
    /// option replaces it (see [`retyped`](crate::retyped)), and `look` is called again.
    ///
    /// # Errors
    ///
    /// The refusal of `look`, or [`Refusal::Ambiguous`] for a name that fits several options.
    pub fn typed<T>(all: &mut [Given], mut look: impl FnMut(&[Given]) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut left = MOST_RETYPED;
        loop {
            let refusal = match look(all) {
                Err(refusal) if left > 0 => refusal,
                told => return told,
            };
            let topic = refusal.topic().unwrap_or_default();
            let mut better = None;
            for given in all.iter_mut().filter(|given| given.topic == topic) {
                better = crate::retyped(&given.value, &refusal)?.map(|value| given.value = value);
                if better.is_some() {
                    break;
                }
            }
            if better.is_none() {
                return Err(refusal);
            }
            left -= 1;
        }
    }

    /// Converts a viewer's replies, by topic, to an open question and to later ones of its action. Replies to later
    /// questions count for the seats that the viewer plays; those of the game master count for every seat.
    pub fn all(question: &Question, viewer: &Viewer, replies: impl IntoIterator<Item = (String, Value)>) -> Vec<Given> {
        let mut given = Vec::new();
        for (topic, value) in replies {
            let later = |seat| Given { topic: topic.clone(), seat, about: None, value: value.clone(), once: false };
            if topic == *question.topic {
                given.push(Given::to(question, value));
            } else if viewer.is_master() {
                given.push(later(None));
            } else {
                given.extend(viewer.names().map(|seat| later(Some(seat.clone()))));
            }
        }
        given
    }

    /// True if the answer fits a question with this seat, topic and entity.
    #[doc(hidden)]
    pub fn fits(&self, seat: &str, topic: &str, about: Option<EntityId>) -> bool {
        let is_for_seat = self.seat.as_ref().is_none_or(|own| **own == *seat);
        let is_for_entity = self.about.is_none() || self.about == about;
        self.topic == *topic && is_for_seat && is_for_entity
    }

    /// True if the answer is still unused after the answers of this run. `before`: the given answers that precede it.
    /// Of several equal answers, the first is for the first question, the second for the second.
    pub(crate) fn is_left(&self, before: &[Given], answered: &[Option<Slot>]) -> bool {
        let is_equal = |other: &&Given| {
            other.once && (&other.topic, &other.seat, other.about) == (&self.topic, &self.seat, self.about)
        };
        let takes = |slot: &&Slot| match slot {
            Slot::Answer { topic, seat, about, .. } => self.fits(seat, topic, *about),
            Slot::Roll { .. } | Slot::Closed { .. } => false,
        };
        !self.once || answered.iter().flatten().filter(takes).count() <= before.iter().filter(is_equal).count()
    }
}

/// A question and its answer, or `None` if a policy answers.
pub(crate) type AskedBefore = Option<Arc<(Question, Answer)>>;
