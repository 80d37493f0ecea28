//! The explorer as an input of an action.

use std::any::Any;
use std::sync::Arc;

use super::Explorer;
use super::choice_point::OffPlan;
use super::given::{Answering, AskedBefore, Assumed};
use crate::context::{PathInput, ResumePoint};
use crate::model::AnswerSource;
use crate::{ActionContext, Answer, Asked, Asking, Driver, Question, Sight, SightForm, Slot};
use riskbreaker_dice::{Dice, Roll, Seen};
use riskbreaker_state::{Audience, EntityId};

impl PathInput for Explorer {
    fn is_sampling(&self) -> bool {
        self.sampling.rng.is_some()
    }

    fn merges(&self) -> bool {
        self.seen.fingerprint.is_some()
    }

    fn is_later(&self) -> bool {
        self.later
    }

    fn roll(&mut self, context: &ActionContext, dice: &Arc<Dice>, sight: &Sight, label: &Arc<str>) -> Option<Roll> {
        let roll = self.roll_seen(context, dice, (sight.seen(), sight.form()), label)?;
        self.keep_resume_point(|keep| ResumePoint::of(context, keep, dice, sight));
        Some(roll)
    }

    fn pick(&mut self, context: &ActionContext, n: u32) -> Option<u32> {
        let dice = Dice::parse(&format!("1d{n}")).ok()?;
        let label = self.dice.pick_label.clone();
        self.roll_seen(context, &dice, (Seen::Total, SightForm::Total), &label).map(|roll| roll.total() as u32)
    }

    fn look(&mut self, context: &ActionContext, dice: &Dice, cuts: &[i64], total: i64) -> Option<i64> {
        let reached = cuts.iter().filter(|cut| total >= **cut).count();
        let seen = Seen::Within { cuts: cuts.to_vec(), reached };
        let label = self.dice.look_label.clone();
        self.roll_seen(context, dice, (seen, SightForm::Total), &label).map(|roll| roll.total())
    }

    fn refuse_look(&mut self) {
        self.refuse("rb.last_roll reads a roll that is not the latest one, or is not called by its full name: such paths cannot be enumerated");
    }

    fn note_roll(&mut self) {
        self.dice.rolled_again = true;
    }

    fn roll_again(&mut self) -> bool {
        std::mem::take(&mut self.dice.rolled_again)
    }

    fn answer(&mut self, context: &ActionContext, question: &Question) -> Option<Asked> {
        match self.given_answer(context, question) {
            Ok(None) => {}
            Ok(Some(answer)) => return Some(Asked::Answered(answer)),
            Err(refusal) => {
                self.off_plan = Some(OffPlan::Refused(refusal));
                return None;
            }
        }
        let topic = &question.topic;
        let driver = context.answers.seats.get(&question.seat);
        if let Some(policy) = self.policy_of(driver) {
            return Some(Asked::Policy(policy.clone()));
        }
        let source = match &self.answering {
            Answering::Branched if driver == Some(&Driver::Human) => return self.best_answer(context, question),
            Answering::Seated | Answering::Branched => match driver {
                Some(Driver::Absent) if question.default.is_some() => AnswerSource::Default,
                _ => return self.refuse(format!("nobody answers `{topic}`, which is asked of {}", question.seat)),
            },
            Answering::Given => {
                let (seat, why) = (&question.seat, &question.why);
                return self.refuse(format!("`{topic}` is asked of {seat} and has no answer: {why}"));
            }
            // A seat that answers under seal does not know the answers of others, and a best answer would use them.
            Answering::Best if question.sealed && self.asker.as_ref().is_some_and(|own| *own != question.seat) => {
                if question.default.is_some() {
                    AnswerSource::Default
                } else {
                    AnswerSource::First
                }
            }
            Answering::Best => return self.best_answer(context, question),
            Answering::Default if question.default.is_some() => AnswerSource::Default,
            Answering::Default | Answering::Policy(_) => AnswerSource::First,
        };
        let Some(answer) = question.usual_answer() else {
            return self.refuse(format!("`{topic}` has no default answer; give one"));
        };
        self.note_taken(context, &Asking::of(question), &question.audience, question.tell(&answer), source);
        Some(Asked::Answered(answer))
    }

