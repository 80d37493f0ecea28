use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Odds, OddsQuery};
use crate::play::{Ask, Driver, Given, Refusal, Session, Setup, Step};
use crate::ruleset::Ruleset;
use crate::state::Value;

/// The odds of a card where it is open for the first time.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstOdds {
    /// Who could play it.
    pub actor: Option<Arc<str>>,
    pub odds: Result<Odds, Refusal>,
}

/// Questions after which a card that was never open is given up.
const QUESTIONS: usize = 600;

/// Plays a scenario and works out the odds of every card where it is open for the first time, everything that it asks
/// answered by its default or the first answer that is possible.
///
/// # Errors
///
/// A scenario that does not start, or a script that fails on the way.
pub fn first_odds(rules: &Arc<Ruleset>, setup: &Setup) -> Result<BTreeMap<Arc<str>, FirstOdds>, Refusal> {
    let mut setup = setup.clone();
    let drivers = setup.seats.clone();
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let mut session = Session::start(rules, setup).map_err(|error| Refusal::new(error.to_string()))?;
    let mut found = BTreeMap::new();
    for _ in 0..QUESTIONS {
        match session.advance().map_err(|error| Refusal::new(error.to_string()))? {
            Step::Ask => {}
            Step::Over(_) => break,
            Step::Fault(fault) => return Err(Refusal::new(fault.to_string())),
        }
        let Some(question) = session.questions().first().cloned() else { break };
        if let Ask::Choose { options, .. } = &question.ask {
            for option in options.iter().filter(|option| option.enabled && rules.card(&option.id).is_some()) {
                if found.contains_key(&option.id) {
                    continue;
                }
                let (topic, value) = (question.topic.to_string(), Value::Text(option.id.clone()));
                let given = vec![Given { topic, about: question.about, value }];
                let odds = session.odds_at(question.id, OddsQuery { given, ..OddsQuery::default() });
                let actor = question.about.map(|about| session.view().title(about));
                found.insert(option.id.clone(), FirstOdds { actor, odds });
            }
        }
        if found.len() == rules.cards().len() {
            break;
        }
        let policy = match drivers.get(&question.seat) {
            Some(Driver::Policy(policy)) => Some(policy.clone()),
            _ => None,
        };
        let suggested = match policy {
            Some(policy) => session.suggest(question.id, &policy)?,
            None => None,
        };
        let answer = suggested.or_else(|| question.default.clone()).or_else(|| question.first_answer());
        let Some(answer) = answer else { break };
        session.answer(question.id, answer)?;
    }
    Ok(found)
}
