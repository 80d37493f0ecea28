use std::collections::BTreeSet;
use std::sync::Arc;

use super::position::{odds_of, with_people};
use super::{Odds, OddsQuery, SessionExt as _, Variant};
use riskbreaker_play::{Ask, Driver, Given, Question, Refusal, Ruleset, Session, Step};
use riskbreaker_state::Value;
use riskbreaker_work::WorkBudget;

/// The odds of one card in one position, under two sets of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct CardOdds {
    /// The id of the card.
    pub card: Arc<str>,
    /// The entity that could play it, by title.
    pub actor: Option<Arc<str>>,
    /// Its odds by the first rules, or why they cannot be computed.
    pub before: Result<Odds, Refusal>,
    /// Its odds by the second rules.
    pub now: Result<Odds, Refusal>,
}

/// The odds of cards under two sets of rules, and how far the comparison came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedCards {
    /// The cards, by id.
    pub cards: Vec<CardOdds>,
    /// Cards that were offered but not compared, because the budget was spent or somebody interrupted the work.
    pub unexamined: Vec<Arc<str>>,
}

impl ComparedCards {
    /// True if some cards were not compared, or not followed to their end.
    pub fn is_partial(&self) -> bool {
        let cut = |odds: &Result<Odds, Refusal>| odds.as_ref().is_ok_and(Odds::is_partial);
        !self.unexamined.is_empty() || self.cards.iter().any(|card| cut(&card.before) || cut(&card.now))
    }
}

impl CardOdds {
    /// True if the outcomes or their chances differ. The number of paths to an outcome is ignored.
    pub fn differs(&self) -> bool {
        let (Ok(before), Ok(now)) = (&self.before, &self.now) else { return self.before != self.now };
        (&before.outcomes, &before.fields, &before.remaining) != (&now.outcomes, &now.fields, &now.remaining)
    }
}

/// The number of questions after which a card that was never open is given up.
const QUESTIONS: usize = 600;

/// Plays a scenario by the current rules and computes the odds of each card by both sets of rules, in the position in
/// which the card is open for the first time. A question that a card asks gets its default, or the first possible
/// answer.
///
/// # Errors
///
/// A scenario that does not start, a script that fails, or rules that declare other kinds and fields, so that no
/// position fits both.
pub fn compare_cards(before: &Variant, now: &Variant, budget: &WorkBudget) -> Result<ComparedCards, Refusal> {
    let kinds = |rules: &Ruleset| {
        let mut schema = rules.schema().clone();
        // The file that declares a field is no part of the positions.
        schema.kinds.iter_mut().flat_map(|kind| &mut kind.fields).for_each(|field| field.origin = Arc::default());
        serde_json::to_value(schema).ok()
    };
    if kinds(&before.rules) != kinds(&now.rules) {
        return Err(Refusal::new(
            "The two have different kinds or fields, so no position fits both: only whole games are compared.",
        ));
    }
    let (now, setup) = (&now.rules, &now.setup);
    let mut session = with_people(now, setup.clone())?;
    let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut found = ComparedCards::default();
    for _ in 0..QUESTIONS {
        match session.advance()? {
            Step::Ask => {}
            Step::Over(_) => break,
            Step::Fault(fault) => return Err(Refusal::fault(fault)),
        }
        let Some(question) = session.questions().first().cloned() else { break };
        if let Ask::Choose { options, .. } = &question.ask {
            for option in options.iter().filter(|option| option.enabled && now.card(&option.id).is_some()) {
                if !seen.insert(option.id.clone()) {
                    continue;
                }
                if budget.is_spent() {
                    found.unexamined.push(option.id.clone());
                    continue;
                }
                let given = vec![Given::to(&question, Value::Text(option.id.clone()))];
                let query = OddsQuery { given, budget: budget.clone(), ..OddsQuery::default() };
                let actor = question.about.map(|about| session.view().title(about));
                let by_old = by_other(&session, before, &question, query.clone());
                let by_new = session.odds_at(question.id, query);
                found.cards.push(CardOdds { card: option.id.clone(), actor, before: by_old, now: by_new });
            }
        }
        if seen.len() == now.cards().len() || budget.is_spent() {
            break;
        }
        let suggested = match setup.seats.get(&question.seat) {
            Some(Driver::Policy(policy)) => session.suggest(question.id, policy)?,
            _ => None,
        };
        let answer = suggested.or_else(|| question.usual_answer());
        let Some(answer) = answer else { break };
        session.answer(question.id, answer)?;
    }
    found.cards.sort_by(|one, other| one.card.cmp(&other.card));
    Ok(found)
}

/// Computes the odds in the position of a session by other rules with the same kinds and fields, and by their house
/// rules.
fn by_other(session: &Session, other: &Variant, question: &Question, query: OddsQuery) -> Result<Odds, Refusal> {
    let rules = &other.rules;
    let mut fork = session.game().fork();
    fork.context.rules = rules.clone();
    fork.context.switches = Arc::new(rules.default_switches());
    for (switch, value) in &other.setup.switches {
        fork.context.set_house_rule(switch, value)?;
    }
    let seat = question.seat.clone();
    let found = rules.run(move |vm| odds_of(&fork, vm, query, &seat));
    found.unwrap_or_else(|_| Err(Refusal::new("the script worker has died")))
}
