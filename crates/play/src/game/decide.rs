//! Decisions between actions: answers, free acts, remedies, and the drivers of seats.

use std::sync::Arc;

use super::Game;
use super::open::Open;
use super::undo_op::UndoOp;
use crate::model::words_of;
use crate::{Answer, By, Cause, Driver, Event, Happening, Machine, QuestionId, Refusal, Remedy, Slot, Viewer};
use riskbreaker_dice::{Dice, Throws};
use riskbreaker_state::{Audience, Value};

impl Game {
    /// Takes an exact answer to an open question. This is a decision, which undo can take back.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let seq = self.next_seq();
        let op = self.take_answer(id, answer, Some(seq))?;
        self.did(op);
        Ok(())
    }

    /// Takes an answer that counts as no decision, such as one of a policy: undo does not stop at it.
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.take_answer(id, answer, None).map(|_| (self.unasked, self.unasked_bytes) = (0, 0))
    }

    /// Puts an answer on the tape. `seq`: the number of the decision, if the answer is one.
    fn take_answer(&mut self, id: QuestionId, answer: Answer, seq: Option<u32>) -> Result<UndoOp, Refusal> {
        let position = self.context.dice.position();
        let Some(open) = self.open.as_mut().filter(|open| open.number == id.action) else {
            return Err(Refusal::Stale { question: id });
        };
        let Some(at) = open.questions.iter().position(|question| question.id == id) else {
            return Err(Refusal::Stale { question: id });
        };
        open.questions[at].check(&answer)?;
        let question = open.questions.remove(at);
        let ordinal = id.ordinal as usize;
        // Until the action runs again, only the seat itself knows the answer.
        let audience = match answer {
            Answer::Faces(_) => question.audience.clone(),
            _ => Audience::named(&question.seat),
        };
        open.private.insert(id.ordinal, audience);
        if !matches!(answer, Answer::Faces(_)) {
            open.untold.insert(id.ordinal, question.seat.clone());
        }
        let op = UndoOp::answer(&question, &answer);
        let slot = match answer {
            Answer::Faces(thrown) => {
                let crate::Ask::Dice { dice, .. } = question.ask else {
                    return Err(Refusal::WrongType { topic: None, wanted: question.ask.wanted(), given: None });
                };
                let read = Dice::parse(&dice).map_err(|error| Refusal::new(error.to_string()))?;
                let (known, earlier): (&[u32], Vec<u32>) = match open.tape.slots.get(ordinal) {
                    Some(Some(slot @ Slot::Roll { faces, .. })) => (faces, slot.seqs().collect()),
                    _ => (&[], Vec::new()),
                };
                let mut throws = Throws::read(&read, known);
                throws.add(&thrown);
                let label = open.rolled_for.clone().unwrap_or_else(|| Arc::from(&*question.why));
                Slot::Roll { label, dice, faces: throws.faces(), before: position, seq, earlier }
            }
            answer => Slot::Answer {
                topic: question.topic,
                seat: question.seat,
                about: question.about,
                answer,
                by: seq.map_or(By::Policy, By::Person),
                before: position,
            },
        };
        while open.tape.slots.len() <= ordinal {
            open.tape.slots.push(None);
        }
        open.tape.slots[ordinal] = Some(slot);
        open.answered = true;
        open.to_check |= question.checked;
        if question.race {
            // In a race only the first answer counts: drop the other questions.
            open.questions.retain(|other| !other.race);
        }
        Ok(op)
    }

    /// Takes a free act of a seat. It runs before the open action unless that has shown the seat a roll or a secret;
    /// otherwise after it, if the act is still open then.
    ///
    /// # Errors
    ///
    /// Another free act still has open questions; the game is over.
    pub fn act(&mut self, seat: Arc<str>, name: Arc<str>) -> Result<(), Refusal> {
        if self.context.state.outcome().is_some() && self.open.is_none() {
            return Err(Refusal::Over);
        }
        if let Some(reason) = self.no_free_act() {
            return Err(Refusal::new(reason));
        }
        let seq = self.next_seq();
        self.did(UndoOp::Free { seat: seat.clone(), name: name.clone(), audience: Audience::Everybody });
        if self.act_waits(&seat) {
            self.queued.push_back((seat, name, seq));
            return Ok(());
        }
        self.park();
        if let Some(open) = self.open.take() {
            self.held.push(open);
        }
        self.open_free(seat, name, Some(seq));
        Ok(())
    }

    /// The reason why no free act can be taken now. `None` if one can. An act with open questions must be finished
    /// first.
    pub fn no_free_act(&self) -> Option<String> {
        let Some(Open { cause: Cause::Free { seat, name }, .. }) = &self.open else { return None };
        let acts = self.context.rules.free_acts();
        let title = acts.iter().find(|act| act.name == *name).map_or(&**name, |act| &*act.title);
        Some(format!("{title} ({seat}) comes first: answer what it asks, or undo it"))
    }

    /// Applies a person's choice after a fault: retry or skip the action.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        let (seq, full) = (self.next_seq(), self.is_full());
        let Some(open) = self.open.as_mut().filter(|open| open.fault.is_some()) else {
            return Err(Refusal::NoFault);
        };
        match remedy {
            Remedy::Retry if open.stopped && full => {
                let message = self.full_message();
                Err(Refusal::new(format!(
                    "{message}, and goes no further. Take something back with `undo`, or change the rules."
                )))
            }
            Remedy::Retry => {
                (open.fault, open.stopped, open.goes_on) = (None, false, true);
                Ok(())
            }
            Remedy::SkipAction => {
                if open.cause == Cause::Start {
                    return Err(Refusal::new("the start of a game cannot be skipped; correct the script and `retry`"));
                }
                let Some(mut open) = self.open.take() else { return Err(Refusal::NoFault) };
                if let Cause::Entry { id, .. } = &open.cause {
                    self.context.state.take_entry(*id);
                }
                self.asked_policies |= matches!(open.cause, Cause::Free { .. });
                open.began = open.seq.replace(seq);
                // The message of a fault may contain secrets.
                let why = open.fault.as_ref().map_or("", |fault| &fault.message);
                let text = format!("{} is skipped: {why}", words_of(&open.cause));
                let audience = self.readers_of_anything(&self.context.rules);
                let event = Event { action: open.number, n: 0, audience, happening: Happening::Notice { text } };
                self.outbox.push(event.clone());
                open.events = vec![event];
                self.commit(open);
                self.did(UndoOp::Skip);
                Ok(())
            }
        }
    }

    /// Sets the driver of a seat. The open action runs again, so that the new driver gets its questions.
    pub fn reseat(&mut self, seat: Arc<str>, driver: Driver) {
        self.context.answers.seats.insert(seat, driver);
        self.context.state.renew_identity();
        if let Some(open) = self.open.as_mut().filter(|open| !open.questions.is_empty()) {
            open.questions.clear();
            // Drop empty slots at the end of the tape: their questions are asked again.
            while matches!(open.tape.slots.last(), Some(None)) {
                open.tape.slots.pop();
            }
            self.park();
        }
    }

    /// True if the action of this number is a free act that is open or held.
    pub fn is_free_act(&self, action: u32) -> bool {
        let mut all = self.open.iter().chain(&self.held);
        all.any(|open| open.number == action && matches!(open.cause, Cause::Free { .. }))
    }

    /// Checks a viewer's answer to a question that was answered automatically, since only one answer was possible.
    /// `None` if the action had no such question for this viewer.
    pub fn fits_auto(&self, action: u32, viewer: &Viewer, topic: &str, reply: &Value) -> Option<Result<(), Refusal>> {
        let (_, autos) = self.autos.iter().find(|(number, _)| *number == action)?;
        crate::fits_auto(autos, |question| viewer.plays(&question.seat), topic, reply)
    }

    /// Copies the open questions from the game of which this is a fork. Seats played by people take defaults in the
    /// fork.
    pub fn take_questions_of(&mut self, game: &Game) {
        if let (Some(open), Some(other)) = (&mut self.open, &game.open) {
            open.questions.clone_from(&other.questions);
        }
        let people = self.context.answers.seats.values_mut().filter(|driver| **driver == Driver::Human);
        people.for_each(|driver| *driver = Driver::Absent);
    }

    /// Asks a policy for its answer to an open question. Leaves the game unchanged. `None` if the policy gives no
    /// answer.
    pub fn suggest(
        &mut self,
        vm: &mut dyn Machine,
        id: QuestionId,
        policy: Arc<str>,
    ) -> Result<Option<Answer>, Refusal> {
        let Some(open) = self.open.as_ref().filter(|open| open.number == id.action) else {
            return Err(Refusal::Stale { question: id });
        };
        let Some(question) = open.questions.iter().find(|question| question.id == id).cloned() else {
            return Err(Refusal::Stale { question: id });
        };
        let (tape, position, outbox) = (open.tape.clone(), self.context.dice.position(), self.outbox.len());
        let (events, ran) = (open.events.clone(), open.ran);
        let driver = self.context.answers.seats.insert(question.seat.clone(), Driver::Policy(policy));
        if let Some(open) = &mut self.open {
            // The slot is at the end of the tape or waits with others: later questions are asked again.
            open.tape.slots.truncate(id.ordinal as usize);
            open.questions.clear();
        }
        self.context.answers.suggest_at = Some(id.ordinal as usize);
        let listening = std::mem::replace(&mut self.context.log.listening, false);
        self.context.state.renew_identity();
        self.run(vm);
        self.context.log.listening = listening;
        self.context.state.renew_identity();
        self.context.answers.suggest_at = None;
        // Questions for typed dice belong to no seat of the game.
        match driver {
            Some(driver) => drop(self.context.answers.seats.insert(question.seat.clone(), driver)),
            None => drop(self.context.answers.seats.remove(&question.seat)),
        }
        let suggested = self.context.answers.suggested.take();
        let fault = self.open.as_mut().and_then(|open| open.fault.take());
        self.park();
        self.context.dice.set_position(position);
        self.outbox.truncate(outbox);
        if let Some(open) = &mut self.open {
            open.tape = tape;
            open.events = events;
        }
        // A discarded machine runs nothing more; the next call gets a new one.
        if ran && !vm.is_dead() {
            self.run(vm);
            self.outbox.truncate(outbox);
        }
        match fault {
            Some(fault) => Err(Refusal::fault(*fault)),
            None => Ok(suggested),
        }
    }
}
