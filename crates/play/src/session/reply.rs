//! Loose replies to the questions of a session.

use super::Session;
use super::step::Step;
use crate::context::EarlyAnswers;
use crate::model::{not_yours, take_reply};
use crate::{Refusal, SessionError, Viewer};
use riskbreaker_state::Value;

impl Session {
    /// Answers the questions of the open action by topic, whenever it asks, with loose values: options by name,
    /// numbers, lists.
    ///
    /// Takes either all answers or none: if a topic is not asked, or an answer does not fit, the game is unchanged. One
    /// exception: after a roll, a topic that is not asked is ignored with a notice. Other questions stay open.
    ///
    /// # Errors
    ///
    /// A sentence that says which reply does not fit and why.
    pub fn reply(&mut self, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.reply_as(&Viewer::master(), replies)
    }

    /// Like [`Session::reply`], for the questions that a viewer may answer.
    pub(crate) fn reply_as(&mut self, viewer: &Viewer, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.take_replies(viewer, replies)?;
        Ok(self.advance()?)
    }

    /// Like [`Session::reply`], but each value is one answer: a list does not answer several questions.
    #[doc(hidden)]
    pub fn reply_whole(&mut self, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.take_replies_by(&Viewer::master(), replies, false)?;
        Ok(self.advance()?)
    }

    /// Takes replies, and plays at most to the end of the open action.
    pub(crate) fn take_replies(&mut self, viewer: &Viewer, replies: &[(String, Value)]) -> Result<(), Refusal> {
        self.take_replies_by(viewer, replies, true)
    }

    /// Takes replies as [`Session::take_replies`] does. `in_parts`: a list may hold several answers, one for each
    /// question.
    fn take_replies_by(&mut self, viewer: &Viewer, replies: &[(String, Value)], in_parts: bool) -> Result<(), Refusal> {
        if replies.iter().any(|(_, value)| value.is_too_deep()) {
            return Err(Refusal::too_deep());
        }
        let before = self.mark();
        let replied = self.try_reply(viewer, replies, in_parts);
        self.compare_early(Vec::new());
        if replied.is_err() && self.take_back_to(before) {
            let _ = self.run_action();
        }
        replied
    }

    /// Runs the open action to its next question, or to its end.
    fn run_action(&mut self) -> Result<Step, SessionError> {
        let halt = self.lend(|game, vm| game.advance(vm, 1))?;
        self.game_mut().publish(None);
        Ok(halt.into())
    }

