//! The recorded decisions and rolls of a saved game, for a game that is replayed from an earlier point.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Session;
use super::record::Place;
use super::step::Step;
use crate::{Answer, By, Cause, DecisionCount, Done, Edit, Refusal, Remedy, Ruleset, Setup, Slot, StartError};
use riskbreaker_state::{EntityId, readable_name};

pub use super::record::{FindRules, OTHER_STATE};
pub use crate::context::RecordedFaces;

/// The decisions and rolls of a part of a saved game.
#[derive(Clone, Debug, Default)]
pub struct RecordedCourse {
    /// The decisions, in order.
    pub decisions: Vec<RecordedDecision>,
    /// The rolls, in order, as far as the actions ran one after another.
    pub rolls: Vec<RecordedRoll>,
}

/// A decision of a person.
#[derive(Clone, Debug)]
pub struct RecordedDecision {
    /// Its number in the game, from 1.
    pub number: u32,
    /// The content of the decision.
    pub act: RecordedAct,
}

/// The content of a person's decision.
#[derive(Clone, Debug)]
pub enum RecordedAct {
    /// The answer to a question.
    Answer {
        /// The seat that answered.
        seat: Arc<str>,
        /// The topic of the question.
        topic: Arc<str>,
        /// The entity that the question was about.
        about: Option<EntityId>,
        /// The answer.
        answer: Answer,
    },
    /// The faces of real dice, which are listed among the rolls.
    Throw,
    /// A manual edit.
    Edit(Edit),
    /// A free act.
    Free {
        /// The seat that acted.
        seat: Arc<str>,
        /// The name of the act.
        name: Arc<str>,
    },
    /// An action with a fault was skipped.
    Skip,
    /// Other rules took effect: their hash.
    Rules(String),
}

impl RecordedAct {
    /// What was decided, in words: `left: risk 2`.
    pub fn words(&self) -> String {
        match self {
            RecordedAct::Answer { seat, topic, answer, .. } => {
                format!("{seat}: {} {}", readable_name(topic), answer.in_ids())
            }
            RecordedAct::Throw => "typed dice".into(),
            RecordedAct::Edit(_) => "a manual edit".into(),
            RecordedAct::Free { seat, name } => format!("{seat}: {}", readable_name(name)),
            RecordedAct::Skip => "a skipped action".into(),
            RecordedAct::Rules(_) => "a change of rules".into(),
        }
    }
}

/// A roll or a draw.
#[derive(Clone, Debug)]
pub struct RecordedRoll {
    /// The purpose of the roll, as the script words it, with placeholders.
    pub label: Arc<str>,
    /// The dice in notation.
    pub dice: Arc<str>,
    /// The faces in the order in which they were drawn.
    pub faces: Vec<u32>,
    /// The number of the last decision before it.
    pub after: u32,
}

impl RecordedCourse {
    /// What was decided and rolled in a game that is kept in memory, from its start.
    pub fn of(session: &Session) -> RecordedCourse {
        let (mut course, mut last, place) = (RecordedCourse::default(), 0, session.place());
        for done in session.game().history.iter() {
            course.take_slots(&done.tape.get().slots, &[], &mut last);
            course.take_cause(done, &mut last);
        }
        for (_, slots) in place.tapes() {
            course.take_slots(slots, &[], &mut last);
        }
        course.decisions.sort_by_key(|decision| decision.number);
        course
    }

    /// Collects the decisions and rolls after the position `from`: of the actions in `done`, and of those open at the
    /// position `to`.
    pub fn between(from: &Place, done: &[Done], to: Option<&Place>) -> RecordedCourse {
        let mut course = RecordedCourse::default();
        let known: BTreeMap<u32, &[Option<Slot>]> = from.tapes().collect();
        let mut last = from.made();
        for done in done {
            course.take_slots(&done.tape.get().slots, known.get(&done.number).copied().unwrap_or_default(), &mut last);
            course.take_cause(done, &mut last);
        }
        for (number, slots) in to.into_iter().flat_map(Place::tapes) {
            course.take_slots(slots, known.get(&number).copied().unwrap_or_default(), &mut last);
        }
        course.decisions.sort_by_key(|decision| decision.number);
        course
    }

    /// Adds the slots on the tape of an action. `known`: the tape at the beginning of the course.
    fn take_slots(&mut self, slots: &[Option<Slot>], known: &[Option<Slot>], last: &mut u32) {
        for (at, slot) in slots.iter().enumerate() {
            let Some(slot) = slot else { continue };
            if known.get(at).is_some_and(|known| known.as_ref() == Some(slot)) {
                continue;
            }
            *last = slot.seq().unwrap_or_default().max(*last);
            let act = match slot {
                Slot::Answer { topic, seat, about, answer, by: By::Person(_), .. } => RecordedAct::Answer {
                    seat: seat.clone(),
                    topic: topic.clone(),
                    about: *about,
                    answer: answer.clone(),
                },
                Slot::Roll { label, dice, .. } => {
                    let (label, dice, faces) = (label.clone(), dice.clone(), slot.rolled());
                    self.rolls.push(RecordedRoll { label, dice, faces, after: *last });
                    RecordedAct::Throw
                }
                Slot::Answer { .. } | Slot::Closed { .. } => continue,
            };
            self.decisions.extend(slot.seq().map(|number| RecordedDecision { number, act }));
        }
    }

