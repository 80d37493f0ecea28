//! Early answers: answers that a person types ahead, for questions that the action has not asked yet.

use crate::model::take_reply;
use crate::{Answer, Question, Refusal, Viewer};
use riskbreaker_state::Value;

/// Answers by topic, given before their questions are asked. The action takes them in place while it runs, so a line with
/// several answers runs its action once.
#[derive(Debug, Default)]
pub struct EarlyAnswers {
    replies: Vec<(String, Value)>,
    /// True if a list may hold several answers, one for each question.
    in_parts: bool,
    /// The viewer who gives the replies, and the action they are for. `None` if replies are only compared.
    from: Option<(Viewer, u32)>,
    /// The number of the next decision.
    seq: u32,
    /// The answers taken in this run, with their questions.
    taken: Vec<(Question, Answer)>,
}

impl EarlyAnswers {
    /// Replies that are only compared with automatic answers, and never taken.
    pub fn to_compare(replies: Vec<(String, Value)>) -> EarlyAnswers {
        EarlyAnswers { replies, ..EarlyAnswers::default() }
    }

    /// Replies of a viewer to one action. `seq`: the number of the next decision. `in_parts`: a list may hold several
    /// answers.
    pub fn to_take(replies: Vec<(String, Value)>, in_parts: bool, from: (Viewer, u32), seq: u32) -> EarlyAnswers {
        EarlyAnswers { replies, in_parts, from: Some(from), seq, taken: Vec::new() }
    }

    pub fn replies(&self) -> &[(String, Value)] {
        &self.replies
    }

    pub fn into_replies(self) -> Vec<(String, Value)> {
        self.replies
    }

    /// True if the viewer who gives the replies may answer this question.
    pub fn may_answer(&self, question: &Question) -> bool {
        self.from.as_ref().is_none_or(|(viewer, _)| viewer.plays(&question.seat))
    }

    /// The index of the reply to a question that the viewer may answer. `None` if there is no reply.
    fn given(&self, question: &Question) -> Option<usize> {
        let (viewer, action) = self.from.as_ref()?;
        let is_own = question.id.action == *action && viewer.plays(&question.seat);
        self.replies.iter().position(|(topic, _)| is_own && *topic == *question.topic)
    }

    /// Takes the reply to a question and the number of the decision. `None` if there is no reply to it.
    pub fn answer(&mut self, question: &Question) -> Option<Result<(Answer, u32), Refusal>> {
        let at = self.given(question)?;
        let answer = take_reply(&mut self.replies, at, question, self.in_parts);
        let answer = answer.and_then(|answer| question.check(&answer).map(|()| answer));
        Some(answer.map(|answer| {
            let seq = self.seq;
            self.seq += 1;
            self.taken.push((question.clone(), answer.clone()));
            (answer, seq)
        }))
    }

    /// Takes the reply to a question with only one possible answer, which is therefore not asked: the reply must be
    /// that answer.
    ///
    /// # Errors
    ///
    /// The reply cannot be read, or is another answer.
    pub fn take_only(&mut self, question: &Question, answer: &Answer) -> Result<(), Refusal> {
        let Some(at) = self.given(question) else { return Ok(()) };
        if take_reply(&mut self.replies, at, question, self.in_parts)? == *answer {
            return Ok(());
        }
        Err(Refusal::OnlyAnswer { topic: question.topic.to_string(), answer: question.tell(answer) })
    }

    /// Takes the answers that the finished run has used, with their questions.
    pub fn take_decisions(&mut self) -> Vec<(Question, Answer)> {
        std::mem::take(&mut self.taken)
    }
}