    fn recall(&mut self) -> Option<Arc<(Question, Answer)>> {
        if !self.is_before_points() {
            return None;
        }
        let known = self.asked.questions.get(self.asked.met)?.clone()?;
        self.asked.met += 1;
        Some(known)
    }

    fn knows_next(&self) -> bool {
        self.is_before_points() && matches!(self.asked.questions.get(self.asked.met), Some(Some(_)))
    }

    fn remember(&mut self, answered: Option<(&Question, &Answer)>) {
        if self.is_before_points() {
            let known = || answered.map(|(question, answer)| Arc::new((question.clone(), answer.clone())));
            note_asked(&mut self.asked.questions, &mut self.asked.met, known);
        }
    }

    fn ask_policy<'a>(
        &'a mut self,
        driver: Option<&'a Driver>,
        (seat, topic, about): (&str, &str, Option<EntityId>),
        has_options: bool,
        before: &[Option<Slot>],
    ) -> Option<&'a Arc<str>> {
        if self.is_given(seat, topic, about, before) || (has_options && self.against.is_some()) {
            return None;
        }
        let is_before = self.is_before_points();
        self.policy_of(driver)?;
        if is_before {
            note_asked(&mut self.asked.questions, &mut self.asked.met, || None);
        }
        self.policy_of(driver)
    }

    fn policy_of<'a>(&'a self, driver: Option<&'a Driver>) -> Option<&'a Arc<str>> {
        match (&self.answering, driver) {
            (Answering::Policy(policy), _)
            | (Answering::Seated | Answering::Branched, Some(Driver::Policy(policy))) => Some(policy),
            // After the open action, policies answer for their seats.
            (Answering::Default, Some(Driver::Policy(policy))) if self.later => Some(policy),
            _ => None,
        }
    }

    fn is_given(&self, seat: &str, topic: &str, about: Option<EntityId>, before: &[Option<Slot>]) -> bool {
        let answered = before.get(self.taped..).unwrap_or_default();
        self.left(answered, about).any(|given| given.fits(seat, topic, about))
    }

    fn note_taken(
        &mut self,
        context: &ActionContext,
        asking: &Asking,
        audience: &Audience,
        answer: String,
        source: AnswerSource,
    ) {
        if !self.viewer.as_ref().is_none_or(|viewer| viewer.sees(audience)) {
            return;
        }
        let who = asking.about.map_or_else(|| asking.seat.clone(), |about| context.title(about));
        self.taken.insert(Assumed { who, topic: asking.topic.clone(), answer, source });
    }
}

impl ActionContext {
    /// Explores the paths of the running action from now on.
    pub fn explore(&mut self, explorer: Box<Explorer>) {
        self.paths = Some(explorer);
    }

    /// The explorer of the running action. `None` if its paths are not explored.
    pub fn explorer(&self) -> Option<&Explorer> {
        (&**self.paths.as_ref()? as &dyn Any).downcast_ref()
    }

    /// Like [`ActionContext::explorer`], to be changed.
    pub fn explorer_mut(&mut self) -> Option<&mut Explorer> {
        (&mut **self.paths.as_mut()? as &mut dyn Any).downcast_mut()
    }

    /// Takes the explorer out of the context. The paths of the action are not explored any more.
    pub fn take_explorer(&mut self) -> Option<Box<Explorer>> {
        (self.paths.take()? as Box<dyn Any>).downcast().ok()
    }
}

/// Records the next question before the first choice point, unless an earlier run has recorded it.
fn note_asked(asked: &mut Vec<AskedBefore>, met: &mut usize, known: impl FnOnce() -> AskedBefore) {
    if *met == asked.len() {
        asked.push(known());
    }
    *met += 1;
}
