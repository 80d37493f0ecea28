//! Questions of the running action: who answers, races, and refused answers.

use std::sync::Arc;

use super::ActionContext;
use super::asking::{Answerer, Asked, Asking, Taped};
use super::inputs::words_of;
use super::op::Op;
use super::phase::{Phase, Stop};
use crate::machine::known_seat;
use crate::model::AnswerSource;
use crate::{Answer, By, DicePosition, Driver, Question, Refusal, Slot};
use riskbreaker_state::{Audience, EntityId, Value};

/// Checks a reply to a question that was answered automatically. `None` if there is no such question that the replier
/// may answer.
pub fn fits_auto(
    autos: &[(Question, Answer)],
    is_own: impl Fn(&Question) -> bool,
    topic: &str,
    reply: &Value,
) -> Option<Result<(), Refusal>> {
    let mut refusal = None;
    for (question, answer) in autos.iter().filter(|(question, _)| *question.topic == *topic && is_own(question)) {
        match question.read(reply) {
            Ok(given) if given == *answer => return Some(Ok(())),
            Ok(_) => {
                let told = Refusal::OnlyAnswer { topic: topic.to_owned(), answer: question.tell(answer) };
                refusal.get_or_insert(told);
            }
            Err(wrong) => {
                refusal.get_or_insert(wrong);
            }
        }
    }
    refusal.map(Err)
}

impl ActionContext {
    /// Records a question that is not asked, since only one answer is possible. An early answer to it must be that
    /// answer.
    pub fn note_only_answer(&mut self, question: Question, answer: Answer) -> Result<(), Stop> {
        // In a run that replays its tape, early answers are for questions after the tape.
        if self.playback.is_at_end()
            && let Err(refusal) = self.answers.early.take_only(&question, &answer)
        {
            return Err(self.contradicted_by(refusal));
        }
        self.run.autos.push((question, answer));
        Ok(())
    }

    /// Stops the action because an early answer does not fit.
    pub(crate) fn contradicted_by(&mut self, refusal: Refusal) -> Stop {
        let stop = self.fault(refusal.to_string());
        self.answers.contradicted = Some(Box::new(refusal));
        stop
    }

    /// The refusal of an early answer to a question that was answered automatically with another answer.
    pub(crate) fn contradiction(&self) -> Option<Refusal> {
        let by_giver = |question: &Question| self.answers.early.may_answer(question);
        self.answers
            .early
            .replies()
            .iter()
            .find_map(|(topic, reply)| fits_auto(&self.run.autos, by_giver, topic, reply)?.err())
    }

