use super::{AdviceLimits, OddsQuery, SessionExt as _};
use riskbreaker_dice::{Fraction, float};
use riskbreaker_play::{Assumed, Given, QuestionId, Refusal, Session, Viewer};
use riskbreaker_state::Value;

/// Computes the odds of answers to an open question, as plain data for a program. The question is the one that takes
/// the first answer with an open topic, or else the first open question.
///
/// `until`: the horizon, as [`until`](super::until) parses it. A chance is a fraction in words, such as `1/2`; of an
/// estimate it is a decimal.
///
/// # Errors
///
/// No question is open, or those of [`SessionExt::odds_ahead`](super::SessionExt::odds_ahead).
pub fn odds_for_program(
    session: &mut Session,
    replies: Vec<(String, Value)>,
    until: Option<&str>,
) -> Result<Value, Refusal> {
    let open = session.questions();
    let named = open.iter().find(|question| replies.iter().any(|(topic, _)| **topic == *question.topic));
    let Some(question) = named.or(open.first()).cloned() else {
        return Err(Refusal::new("no question is open whose odds could be computed"));
    };
    let given = Given::all(&question, &Viewer::master(), replies);
    let odds = session.odds_ahead(question.id, OddsQuery { given, ..OddsQuery::default() }, until)?;
    let chance = |chance: &Fraction| {
        Value::text(if odds.estimate.is_none() { chance.to_string() } else { float(chance).to_string() })
    };
    let outcomes = odds.lines().into_iter().zip(&odds.outcomes);
    let outcomes =
        outcomes.map(|(text, (_, of))| Value::map(vec![("text", Value::text(text)), ("chance", chance(of))]));
    let assumed = |one: &Assumed| {
        Value::map(vec![
            ("who", Value::Text(one.who.clone())),
            ("topic", Value::Text(one.topic.clone())),
            ("answer", Value::text(&one.answer)),
            ("source", Value::text(one.source.to_string())),
        ])
    };
    let hits = odds.hits();
    Ok(Value::map(vec![
        ("exact", Value::Bool(odds.is_exact())),
        ("partial", Value::Bool(odds.is_partial())),
        ("outcomes", Value::list(outcomes)),
        ("remaining", chance(&odds.remaining)),
        ("hits", Value::map(hits.iter().map(|(target, of)| (&**target, chance(of))))),
        ("answers", Value::list(odds.answers.iter().map(assumed))),
        ("horizon", Value::list(odds.until.iter().map(|name| Value::Text(name.clone())))),
    ]))
}

/// Ranks the answers to an open question, as JSON for a program: a [`report`](super::Advised::report) with the default
/// limits.
///
/// # Errors
///
/// Those of [`SessionExt::advise`](super::SessionExt::advise).
pub fn advice_for_program(session: &mut Session, question: QuestionId) -> Result<serde_json::Value, Refusal> {
    let advised = session.advise(question, AdviceLimits::default(), None)?;
    serde_json::to_value(advised.report()).map_err(|error| Refusal::failing(error.to_string()))
}
