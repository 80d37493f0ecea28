//! Answers to the questions of a path.

use super::Explorer;
use super::choice_point::{Fork, OffPlan};
use super::given::{Answering, Given};
use super::seen_state::SeenState;
use super::state_bytes::{write_bytes, write_last_roll};
use crate::context::PathInput;
use crate::model::AnswerSource;
use crate::{ActionContext, Answer, Asked, Asking, Question, Refusal, Slot};
use riskbreaker_state::{EntityId, Value};

/// The most answers that are tried for one question.
pub(crate) const MOST_ANSWERS: usize = 200;

impl Explorer {
    /// The given answers that are unused and may answer a question about an entity. After the open action, they are
    /// only for the entity of that action.
    pub(crate) fn left<'g>(
        &'g self,
        answered: &'g [Option<Slot>],
        about: Option<EntityId>,
    ) -> impl Iterator<Item = &'g Given> {
        let is_own = !self.later || self.is_actor(about);
        let all = self.given.iter().enumerate().filter(move |_| is_own);
        let is_left = move |at: usize, one: &Given| match self.later {
            true => !one.once,
            false => one.is_left(&self.given[..at], answered),
        };
        all.filter(move |(at, one)| is_left(*at, one)).map(|(_, one)| one)
    }

    /// True if the open question is about this entity.
    fn is_actor(&self, about: Option<EntityId>) -> bool {
        let actor = self.given.iter().find(|given| given.once).and_then(|given| given.about);
        about.is_some() && about == actor
    }

    /// The answers of this run after the tape with which it began.
    pub(crate) fn answered<'c>(&self, context: &'c ActionContext) -> &'c [Option<Slot>] {
        context.playback.before().get(self.taped..).unwrap_or_default()
    }

    /// True if no choice point was met yet.
    pub(crate) fn is_before_points(&self) -> bool {
        self.depth == 0 && self.sampling.rolled.is_empty() && !self.later
    }

    /// Ends the run.
    pub(crate) fn refuse(&mut self, message: impl Into<String>) -> Option<Asked> {
        self.off_plan = Some(OffPlan::Refused(Refusal::new(message)));
        None
    }

    pub(crate) fn given_answer(
        &mut self,
        context: &ActionContext,
        question: &Question,
    ) -> Result<Option<Answer>, Refusal> {
        let answered = self.answered(context);
        let fits = |given: &&Given| given.fits(&question.seat, &question.topic, question.about);
        // Prefer an answer that names the entity, then one that names the seat.
        let fitting = self.left(answered, question.about).filter(fits);
        let found = fitting.min_by_key(|given| (given.about.is_none(), given.seat.is_none()));
        // An answer given for now may be impossible later.
        let read = |given: &Given| match question.read(&given.value) {
            Err(_) if self.later => None,
            read => Some((given.topic.clone(), given.once, read)),
        };
        if let Some((topic, once, answer)) = found.and_then(read) {
            let answer = answer?;
            self.used.insert(topic);
            // The answer to the open question itself is the one whose odds are asked for.
            if !once {
                self.note_taken(
                    context,
                    &Asking::of(question),
                    &question.audience,
                    question.tell(&answer),
                    AnswerSource::Given,
                );
            }
            return Ok(Some(answer));
        }
        let named = match self.later {
            true if self.is_actor(question.about) => self.named(question).unwrap_or_default(),
            true => None,
            false => self.named(question)?,
        };
        let Some(answer) = named else { return Ok(None) };
        self.used.insert(String::new());
        self.note_taken(
            context,
            &Asking::of(question),
            &question.audience,
            question.tell(&answer),
            AnswerSource::Given,
        );
        Ok(Some(answer))
    }

    /// The answer to a question by the entities in `against`. `None` if they are not all among its options, or if it takes
    /// another number of them.
    ///
    /// # Errors
    ///
    /// [`Refusal::Greyed`] if one of them cannot be chosen now.
    pub fn named(&mut self, question: &Question) -> Result<Option<Answer>, Refusal> {
        let options = question.ask.options();
        let Some(against) = self.against.as_ref().filter(|_| options.iter().any(|option| option.entity.is_some()))
        else {
            return Ok(None);
        };
        self.offered
            .entry(question.topic.clone())
            .or_default()
            .extend(options.iter().filter_map(|option| option.entity));
        let id_of = |entity: &EntityId| {
            let mut found = options.iter().filter(|option| option.entity == Some(*entity));
            let first = found.next()?;
            found.next().is_none().then(|| Value::Text(first.id.clone()))
        };
        let ids = against.iter().map(id_of).collect::<Option<Vec<_>>>();
        let Some(ids) = ids.filter(|ids| !ids.is_empty()) else { return Ok(None) };
        let reply = if let [only] = ids.as_slice() { only.clone() } else { Value::List(ids.into()) };
        match question.read(&reply) {
            Err(refusal @ Refusal::Greyed { .. }) => Err(refusal),
            read => Ok(read.ok()),
        }
    }

    pub(crate) fn best_answer(&mut self, context: &ActionContext, question: &Question) -> Option<Asked> {
        let answers = match question.answers(MOST_ANSWERS) {
            Some(answers) => answers,
            // A free text influences no number.
            None => match question.usual_answer() {
                Some(answer) if matches!(answer, Answer::Line(_)) => vec![answer],
                _ => {
                    let topic = &question.topic;
                    return self.refuse(format!(
                        "`{topic}` has more than {MOST_ANSWERS} possible answers: give one, or let a policy answer"
                    ));
                }
            },
        };
        if answers.is_empty() {
            return self.refuse(format!("`{}` has no possible answer", question.topic));
        }
        let answers: Vec<(Answer, String)> =
            answers.into_iter().map(|answer| (answer.clone(), question.tell(&answer))).collect();
        let mut asked = format!("{:?}", (&question.seat, &question.topic, question.about)).into_bytes();
        asked.extend(answers.iter().flat_map(|(answer, _)| format!("{answer:?}").into_bytes()));
        let (seat, topic) = (question.seat.clone(), question.topic.clone());
        let seen = (self.answering == Answering::Branched).then(|| SeenState::shared(context, question));
        let is_seen = self.viewer.as_ref().is_none_or(|viewer| viewer.sees(&question.audience));
        let who = is_seen.then(|| question.about.map_or_else(|| seat.clone(), |about| context.title(about)));
        let (point, branch) = self.enter(
            context,
            &question.topic,
            |fork| matches!(fork, Fork::Answers { topic, .. } if *topic == question.topic),
            || Fork::Answers { seat, who, topic, answers, seen },
            |key| {
                key.extend_from_slice(&[0xff; 8]);
                write_bytes(key, &asked);
                write_last_roll(context, key);
            },
        )?;
        match &self.points[point as usize].fork {
            Fork::Answers { answers, .. } => Some(Asked::Answered(answers[branch as usize].0.clone())),
            Fork::Roll(_) | Fork::Entry => None,
        }
    }
}
