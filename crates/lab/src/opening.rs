//! Finds the changes of a position that open a card which the rules keep closed.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::position::{AnswerListener, has_card, whom, with_people};
use super::{Odds, Place, Position};
use riskbreaker_play::{Answer, Edit, Question, QuestionId, Refusal, Ruleset, Session, Step};
use riskbreaker_state::{EntityId, Type, Value, readable_name};
use riskbreaker_work::is_set;

/// A change of a position that may open a closed card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Another entity plays it, by title.
    Actor(String),
    /// Another answer to an earlier question: topic, answer.
    Way(String, String),
    /// A manual edit, as in [`Position::edits`]: name, field, value.
    Edit(String, String, String),
}

/// The limit on manual edits that are tried.
const CHANGES: usize = 1_200;
/// The limit on edits after which the card is closed for another reason, and on second edits tried after each of them.
const FIRSTS: usize = 4;
const SECOND_CHANGES: usize = 400;
/// The values tried for a number.
const NUMBERS: [i64; 4] = [3, 1, 0, -3];
/// The limits on other answers that are tried, in all and for one question.
const ANSWERS: usize = 60;
const OF_ONE: usize = 12;
/// The number of questions after which no other entity is expected to be asked for the card.
const AHEAD: usize = 200;

impl Opening {
    /// Returns the position with this change.
    pub fn applied(&self, position: &Position) -> Position {
        let mut position = position.clone();
        match self.clone() {
            Opening::Actor(actor) => position.actor = Some(actor),
            Opening::Way(topic, answer) => position.way.insert(0, (topic, answer)),
            Opening::Edit(name, field, value) => position.edits.push((name, field, value)),
        }
        position
    }

    fn by_hand(session: &Session, (entity, field, value): &FieldChange) -> Opening {
        let view = session.view();
        Opening::Edit(view.title(*entity).to_string(), field.to_string(), view.words(value))
    }
}

/// Formats a change as a clause that follows the position: `with Ann.rests = 0`.
impl Display for Opening {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Opening::Actor(actor) => write!(f, "played by {actor}"),
            Opening::Way(topic, answer) => write!(f, "after the answer {answer} to {}", readable_name(topic)),
            Opening::Edit(name, field, value) => write!(f, "with {name}.{field} = {value}"),
        }
    }
}

