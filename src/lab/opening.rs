//! What opens a card that the rules keep closed in a position.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Position;
use super::position::{has_card, whom};
use crate::play::{Answer, Edit, Question, QuestionId, Ruleset, Session, Step};
use crate::state::{EntityId, Type, Value};

/// What has to be otherwise before a closed card can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Somebody else may play it: who, by title.
    Actor(String),
    /// Another answer on the way to it: topic, answer.
    Way(String, String),
    /// A change by hand, as [`Position::edits`] takes it: name, field, value.
    Edit(String, String, String),
}

/// Changes by hand that are tried.
const CHANGES: usize = 1_200;
/// What a number is set to.
const NUMBERS: [i64; 4] = [3, 1, 0, -3];
/// Answers on the way that are tried, and how many of one question.
const ANSWERS: usize = 60;
const OF_ONE: usize = 12;
/// Questions after which nobody else is expected to be asked for the card.
const AHEAD: usize = 200;

impl Position {
    /// What opens the card where it is closed here: somebody else who plays it, unless somebody is named; another answer on
    /// the way; a change by hand. `None`: nothing of that was found, or the card is not closed.
    pub fn opening(&self, rules: &Arc<Ruleset>) -> Option<Opening> {
        let (mut session, mut steps) = (self.start(rules).ok()?, Vec::new());
        self.go_to(&mut session, &mut |_, question, answer| steps.push((question.clone(), answer.clone()))).ok()?;
        self.edit_by_hand(&mut session, &mut |_, _, _| {}).ok()?;
        let closed = self.found(&session)?;
        if closed.read(&Value::text(&self.card)).is_ok() {
            return None;
        }
        let (question, others) = (closed.id, self.others(&session));
        let opens = |position: &Position| {
            let mut session = position.start(rules).ok()?;
            position.go_to(&mut session, &mut |_, _, _| {}).ok()?;
            position.edit_by_hand(&mut session, &mut |_, _, _| {}).ok()?;
            position.found(&session)?.read(&Value::text(&self.card)).ok()
        };
        let by_another = || {
            let open = |actor: &&String| opens(&Position { actor: Some((*actor).clone()), ..self.clone() }).is_some();
            others.iter().find(open).cloned().map(Opening::Actor)
        };
        let by_another_way = || {
            let open = |way: &&(String, String)| {
                let mut position = self.clone();
                position.way.insert(0, (*way).clone());
                opens(&position).is_some()
            };
            let ways = other_ways(&steps);
            ways.iter().take(ANSWERS).find(open).cloned().map(|(topic, answer)| Opening::Way(topic, answer))
        };
        let by_hand = || {
            let (entity, field, value) = session.opening(question, &self.card)?;
            let view = session.view();
            Some(Opening::Edit(view.title(entity).to_string(), field.to_string(), view.words(&value)))
        };
        if self.actor.is_some() {
            return by_another_way().or_else(by_hand).or_else(by_another);
        }
        by_another().or_else(by_another_way).or_else(by_hand)
    }

    /// Who else is asked for the card further on, by title or seat.
    fn others(&self, session: &Session) -> BTreeSet<String> {
        let mut ahead = session.fork();
        let mut others = BTreeSet::new();
        for _ in 0..AHEAD {
            if !matches!(ahead.advance(), Ok(Step::Ask)) {
                break;
            }
            let Some(question) = ahead.questions().first().cloned() else { break };
            if has_card(&question, &self.card) {
                others.insert(whom(&ahead, &question));
            }
            let Some(answer) = question.default.clone().or_else(|| question.first_answer()) else { break };
            if ahead.answer(question.id, answer).is_err() {
                break;
            }
        }
        others
    }
}

/// Answers to the questions on a way other than those that were given, the last question first.
fn other_ways(steps: &[(Question, Answer)]) -> Vec<(String, String)> {
    let mut ways = Vec::new();
    for (question, given) in steps.iter().rev() {
        for answer in question.answers(OF_ONE).unwrap_or_default() {
            let way = (question.topic.to_string(), question.tell(&answer));
            if answer != *given && !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    ways
}

impl Session {
    /// The change by hand that opens an option of an open question: entity, field and value. Nothing changes here.
    ///
    /// Numbers, texts of a list, yes-or-no and references are tried, first those that the table sees. `None`: none of
    /// [`CHANGES`] does.
    pub fn opening(&self, question: QuestionId, option: &str) -> Option<(EntityId, Arc<str>, Value)> {
        let asked = self.questions().iter().find(|open| open.id == question)?;
        let (topic, seat, about) = (&asked.topic, &asked.seat, asked.about);
        let same = |open: &&Question| open.topic == *topic && open.seat == *seat && open.about == about;
        changes(self, about).into_iter().take(CHANGES).find(|(entity, field, value)| {
            let mut session = self.fork();
            let edit = Edit::Set { entity: *entity, field: field.to_string(), value: value.clone() };
            let asked = |step| matches!(step, Ok(Step::Ask));
            asked(session.advance())
                && session.edit(edit).is_ok()
                && asked(session.advance())
                && session.questions().iter().find(same).is_some_and(|open| open.read(&Value::text(option)).is_ok())
        })
    }
}

/// Other values of fields: of what there is one of, such as a fight, then of `first` and of what there are few of; of all
/// these, first the fields that the table sees. What has no name of its own is left alone.
fn changes(session: &Session, first: Option<EntityId>) -> Vec<(EntityId, Arc<str>, Value)> {
    let view = session.view();
    let mut entities: Vec<EntityId> =
        view.entities().filter(|id| view.find(&view.title(*id)).ok() == Some(*id)).collect();
    let alike = |entity: EntityId| view.entities().filter(|other| view.kind(*other) == view.kind(entity)).count();
    entities.sort_by_key(|entity| match alike(*entity) {
        alike if alike > 1 && Some(*entity) == first => 2,
        alike => alike,
    });
    let mut changes = Vec::new();
    for shown in [true, false] {
        for entity in &entities {
            for (field, now) in view.fields(*entity).filter(|(field, _)| field.show == shown) {
                let others = match &field.ty {
                    Type::Int { .. } => NUMBERS.map(Value::Int).to_vec(),
                    Type::Bool => vec![Value::Bool(true), Value::Bool(false)],
                    Type::Enum(texts) => texts.iter().map(Value::text).collect(),
                    Type::Ref(kind) => {
                        let whom = entities.iter().filter(|id| kind.is_none() || view.kind(**id) == kind.as_deref());
                        whom.map(|id| Value::Entity(*id)).chain([Value::None]).collect()
                    }
                    _ => Vec::new(),
                };
                let others = others.into_iter().filter(|value| value != now);
                changes.extend(others.map(|value| (*entity, field.name.clone(), value)));
            }
        }
    }
    changes
}
