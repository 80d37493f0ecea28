//! What a spec expects of the exact odds of a card.

use std::collections::BTreeMap;

use num_rational::BigRational;

use super::case::{Told, same, wrong};
use crate::lab::{Effect, Odds, OddsQuery, Outcome};
use crate::play::plain::titled;
use crate::play::{Given, Question, Session};
use crate::state::{EntityId, Value};

/// What an outcome must have to count: something said, or fields by title.
pub(super) enum Wanted {
    Said(String),
    Fields(Vec<(Option<EntityId>, String, BTreeMap<String, Value>)>),
}

impl Wanted {
    /// Reads a text that is said, or a table as `t:expect` takes it.
    pub fn read(session: &Session, value: &Value) -> Told<Wanted> {
        let usage = || wrong("what is wanted is a text that is said, or { title = { field = value } }");
        match value {
            Value::Text(text) => Ok(Wanted::Said(text.to_string())),
            Value::Map(by_title) => {
                let mut wanted = Vec::new();
                for (title, fields) in by_title.iter() {
                    let Value::Map(fields) = fields else { return Err(usage()) };
                    let entity = session.view().find(title).ok();
                    if let Some(entity) = entity {
                        known_fields(session, entity, title, fields.keys().map(|name| &**name))?;
                    }
                    let fields = fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
                    wanted.push((entity, title.to_string(), fields));
                }
                Ok(Wanted::Fields(wanted))
            }
            _ => Err(usage()),
        }
    }

    fn fits(&self, session: &Session, odds: &Odds, outcome: &Outcome) -> bool {
        match self {
            Wanted::Said(text) => outcome.effects.iter().any(|effect| match effect {
                Effect::Said { text: said } | Effect::Over { text: said } | Effect::Cut { reason: said } => {
                    said.contains(text)
                }
                _ => false,
            }),
            Wanted::Fields(wanted) => wanted.iter().all(|(entity, title, fields)| {
                fields.iter().all(|(field, value)| {
                    let found = after(session, odds, outcome, *entity, title, field);
                    found.is_some_and(|found| same(&titled(session, &found), value))
                })
            }),
        }
    }
}

/// The exact chance that a card comes to what is wanted.
pub(super) fn chance(
    session: &mut Session,
    question: &Question,
    card: &str,
    answers: Vec<(String, Value)>,
    wanted: &Value,
) -> Told<BigRational> {
    question.read(&Value::text(card)).map_err(wrong)?;
    let mut given: Vec<Given> = answers.into_iter().map(|(topic, value)| Given { topic, about: None, value }).collect();
    given.push(Given { topic: question.topic.to_string(), about: question.about, value: Value::text(card) });
    let odds = session.odds_at(question.id, OddsQuery { given, ..OddsQuery::default() }).map_err(wrong)?;
    if !odds.is_exact() {
        let why = match &odds.estimate {
            Some(estimate) => estimate.why.clone(),
            None => format!("{} was not followed to its end", odds.remaining),
        };
        return Err(wrong(format!("the odds of {card} are not exact: {why}")));
    }
    let wanted = Wanted::read(session, wanted)?;
    Ok(odds.chance(|outcome| wanted.fits(session, &odds, outcome)))
}

/// A field's value at the end of a course.
fn after(
    session: &Session,
    odds: &Odds,
    outcome: &Outcome,
    entity: Option<EntityId>,
    title: &str,
    field: &str,
) -> Option<Value> {
    let changed = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Changed { entity: of, title: named, field: at, to, .. }
            if **at == *field && (Some(*of) == entity || **named == *title) =>
        {
            Some(to.clone())
        }
        _ => None,
    });
    if changed.is_some() {
        return changed;
    }
    // What is the same on every course and is not told at the table stands in no outcome.
    let certain = odds.fields.iter().find(|known| Some(known.entity) == entity && *known.field == *field);
    match certain.map(|known| known.to.as_slice()) {
        Some([(only, _)]) => Some(only.clone()),
        _ => session.view().field(entity?, field).cloned(),
    }
}

fn known_fields<'n>(
    session: &Session,
    entity: EntityId,
    title: &str,
    names: impl Iterator<Item = &'n str>,
) -> Told<()> {
    let view = session.view();
    for name in names {
        if view.field(entity, name).is_none() {
            let known: Vec<String> = view.fields(entity).map(|(field, _)| field.name.to_string()).collect();
            let near = crate::ruleset::nearest(name, known.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(wrong(format!("{title} has no field `{name}`, and odds are of fields{hint}")));
        }
    }
    Ok(())
}