    /// Adds a decision that answers no question.
    fn take_cause(&mut self, done: &Done, last: &mut u32) {
        if let Cause::Free { seat, name } = &done.cause
            && let Some(number) = done.began.or(done.seq)
        {
            let act = RecordedAct::Free { seat: seat.clone(), name: name.clone() };
            self.decisions.push(RecordedDecision { number, act });
        }
        let act = match &done.cause {
            Cause::Edit { edit } => Some(RecordedAct::Edit(edit.clone())),
            cause => cause.rules_brought().map(|hash| RecordedAct::Rules(hash.to_owned())),
        };
        let skipped = done.skipped.is_some().then_some(RecordedAct::Skip);
        for act in act.into_iter().chain(skipped) {
            // A change of rules that waited for its boundary has no number: it counts as after the last decision.
            let number = done.seq.unwrap_or(*last);
            *last = number.max(*last);
            self.decisions.push(RecordedDecision { number, act });
        }
    }
}

impl FromIterator<RecordedRoll> for RecordedFaces {
    fn from_iter<I: IntoIterator<Item = RecordedRoll>>(rolls: I) -> Self {
        let mut faces = RecordedFaces::default();
        rolls.into_iter().for_each(|roll| faces.add(roll.label, roll.dice, roll.faces));
        faces
    }
}

/// A game that was played again from its start under other rules.
pub struct ReplayedGame {
    /// The game after the last decision that was made again.
    pub session: Session,
    /// The number of decisions that were made again.
    pub made_again: u32,
    /// Decisions that are no longer possible, each with the reason.
    pub left_out: Vec<(RecordedDecision, String)>,
    /// Decisions behind a script error, which were not tried.
    pub waiting: usize,
    /// For each decision that was tried: its number in the course, and the decisions of the new game before it.
    pub counts: Vec<(u32, DecisionCount)>,
}

impl RecordedCourse {
    /// Plays the course in a new game by some rules that is set up as `of` was. A decision that is no longer possible is left out,
    /// and a script error ends it. A roll keeps its faces if the same roll is made again.
    ///
    /// # Errors
    ///
    /// The game cannot start under these rules.
    pub fn play_again(&self, of: &Session, rules: &Arc<Ruleset>) -> Result<ReplayedGame, StartError> {
        let mut session = Session::start(rules, Setup::clone(&of.game().setup))?;
        session.take_recorded_faces(self.rolls.iter().cloned().collect());
        let mut is_stopped = matches!(session.advance(), Ok(Step::Fault(_)) | Err(_));
        let (mut made_again, mut left_out, mut counts) = (0, Vec::new(), Vec::new());
        let mut find = |_: &str| Err("the rules of this game are those of the files".to_owned());
        let mut decisions = self.decisions.iter();
        while !is_stopped && let Some(decision) = decisions.next() {
            counts.push((decision.number, session.decision_count()));
            match session.decide_again(&decision.act, &mut find) {
                Ok(()) => made_again += 1,
                Err(refusal) => left_out.push((decision.clone(), refusal.to_string())),
            }
            is_stopped = session.fault().is_some();
        }
        session.take_recorded_faces(std::iter::empty().collect());
        for (seat, driver) in of.seats() {
            // A seat that the new rules do not have stays empty.
            if session.seats().get(seat).is_some_and(|now| now != driver) {
                let _ = session.set_seat(seat, driver.clone());
            }
        }
        Ok(ReplayedGame { session, made_again, left_out, waiting: decisions.count(), counts })
    }
}

impl Session {
    /// Sets the faces for later rolls with the same label and dice; other rolls come from the generator. Replaces faces
    /// set earlier.
    #[doc(hidden)]
    pub fn take_recorded_faces(&mut self, faces: RecordedFaces) {
        self.game_mut().context.dice.recorded = faces;
    }

    /// Repeats a decision of a saved game, and plays on to the next question.
    ///
    /// # Errors
    ///
    /// A sentence if there is no such question, or the decision is impossible.
    #[doc(hidden)]
    pub fn decide_again(&mut self, act: &RecordedAct, find: &mut FindRules<'_>) -> Result<(), Refusal> {
        match act {
            RecordedAct::Answer { seat, topic, about, answer } => {
                let mut asked = self.questions().iter().filter(|asked| asked.seat == *seat && asked.topic == *topic);
                let first = asked.clone().next();
                let Some(question) = asked.find(|asked| asked.about == *about).or(first) else {
                    let what = riskbreaker_state::readable_name(topic);
                    return Err(Refusal::new(match self.outcome() {
                        Some(outcome) => format!("the game is over ({outcome})"),
                        None => format!("nothing asks {seat} for {what} there"),
                    }));
                };
                let id = question.id;
                self.answer(id, answer.clone())?;
            }
            RecordedAct::Throw => return Ok(()),
            RecordedAct::Edit(edit) => self.edit(edit.clone())?,
            RecordedAct::Free { seat, name } => self.act(seat, name)?,
            RecordedAct::Skip => self.remedy(Remedy::SkipAction)?,
            RecordedAct::Rules(hash) => {
                let rules = find(hash).map_err(Refusal::new)?;
                if rules.id() == self.ruleset().id() && rules.extra_layers() == self.ruleset().extra_layers() {
                    self.reload(rules)?;
                } else {
                    self.change_rules(&rules).map_err(|error| Refusal::new(error.to_string()))?;
                }
            }
        }
        let _ = self.advance()?;
        Ok(())
    }
}