impl Position {
    /// Computes the odds of the card. If the rules keep it closed here, applies the changes of [`Position::opening`]
    /// first; the result contains these changes and the changed position.
    ///
    /// # Errors
    ///
    /// Those of [`Position::odds`]; the reason why the card is closed, if no change opens it.
    pub fn odds_where_open(&self, rules: &Arc<Ruleset>) -> Result<(Odds, Place, Vec<Opening>, Position), Refusal> {
        match self.odds(rules) {
            Ok((odds, place)) => Ok((odds, place, Vec::new(), self.clone())),
            Err(closed @ Refusal::Greyed { .. }) => {
                let openings = self.opening(rules);
                if openings.is_empty() {
                    return Err(closed);
                }
                let open = openings.iter().fold(self.clone(), |position, opening| opening.applied(&position));
                let (odds, place) = open.odds(rules)?;
                Ok((odds, place, openings, open))
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the changes that open a card which is closed here: another actor (unless one is named), another answer
    /// to an earlier question, or a manual edit. Two edits are tried if the first one leaves the card closed for
    /// another reason. Empty if no change opens the card, or if it is not closed.
    pub fn opening(&self, rules: &Arc<Ruleset>) -> Vec<Opening> {
        self.found_opening(rules).unwrap_or_default()
    }

    fn found_opening(&self, rules: &Arc<Ruleset>) -> Option<Vec<Opening>> {
        let mut steps = Vec::new();
        let mut note = |_: &Session, asked: &Question, answer: &Answer| steps.push((asked.clone(), answer.clone()));
        let (session, question, closed) = self.at_card(rules, &mut note)?;
        let closed = closed?;
        let others = self.others(&session).into_iter().map(Opening::Actor);
        let ways = other_ways(&steps).into_iter().take(ANSWERS).map(|(topic, answer)| Opening::Way(topic, answer));
        // If an actor is named, other actors are tried last.
        let (before, behind): (Vec<Opening>, Vec<Opening>) = match &self.actor {
            Some(_) => (ways.collect(), others.collect()),
            None => (others.chain(ways).collect(), Vec::new()),
        };
        // Edits after which another reason closes the card: the first for each reason.
        let mut nearer: Vec<(String, Opening)> = Vec::new();
        let interrupt = self.query.interrupt.as_deref();
        let mut opens = |opening: &Opening| match opening.applied(self).at_card(rules, &mut |_, _, _| {}) {
            Some((_, _, None)) => true,
            Some((_, _, Some(why))) => {
                if why != closed && nearer.iter().all(|(known, _)| *known != why) {
                    nearer.push((why, opening.clone()));
                }
                false
            }
            None => false,
        };
        if let Some(opening) = before.iter().take_while(|_| !is_set(interrupt)).find(|opening| opens(opening)) {
            return Some(vec![opening.clone()]);
        }
        let tried = tried_at(&session, question, &self.card, CHANGES, interrupt);
        if let Some(change) = tried.opens {
            return Some(vec![Opening::by_hand(&session, &change)]);
        }
        if let Some(opening) = behind.iter().take_while(|_| !is_set(interrupt)).find(|opening| opens(opening)) {
            return Some(vec![opening.clone()]);
        }
        let by_hand = tried.nearer.iter().map(|(why, change)| (why.clone(), Opening::by_hand(&session, change)));
        let firsts: Vec<Opening> = by_hand.chain(nearer).take(FIRSTS).map(|(_, opening)| opening).collect();
        firsts.iter().find_map(|first| {
            let (session, question, _) = first.applied(self).at_card(rules, &mut |_, _, _| {})?;
            let second = tried_at(&session, question, &self.card, SECOND_CHANGES, interrupt).opens?;
            Some(vec![first.clone(), Opening::by_hand(&session, &second)])
        })
    }

    /// The game at the question for the card, with the reason if the card is closed there.
    fn at_card(
        &self,
        rules: &Arc<Ruleset>,
        note: &mut AnswerListener,
    ) -> Option<(Session, QuestionId, Option<String>)> {
        let mut session = with_people(rules, self.setup.clone()).ok()?;
        self.go_to(&mut session, note).ok()?;
        self.edit_by_hand(&mut session, &mut |_, _, _| {}).ok()?;
        let question = self.found(&session)?.id;
        let why = why_closed(&session, question, &self.card);
        Some((session, question, why))
    }

    /// Returns who else will be asked for the card, by title or seat.
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
            let Some(answer) = question.usual_answer() else { break };
            if ahead.answer(question.id, answer).is_err() {
                break;
            }
        }
        others
    }
}

/// Lists other possible answers to the earlier questions, the last question first.
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

/// A manual edit: entity, field and value.
type FieldChange = (EntityId, Arc<str>, Value);

/// The result of trying manual edits.
#[derive(Default)]
struct Tried {
    opens: Option<FieldChange>,
    /// The first edit for each other reason that closes the card then.
    nearer: Vec<(String, FieldChange)>,
}

pub(super) fn opening(session: &Session, question: QuestionId, option: &str) -> Option<(EntityId, Arc<str>, Value)> {
    tried_at(session, question, option, CHANGES, None).opens
}

/// Why an option of an open question is closed; `None` if it is open.
fn why_closed(session: &Session, question: QuestionId, option: &str) -> Option<String> {
    let open = session.open_question(question).ok()?;
    open.read(&Value::text(option)).err().map(|why| why.to_string())
}

/// Tries up to this number of edits until one opens an option of an open question, or until the flag is set.
fn tried_at(
    session: &Session,
    question: QuestionId,
    option: &str,
    most: usize,
    interrupt: Option<&AtomicBool>,
) -> Tried {
    let mut tried = Tried::default();
    let Ok(asked) = session.open_question(question) else { return tried };
    let (topic, seat, about) = (&asked.topic, &asked.seat, asked.about);
    let same = |open: &&Question| open.topic == *topic && open.seat == *seat && open.about == about;
    let closed = why_closed(session, question, option);
    for change in changes(session, about).into_iter().take(most) {
        if is_set(interrupt) {
            break;
        }
        let (entity, field, value) = &change;
        let mut session = session.fork();
        let edit = Edit::Set { entity: *entity, field: field.to_string(), value: value.clone() };
        let asked = |step| matches!(step, Ok(Step::Ask));
        if !asked(session.advance()) || session.edit(edit).is_err() || !asked(session.advance()) {
            continue;
        }
        let Some(found) = session.questions().iter().find(same).map(|open| open.id) else { continue };
        match why_closed(&session, found, option) {
            None => {
                tried.opens = Some(change);
                break;
            }
            Some(why) if Some(&why) != closed.as_ref() && tried.nearer.iter().all(|(known, _)| *known != why) => {
                tried.nearer.push((why, change));
            }
            Some(_) => {}
        }
    }
    tried
}

/// Lists other values of fields to try. Kinds with one entity, such as a fight, come first, then `first`, then kinds
/// with few entities; within each, public fields come first. Entities without a unique title are skipped.
fn changes(session: &Session, first: Option<EntityId>) -> Vec<FieldChange> {
    let view = session.view();
    let mut entities: Vec<EntityId> =
        view.entities().filter(|id| view.find(&view.title(*id)).ok() == Some(*id)).collect();
    let alike = |entity: EntityId| view.entities().filter(|other| view.kind(*other) == view.kind(entity)).count();
    entities.sort_by_key(|entity| match alike(*entity) {
        alike if alike > 1 && Some(*entity) == first => 2,
        alike => alike,
    });
    let is_of = |id: EntityId, kind: &Option<Arc<str>>| kind.is_none() || view.kind(id) == kind.as_deref();
    let mut changes = Vec::new();
    for shown in [true, false] {
        for entity in &entities {
            for (field, now) in view.fields(*entity).filter(|(field, _)| field.show == shown) {
                let others = match &field.ty {
                    Type::Int { .. } => NUMBERS.map(Value::Int).to_vec(),
                    Type::Bool => vec![Value::Bool(true), Value::Bool(false)],
                    Type::Enum(texts) => texts.iter().map(Value::text).collect(),
                    Type::Ref(kind) => {
                        let whom = entities.iter().filter(|id| is_of(**id, kind));
                        whom.map(|id| Value::Entity(*id)).chain([Value::None]).collect()
                    }
                    Type::List(of) => match &**of {
                        Type::Ref(kind) => {
                            let whom = entities.iter().filter(|id| *id != entity && is_of(**id, kind));
                            whom.map(|id| Value::list([Value::Entity(*id)])).collect()
                        }
                        _ => Vec::new(),
                    },
                    _ => Vec::new(),
                };
                let others = others.into_iter().filter(|value| value != now);
                changes.extend(others.map(|value| (*entity, field.name.clone(), value)));
            }
        }
    }
    changes
}
