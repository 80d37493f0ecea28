//! Early answers: what a person types on one line for questions that the action has not asked yet.

use super::reply::take_reply;
use super::undo::UndoOp;
use super::{Answer, Question, Refusal, Viewer};
use riskbreaker_state::Value;

/// Answers by topic, given before their questions are asked. The action takes them in place while it runs, so a line with
/// several answers runs its action once.
#[derive(Debug, Default)]
pub struct EarlyAnswers {
    replies: Vec<(String, Value)>,
    /// Whether a list may be several answers, one part for each question.
    in_parts: bool,
    /// Who gives them and for which action. `None` if the replies are only compared and not taken.
    from: Option<(Viewer, u32)>,
    /// The number of the next decision.
    seq: u32,
    /// The decisions that were taken in the run.
    taken: Vec<UndoOp>,
}

impl EarlyAnswers {
    /// Replies that are compared with answers that nobody was asked for, and that are not taken.
    pub fn to_compare(replies: Vec<(String, Value)>) -> EarlyAnswers {
        EarlyAnswers { replies, ..EarlyAnswers::default() }
    }

    /// Replies of a viewer to one action, whose next decision has the number `seq`. `in_parts`: a list may be several answers.
    pub fn to_take(replies: Vec<(String, Value)>, in_parts: bool, from: (Viewer, u32), seq: u32) -> EarlyAnswers {
        EarlyAnswers { replies, in_parts, from: Some(from), seq, taken: Vec::new() }
    }

    pub fn replies(&self) -> &[(String, Value)] {
        &self.replies
    }

    pub fn into_replies(self) -> Vec<(String, Value)> {
        self.replies
    }

    /// Whether a question is one that whoever gives the answers may answer.
    pub fn may_answer(&self, question: &Question) -> bool {
        self.from.as_ref().is_none_or(|(viewer, _)| viewer.plays(&question.seat))
    }

    /// The place of what was given for a question, by somebody who may answer it.
    fn given(&self, question: &Question) -> Option<usize> {
        let (viewer, action) = self.from.as_ref()?;
        let is_own = question.id.action == *action && viewer.plays(&question.seat);
        self.replies.iter().position(|(topic, _)| is_own && *topic == *question.topic)
    }

    /// The answer to a question and the number of the decision, if one was given.
    pub fn answer(&mut self, question: &Question) -> Option<Result<(Answer, u32), Refusal>> {
        let at = self.given(question)?;
        let answer = take_reply(&mut self.replies, at, question, self.in_parts);
        let answer = answer.and_then(|answer| question.check(&answer).map(|()| answer));
        Some(answer.map(|answer| {
            let seq = self.seq;
            self.seq += 1;
            self.taken.push(UndoOp::answer(question, &answer));
            (answer, seq)
        }))
    }

    /// Takes what was given ahead of a question that has only one answer, and so is not put: it must be that answer.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub fn take_only(&mut self, question: &Question, answer: &Answer) -> Result<(), Refusal> {
        let Some(at) = self.given(question) else { return Ok(()) };
        if take_reply(&mut self.replies, at, question, self.in_parts)? == *answer {
            return Ok(());
        }
        Err(Refusal::OnlyAnswer { topic: question.topic.to_string(), answer: question.tell(answer) })
    }

    /// The decisions that were taken in the run that is over.
    pub(super) fn take_decisions(&mut self) -> Vec<UndoOp> {
        std::mem::take(&mut self.taken)
    }
}