    fn try_reply(&mut self, viewer: &Viewer, replies: &[(String, Value)], in_parts: bool) -> Result<(), Refusal> {
        let mut left: Vec<(String, Value)> = replies.to_vec();
        let action = self.questions().first().map(|question| question.id.action);
        let rolled = action.map_or(0, |action| self.game().rolls(action));
        // Refuse a topic that only other seats are asked for. Questions that the viewer does not see do not count.
        for (topic, _) in &left {
            let seen = self.questions().iter().filter(|question| viewer.knows_of(question));
            let mut asked = seen.filter(|question| *question.topic == **topic).peekable();
            if let Some(first) = asked.peek().map(|question| question.seat.clone())
                && !asked.any(|question| viewer.plays(&question.seat))
            {
                return Err(not_yours(&first, viewer));
            }
        }
        if let Some(topic) = left.iter().map(|(topic, _)| topic).find(|topic| self.cannot_be_asked(viewer, topic)) {
            return Err(self.nothing_asks(viewer, topic));
        }
        // The run after the first answers may show dice and secrets. So a viewer who does not see everything cannot
        // take them back by an answer that does not fit: the first answers count, and a notice reports the problem with
        // the others.
        let sees_all = viewer.is_master();
        let mut answered = false;
        while let Some(number) = action {
            let mut taken = false;
            for question in self.questions().to_vec() {
                if Some(question.id.action) != action || !viewer.plays(&question.seat) {
                    continue;
                }
                if let Some(at) = left.iter().position(|(topic, _)| *topic == *question.topic) {
                    let answer = take_reply(&mut left, at, &question, in_parts);
                    match answer.and_then(|answer| self.answer(question.id, answer)) {
                        Ok(()) => taken = true,
                        Err(refusal) if answered && !sees_all => {
                            self.game_mut().notice_to(&refusal.to_string(), viewer.audience());
                        }
                        Err(refusal) => return Err(refusal),
                    }
                }
            }
            if !taken {
                break;
            }
            let is_first = !std::mem::replace(&mut answered, true);
            let game = self.game_mut();
            game.refused = None;
            if sees_all {
                game.context.answers.early =
                    EarlyAnswers::to_take(left, in_parts, (viewer.clone(), number), game.next_seq());
                left = Vec::new();
            }
            let step = self.run_action().map_err(Refusal::from)?;
            left.extend(std::mem::take(&mut self.game_mut().context.answers.early).into_replies());
            if let Some(reason) = self.game_mut().refused.take() {
                if is_first || sees_all {
                    return Err(*reason);
                }
                // The viewer got the reason, and the question is open again.
                break;
            }
            match step {
                Step::Ask if self.questions().iter().any(|question| Some(question.id.action) == action) => {}
                // Only the game master sees the fault and decides about it.
                Step::Fault(fault) if sees_all => return Err(Refusal::fault(fault)),
                _ if left.is_empty() => return Ok(()),
                _ => break,
            }
        }
        // A question with only one possible answer was not asked, but a reply to it must be that answer.
        let mut unasked = Vec::new();
        for (topic, value) in left {
            match action.and_then(|action| self.game().fits_auto(action, viewer, &topic, &value)) {
                Some(Err(refusal)) if answered && !sees_all => {
                    self.game_mut().notice_to(&refusal.to_string(), viewer.audience());
                }
                Some(fits) => fits?,
                None => unasked.push(topic),
            }
        }
        if let Some(topic) = unasked.first() {
            // After a roll, later questions cannot be foreseen, so the answers count and a notice names the rest.
            // Earlier rolls do not matter. A viewer who may not see all dice must not learn whether any were rolled:
            // for that viewer the answers count once one was taken.
            let stands = match sees_all {
                true => action.is_some_and(|action| self.game().rolls(action) > rolled),
                false => answered,
            };
            if !stands {
                return Err(self.nothing_asks(viewer, topic));
            }
            for topic in unasked {
                self.game_mut().notice_to(&format!("`{topic}` was not asked"), viewer.audience());
            }
        }
        Ok(())
    }

    /// Sets early answers, by topic, that are only compared: if a question has only one possible answer and it differs,
    /// the action is refused before it rolls.
    #[doc(hidden)]
    pub fn compare_early(&mut self, replies: Vec<(String, Value)>) {
        self.game_mut().context.answers.early = EarlyAnswers::to_compare(replies);
    }

    /// Takes the refusal of the last run of the open action, if there is one.
    #[doc(hidden)]
    pub fn take_refusal(&mut self) -> Option<Refusal> {
        self.game_mut().refused.take().map(|refusal| *refusal)
    }

    /// Checks a reply to a question that was answered automatically. `None` if there is no such question.
    #[doc(hidden)]
    pub fn fits_auto(&self, action: u32, topic: &str, value: &Value) -> Option<Result<(), Refusal>> {
        self.game().fits_auto(action, &Viewer::master(), topic, value)
    }

    /// True if no question of the rules has this topic, so that an early answer to it is refused before any roll.
    fn cannot_be_asked(&self, viewer: &Viewer, topic: &str) -> bool {
        let is_open = self.questions().iter().any(|question| *question.topic == *topic && viewer.knows_of(question));
        !is_open && topic != "dice" && !self.ruleset().may_ask(topic)
    }

    #[doc(hidden)]
    pub fn nothing_asks(&self, viewer: &Viewer, topic: &str) -> Refusal {
        let open = self.questions().iter().filter(|question| viewer.plays(&question.seat));
        Refusal::NotAsked { topic: topic.to_owned(), asked: open.map(|question| question.topic.clone()).collect() }
    }
}
