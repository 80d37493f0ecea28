//! Decisions in a session: answers, free acts, edits, remedies, and suggestions for them.

use std::sync::Arc;

use super::{OTHER_DICE, Session};
use crate::machine::known_policy;
use crate::{Answer, DiceSource, Edit, Fault, FreeAct, Game, Machine, Question, QuestionId, Refusal, Remedy, Viewer};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::Value;

impl Session {
    /// The questions of an action that were answered automatically, since only one answer was possible, in order, with
    /// their answers. Empty if the action had none, and for all but the last 16 actions.
    pub fn only_answers(&self, action: u32) -> &[(Question, Answer)] {
        self.game().autos.iter().find(|(number, _)| *number == action).map_or(&[], |(_, answers)| answers)
    }

    /// The open questions. Empty before [`Session::advance`] has reached one.
    pub fn questions(&self) -> &[Question] {
        self.game().open.as_ref().map_or(&[], |open| &open.questions)
    }

    /// Takes an exact answer to an open question.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit. The game is unchanged then.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.game_mut().answer(id, answer)
    }

    /// Takes an exact answer that a program gives for its player, such as an artificial opponent. The tape records it
    /// like a policy's answer, and undo does not stop at it.
    ///
    /// # Errors
    ///
    /// As for [`Session::answer`].
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        self.game_mut().answer_by_program(id, answer)
    }

    /// Asks a policy for its answer to an open question. Leaves the game unchanged. `None` if the policy gives no
    /// answer.
    ///
    /// # Errors
    ///
    /// The question is not open, there is no such policy, or the policy fails.
    pub fn suggest(&mut self, id: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal> {
        self.suggest_for(id, policy, &Viewer::master())
    }

    /// Proposes an answer to the player of an open question: the answer of the rules' first policy, based on what the
    /// seat knows; or else the proposal of the question, or the first answer that it accepts. The game master gets the
    /// question's proposal. Leaves the game unchanged.
    ///
    /// The proposal is independent of the question's default, which absent seats take.
    pub fn propose(&mut self, question: &Question) -> Option<Answer> {
        let own = question.proposal().cloned();
        if *question.seat == *crate::MASTER || matches!(question.ask, crate::Ask::Dice { .. } | crate::Ask::Line { .. })
        {
            return own;
        }
        let viewer = Viewer::seats([&*question.seat]);
        let policy = self.rules.policies().first().cloned();
        let suggested = policy.and_then(|policy| self.suggest_for(question.id, &policy, &viewer).ok().flatten());
        suggested.or(own).or_else(|| question.usual_answer())
    }

    /// The value of the state for a seat, as `value` in the rules measures it. `None` if the rules do not measure it.
    /// Leaves the game unchanged.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn worth(&mut self, seat: &str) -> Result<Option<i64>, Fault> {
        let seat = seat.to_owned();
        self.look(move |game, vm| vm.worth(&mut game.context, &seat))
    }

    /// Like [`Session::suggest`], based on what a viewer knows. Only for the game master the policy draws from the
    /// game's own dice, since these would reveal the next rolls.
    #[doc(hidden)]
    pub fn suggest_for(&mut self, id: QuestionId, policy: &str, viewer: &Viewer) -> Result<Option<Answer>, Refusal> {
        known_policy(&self.rules, policy).map_err(Refusal::new)?;
        let other = (!viewer.is_master()).then(|| self.dice_for_suggestion(viewer, id));
        let own = other.map(|other| std::mem::replace(&mut self.game_mut().context.dice.rng, other));
        let (policy, viewer) = (Arc::from(policy), viewer.clone());
        let suggest = move |game: &mut Game, vm: &mut dyn Machine| match game.ahead_for(&viewer) {
            None => game.suggest(vm, id, policy),
            Some(mut known) => {
                game.may_look_ahead(&viewer)?;
                known.context.dice.rng = game.context.dice.rng.clone();
                // Faces given in advance are only for the game.
                known.context.dice.source = DiceSource::Seeded;
                known.deal_anew(vm).map_err(Refusal::fault)?;
                known.take_questions_of(game);
                let suggested = known.suggest(vm, id, policy);
                known.context.unless_hidden(&viewer, suggested)
            }
        };
        let suggested = self.lend(suggest);
        if let Some(own) = own {
            self.game_mut().context.dice.rng = own;
        }
        suggested.map_err(Refusal::from)?
    }

    /// Returns dice that depend only on the viewer's own number for the question.
    fn dice_for_suggestion(&self, viewer: &Viewer, question: QuestionId) -> DiceRng {
        let number = self.number_for(viewer, question);
        let stream = number.map_or(0, |own| (u64::from(own.action) << 32) | u64::from(own.ordinal));
        DiceRng::stream(0, OTHER_DICE | stream)
    }

    /// The free acts of every seat, including those that cannot be taken now.
    pub fn free_acts(&mut self) -> Vec<FreeAct> {
        self.seen_by(Viewer::master()).free_acts()
    }

    /// Takes a free act of a seat. It runs with the next [`Session::advance`]: before the open action, unless that has
    /// shown the seat a roll or a secret; otherwise after it, if the act is still open then.
    ///
    /// # Errors
    ///
    /// The ruleset has no such act, the act is not open to the seat now, or another act still has open questions.
    pub fn act(&mut self, seat: &str, name: &str) -> Result<(), Refusal> {
        let acts = self.free_acts();
        let Some(act) = acts.iter().find(|act| *act.name == *name && *act.seat == *seat) else {
            let names = acts.iter().map(|act| &*act.name);
            let sentence = format!("there is no free act `{name}` for {seat}");
            return Err(match riskbreaker_ruleset::nearest(name, names.clone()) {
                Some(near) if near == name => {
                    let seats: Vec<String> = self.rules.seats().keys().cloned().collect();
                    let sentence = format!("{sentence}; the seats are {}", seats.join(", "));
                    Refusal::unknown_among_many(sentence, seat, seats.iter().map(String::as_str))
                }
                _ => Refusal::unknown_among_many(sentence, name, names),
            });
        };
        if !act.enabled {
            return Err(Refusal::Greyed { label: act.title.to_string(), reason: act.reason.clone() });
        }
        let (seat, name) = (act.seat.clone(), act.name.clone());
        self.game_mut().act(seat, name)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// Makes an edit of the game master, before the open action, which then runs again.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit. The game is unchanged then.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        if let Err(why) = Value::must_fit(edit.value()) {
            std::mem::forget(edit);
            return Err(Refusal::new(why));
        }
        self.game_mut().edit(edit)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// Applies a person's choice after a fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        self.game_mut().remedy(remedy)?;
        self.game_mut().publish(None);
        Ok(())
    }

    /// The open question with this id.
    #[doc(hidden)]
    pub fn open_question(&self, id: QuestionId) -> Result<&Question, Refusal> {
        self.questions().iter().find(|open| open.id == id).ok_or(Refusal::Stale { question: id })
    }

    /// The number of the open action, if there is one.
    #[doc(hidden)]
    pub fn open_action(&self) -> Option<u32> {
        self.game().open.as_ref().map(|open| open.number)
    }

    /// True if an action has begun and waits for an answer.
    pub fn in_the_middle(&self) -> bool {
        self.game().in_the_middle()
    }

    /// True if something has begun and is not finished: an open action with a tape, or a free act.
    #[doc(hidden)]
    pub fn is_unfinished(&self) -> bool {
        self.game().is_unfinished()
    }

    /// True if a free act waits for the end of the open action.
    #[doc(hidden)]
    pub fn has_waiting_acts(&self) -> bool {
        !self.game().queued.is_empty()
    }

    /// True if a free act of this seat would have to wait for the end of the open action.
    #[doc(hidden)]
    pub fn act_waits(&self, seat: &str) -> bool {
        self.game().act_waits(seat)
    }
}