    /// Decides who answers the next question of a seat. `asked`: its topic, its subject, and whether it has options.
    ///
    /// # Errors
    ///
    /// Nothing can be asked now, or there is no such seat.
    pub fn answerer(&mut self, seat: &str, asked: (&str, Option<EntityId>, bool)) -> Result<Answerer<'_>, Stop> {
        self.may_leave_open("asking")?;
        if self.phase == Phase::Deal {
            return Err(self.fault_with(
                "asking is not possible in `deal`",
                Some("leave secret answers of others at their default".into()),
            ));
        }
        self.run.pulse += 1;
        // Terms computed for the question do not belong to a later roll.
        self.rolls.terms.clear();
        self.note_reached();
        self.open_seat(seat)?;
        if self.paths.as_ref().is_some_and(|paths| paths.knows_next()) {
            return Ok(Answerer::Known);
        }
        if let Some(Some(slot)) = self.playback.tape.slots.get(self.playback.cursor) {
            let option = match slot {
                Slot::Answer { answer: Answer::Choice(id), .. } => Some(id),
                _ => None,
            };
            return Ok(Answerer::Tape(option));
        }
        let acts = self.answers.acts(seat);
        if let Some(paths) = &mut self.paths {
            let (topic, about, has_options) = asked;
            let before = self.playback.before();
            let policy = paths.ask_policy(self.answers.seats.get(seat), (seat, topic, about), has_options, before);
            return Ok(policy.map_or(Answerer::Reader, Answerer::Policy));
        }
        Ok(match self.answers.seats.get(seat) {
            Some(Driver::Policy(policy)) if !self.answers.overseen => Answerer::Policy(policy),
            Some(Driver::Absent) if !acts => Answerer::Default,
            Some(Driver::Absent | Driver::Human | Driver::Policy(_)) | None => Answerer::Reader,
        })
    }

    /// Describes the refused answer for a message; names the policy if one gave it.
    pub fn words_of_answer(&self, topic: &str, seat: &str, by_policy: bool) -> String {
        let driver = self.answers.seats.get(seat);
        let policy = match (&self.paths, driver) {
            (Some(paths), driver) => paths.policy_of(driver),
            (None, Some(Driver::Policy(policy))) => Some(policy),
            (None, _) => None,
        };
        match policy.filter(|_| by_policy) {
            Some(policy) => format!("the answer of the policy `{policy}` to `{topic}`"),
            None => format!("the answer to `{topic}`"),
        }
    }

    /// Gives a seat without a driver to a person. A fault if the ruleset does not declare the seat.
    pub fn open_seat(&mut self, seat: &str) -> Result<(), Stop> {
        if self.answers.seats.contains_key(seat) {
            return Ok(());
        }
        known_seat(&self.rules, seat).map_err(|wrong| self.fault(wrong))?;
        self.answers.seats.insert(Arc::from(seat), Driver::Human);
        Ok(())
    }

    /// Notifies the observers that an answer has chosen a card.
    pub fn answered(&mut self, seat: Arc<str>, card: Arc<str>) {
        self.observers.observe(&Op::Answer { seat, card });
    }

    /// Takes the answer to a question off the tape, whose slot there is not empty.
    pub fn taped(&mut self, question: &Question) -> Result<Taped, Stop> {
        self.may_leave_open("asking")?;
        if let Some(Some(Slot::Closed { .. })) = self.playback.tape.slots.get(self.playback.cursor)
            && self.playback.race.is_some()
        {
            self.playback.cursor += 1;
            return Ok(Taped::Closed);
        }
        if let Some(Some(found)) = self.playback.tape.slots.get(self.playback.cursor) {
            let misfit = match found {
                Slot::Answer { topic, seat, about, answer, .. }
                    if *topic == question.topic && *seat == question.seat && *about == question.about =>
                {
                    let answer = answer.clone();
                    match question.check(&answer) {
                        Ok(()) => {
                            self.playback.cursor += 1;
                            return Ok(Taped::Answered(answer));
                        }
                        Err(refusal) => format!("`{topic}` was answered {}, but {refusal}", question.tell(&answer)),
                    }
                }
                other => format!("the action asks `{}`, the tape holds {}", question.topic, words_of(Some(other))),
            };
            self.diverge(&format!("the tape does not fit: {misfit}"))?;
        }
        Ok(Taped::Cut)
    }

    /// Gets an answer that is not on the tape: from the explorer, or from the driver of the seat.
    pub fn ask(&mut self, question: &Question) -> Result<Asked, Stop> {
        self.may_leave_open("asking")?;
        if self.paths.is_some() {
            let asked = self.explored(|paths, context| paths.answer(context, question))?;
            if let Asked::Answered(answer) = &asked {
                self.record(Asking::of(question), answer.clone(), By::Default, DicePosition::default());
            }
            return Ok(asked);
        }
        match self.answers.seats.get(&question.seat) {
            Some(Driver::Policy(policy)) if !self.answers.overseen => Ok(Asked::Policy(policy.clone())),
            Some(Driver::Absent) if !self.answers.acts(&question.seat) => Ok(Asked::Default),
            Some(Driver::Absent | Driver::Human | Driver::Policy(_)) | None => {
                match self.answers.early.answer(question) {
                    None => Ok(self.put_out(question.clone())),
                    Some(Ok((answer, seq))) => {
                        self.record(Asking::of(question), answer.clone(), By::Person(seq), self.dice.position());
                        Ok(Asked::Answered(answer))
                    }
                    Some(Err(refusal)) => Err(self.contradicted_by(refusal)),
                }
            }
        }
    }

    /// True if the game would wait for a person at this question; and true if the explorer was given an answer to it.
    pub fn waits_for_person(&self, question: &Question) -> (bool, bool) {
        let waits = match self.answers.seats.get(&question.seat) {
            Some(Driver::Policy(_)) => false,
            Some(Driver::Absent) => question.default.is_none() || self.answers.acts(&question.seat),
            Some(Driver::Human) | None => true,
        };
        let Question { seat, topic, about, .. } = question;
        let before = self.playback.before();
        let given = self.paths.as_ref().is_some_and(|paths| paths.is_given(seat, topic, *about, before));
        (waits, given)
    }

    /// While paths are explored: the next question with its answer, if no choice point precedes it and an earlier run
    /// recorded it.
    pub fn asked_before(&mut self) -> Result<Option<Arc<(Question, Answer)>>, Stop> {
        if self.paths.is_some() {
            self.may_leave_open("asking")?;
        }
        Ok(self.paths.as_mut().and_then(|paths| paths.recall()))
    }

    /// True if answers are recorded although events have no readers: after the action whose paths are explored.
    pub fn notes_answers(&self) -> bool {
        self.paths.as_ref().is_some_and(|paths| paths.is_later())
    }

    /// Records an answer of a policy, or the default taken instead, while paths are explored.
    pub fn note_assumed(&mut self, asking: &Asking, audience: &Audience, answer: &str, by: By) {
        let Some(mut paths) = self.paths.take() else { return };
        let policy = paths.policy_of(self.answers.seats.get(&asking.seat)).filter(|_| matches!(by, By::Policy));
        let source = policy.map_or(AnswerSource::Default, |policy| AnswerSource::Policy(policy.clone()));
        paths.note_taken(self, asking, audience, answer.to_owned(), source);
        self.paths = Some(paths);
    }

    /// Opens a question and leaves its tape slot empty.
    pub fn put_out(&mut self, question: Question) -> Asked {
        self.log.note_showing(self.playback.cursor);
        if self.playback.cursor == self.playback.tape.slots.len() {
            self.playback.tape.slots.push(None);
        }
        self.playback.cursor += 1;
        self.run.questions.push(question);
        Asked::Open
    }

    /// Begins a race: the first answer to one of the following questions closes the others.
    pub fn begin_race(&mut self) -> Result<(), Stop> {
        self.may_leave_open("asking")?;
        self.playback.race = Some(self.playback.cursor);
        Ok(())
    }

    /// Ends a race after its questions were asked. `won`: the last of them is answered, and the others are closed.
    pub fn end_race(&mut self, won: bool) {
        let Some(start) = self.playback.race.take() else { return };
        let action = self.run.action;
        let of_race = |question: &Question| question.id.action == action && question.id.ordinal as usize >= start;
        if !won {
            self.run
                .questions
                .iter_mut()
                .filter(|question| of_race(question))
                .for_each(|question| question.race = true);
            return;
        }
        self.run.questions.retain(|question| !of_race(question));
        let end = self.playback.cursor.min(self.playback.tape.slots.len());
        // An answer that was the only possible one is not on the tape, so no undo of it can reopen the other questions.
        let is_answer = |at: &usize| *at >= start && matches!(self.playback.tape.slots[*at], Some(Slot::Answer { .. }));
        let winner = end.checked_sub(1).filter(is_answer);
        let by = winner.map_or(u32::MAX, |at| at as u32);
        let before =
            winner.and_then(|at| self.playback.tape.slots[at].as_ref()).map_or(self.playback.end, Slot::before);
        for slot in self.playback.tape.slots.iter_mut().take(end).skip(start) {
            match slot {
                None => *slot = Some(Slot::Closed { by, before }),
                // In an earlier run another answer closed it.
                Some(Slot::Closed { by: closer, .. }) => *closer = by,
                Some(_) => {}
            }
        }
        if self.playback.tape.slots[end..].iter().all(Option::is_none) {
            self.playback.tape.slots.truncate(end);
        }
    }

    /// Records an answer that was found in place.
    pub fn record(&mut self, asking: Asking, answer: Answer, by: By, before: DicePosition) {
        if self.answers.suggest_at == Some(self.playback.cursor) {
            self.answers.suggested = Some(answer);
            self.stop = Some(Stop::Question);
            return;
        }
        let Asking { seat, topic, about } = asking;
        let slot = Slot::Answer { topic, seat, about, answer, by, before };
        match self.playback.tape.slots.get_mut(self.playback.cursor) {
            Some(place) => *place = Some(slot),
            None => self.playback.tape.slots.push(Some(slot)),
        }
        self.playback.cursor += 1;
        self.playback.end = self.dice.position();
    }

    /// Refuses the last answer: a person is asked again, a policy's answer is a fault. `by_policy`: a policy has just
    /// given it.
    pub fn refuse(&mut self, topic: &str, reason: &str, seat: &str, by_policy: bool) -> Stop {
        self.observers.observe(&Op::Refuse);
        let ordinal = self.playback.cursor.saturating_sub(1);
        let slot = self.playback.tape.slots.get(ordinal).and_then(Option::as_ref);
        let person = slot.is_some_and(|slot| slot.seq().is_some());
        if !person || (self.playback.strict && !self.playback.unread_answers) {
            let by_policy = by_policy || matches!(slot, Some(Slot::Answer { by: By::Policy, .. }));
            let answer = self.words_of_answer(topic, seat, by_policy);
            return self.fault(format!("{answer} is refused: {reason}"));
        }
        let stop = Stop::Refused { ordinal, topic: topic.to_owned(), reason: reason.to_owned() };
        self.stop = Some(stop.clone());
        stop
    }

    /// Stops the action if one of the questions just asked is open.
    pub fn stop_if_open(&mut self) -> Result<(), Stop> {
        if self.run.questions.is_empty() {
            return Ok(());
        }
        Err(self.break_off())
    }
}
