//! Expectations of a spec about the odds of a card.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker_dice::{Fraction, float};

use super::case::same;
use super::checked_step::{CheckedStep, wrong};
use riskbreaker_lab::{Effect, Odds, OddsQuery, Outcome, SessionExt as _, check_compared};
use riskbreaker_play::{Given, Question, Session, Viewer};
use riskbreaker_state::{EntityId, Value};
use riskbreaker_work::WorkBudget;

/// An expected outcome of a card with its chance.
pub(super) struct ExpectedOutcomes {
    pub wanted: Value,
    pub chance: Fraction,
}

/// The conditions for an outcome to count; all must hold.
#[derive(Default)]
struct WantedOutcome {
    /// Texts that are said.
    said: Vec<String>,
    /// Conditions on fields and derived values, by their index among the watched values.
    values: Vec<(usize, Test)>,
    /// Conditions on whole entities.
    entities: Vec<(EntityId, Arc<str>, ExpectedFate)>,
}

/// A condition on a whole entity.
#[derive(Clone, Copy)]
enum ExpectedFate {
    Gone,
    Unchanged,
}

impl ExpectedFate {
    fn read(word: &str) -> Option<ExpectedFate> {
        match word {
            "gone" => Some(ExpectedFate::Gone),
            "unchanged" => Some(ExpectedFate::Unchanged),
            _ => None,
        }
    }

    fn fits(self, odds: &Odds, outcome: &Outcome, id: EntityId, entity: &str) -> bool {
        let mut effects = outcome.effects.iter();
        let is_gone = |effect: &Effect| matches!(effect, Effect::Gone { title, .. } if **title == *entity);
        match self {
            ExpectedFate::Gone => effects.any(is_gone),
            ExpectedFate::Unchanged => {
                let is_changed = |effect: &Effect| matches!(effect, Effect::Changed { entity, .. } if *entity == id);
                // Outcomes omit changes that are not shown and equal in all of them.
                let mut fields = odds.fields.iter().filter(|field| field.entity == id);
                let may_stay = fields.all(|field| field.to.iter().any(|(to, _)| *to == field.from));
                may_stay && !effects.any(|effect| is_gone(effect) || is_changed(effect))
            }
        }
    }
}

/// A condition on a value.
enum Test {
    Is(Value),
    /// The comparison of a number with this one.
    Number(&'static str, i64),
}

/// The operators of [`Test::Number`], longer ones first if one begins with another.
const SIGNS: [&str; 5] = [">=", "<=", "~=", ">", "<"];

/// The key of a said text beside fields.
const SAID: &str = "said";

impl WantedOutcome {
    /// Reads the expectation: a said text, or a table as for `t:expect`.
    fn read(session: &Session, value: &Value, watch: &mut Vec<(EntityId, Arc<str>)>) -> CheckedStep<WantedOutcome> {
        let usage = || {
            wrong(
                "what is wanted is a text that is said, or { title = { field = value }, title = \"gone\", title = \"unchanged\", \
                 said = text }",
            )
        };
        let mut wanted = WantedOutcome::default();
        match value {
            Value::Text(text) => wanted.said.push(text.to_string()),
            Value::Map(by_title) => {
                for (title, fields) in by_title.iter() {
                    match fields {
                        Value::Text(text) if &**title == SAID => wanted.said.push(text.to_string()),
                        Value::Text(word) => {
                            let fate = ExpectedFate::read(word).ok_or_else(usage)?;
                            let view = session.view();
                            let id = view.find(title).map_err(wrong)?;
                            wanted.entities.push((id, view.title(id), fate));
                        }
                        Value::Map(fields) => wanted.read_fields(session, title, fields.iter(), watch)?,
                        _ => return Err(usage()),
                    }
                }
            }
            _ => return Err(usage()),
        }
        Ok(wanted)
    }

    fn read_fields<'v>(
        &mut self,
        session: &Session,
        title: &str,
        fields: impl Iterator<Item = (&'v Arc<str>, &'v Value)>,
        watch: &mut Vec<(EntityId, Arc<str>)>,
    ) -> CheckedStep<()> {
        let view = session.view();
        let entity = view.find(title).map_err(wrong)?;
        let mut known: Vec<Arc<str>> = view.fields(entity).map(|(field, _)| field.name.clone()).collect();
        known.extend(view.derived_names(entity).iter().cloned());
        for (name, value) in fields {
            if !known.contains(name) {
                let meant = riskbreaker_ruleset::instead(name, known.iter().map(|name| &**name));
                return Err(wrong(format!("{title} has no field or derived value `{name}`; {meant}")));
            }
            let place = (entity, name.clone());
            let at = watch.iter().position(|known| *known == place).unwrap_or_else(|| {
                watch.push(place);
                watch.len() - 1
            });
            self.values.push((at, Test::of(value)));
        }
        Ok(())
    }

    /// Refuses expected values that no outcome can have.
    fn check(&self, session: &Session, watched: &[(EntityId, Arc<str>)], odds: &Odds) -> CheckedStep<()> {
        for (at, test) in &self.values {
            let (entity, name) = &watched[*at];
            let (value, by_order) = match test {
                Test::Is(value) => (value.clone(), false),
                Test::Number(_, number) => (Value::Int(*number), true),
            };
            let found = odds.outcomes.iter().filter_map(|(outcome, _)| outcome.watched.get(*at));
            check_compared(session, (*entity, name), &value, by_order, found).map_err(wrong)?;
        }
        Ok(())
    }

    fn fits(&self, odds: &Odds, outcome: &Outcome) -> bool {
        let said = |text: &String| {
            outcome.effects.iter().any(|effect| match effect {
                Effect::Said { text: said } | Effect::Over { text: said } | Effect::Cut { reason: said } => {
                    said.contains(text)
                }
                _ => false,
            })
        };
        let holds = |(at, test): &(usize, Test)| outcome.watched.get(*at).is_some_and(|found| test.holds(found));
        let fares = |(id, title, fate): &(EntityId, Arc<str>, ExpectedFate)| fate.fits(odds, outcome, *id, title);
        self.said.iter().all(said) && self.values.iter().all(holds) && self.entities.iter().all(fares)
    }
}

impl Test {
    /// Reads a condition: a text such as `>= 2` compares, everything else must be equal.
    fn of(value: &Value) -> Test {
        let compared = value.as_text().and_then(|text| {
            let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign))?;
            Some(Test::Number(sign, text[sign.len()..].trim().parse().ok()?))
        });
        compared.unwrap_or_else(|| Test::Is(value.clone()))
    }

    fn holds(&self, found: &Value) -> bool {
        match self {
            Test::Is(value) => same(found, value),
            Test::Number(sign, number) => found.as_int().is_some_and(|found| match *sign {
                ">=" => found >= *number,
                "<=" => found <= *number,
                "~=" => found != *number,
                ">" => found > *number,
                _ => found < *number,
            }),
        }
    }
}

/// Compares the chances of a card's outcomes with the expected ones.
///
/// `within`: the allowed error of an estimate; `None` requires exact odds. `until`: the agenda entry at which the
/// look-ahead stops, or `action`.
pub(super) fn compare(
    session: &mut Session,
    question: &Question,
    (card, answers): (&str, Vec<(String, Value)>),
    expected: &[ExpectedOutcomes],
    (within, until): (Option<&Fraction>, &str),
    budget: WorkBudget,
) -> CheckedStep<()> {
    question.read(&Value::text(card)).map_err(wrong)?;
    let replies = std::iter::once((question.topic.to_string(), Value::text(card))).chain(answers);
    let given = Given::all(question, &Viewer::master(), replies);
    let mut watch = Vec::new();
    let mut wanted = Vec::new();
    for one in expected {
        wanted.push(WantedOutcome::read(session, &one.wanted, &mut watch)?);
    }
    let looked_at = watch.clone();
    let until = riskbreaker_lab::until(session.ruleset(), Some(until)).map_err(wrong)?;
    let query = OddsQuery { given, watch, budget, until, ..OddsQuery::default() };
    let odds = session.odds_at(question.id, query).map_err(wrong)?;
    if !odds.is_exact() && within.is_none() {
        let remaining = float(&odds.remaining);
        let (why, within, instead) = match &odds.estimate {
            Some(estimate) => (estimate.why.clone(), "2 %", ""),
            None if odds.guessed => {
                ("the best answer was chosen although not every way was followed".into(), "2 %", "")
            }
            None => (
                format!("a roll can be repeated without end, and {remaining:.1e} of the chance is left over"),
                if remaining < 1e-6 { "0.001 %" } else { "2 %" },
                "; or let the rule ask only for what counts, such as `rb.at_least(dice, n)`, which is exact",
            ),
        };
        return Err(wrong(format!(
            "the odds of {card} are not exact: {why}; write `{{ within = \"{within}\" }}` behind the chance{instead}"
        )));
    }
    for wanted in &wanted {
        wanted.check(session, &looked_at, &odds)?;
    }
    for (one, wanted) in expected.iter().zip(&wanted) {
        let found = odds.chance(|outcome| wanted.fits(&odds, outcome));
        let off = if found < one.chance { &one.chance - &found } else { &found - &one.chance };
        let near = match within {
            Some(within) => off <= within + &odds.remaining,
            None => found == one.chance,
        };
        if !near {
            return Err(wrong(told(card, one, &odds, &found, expected.len(), within)));
        }
    }
    Ok(())
}

/// Describes why a chance is not as expected.
fn told(
    card: &str,
    one: &ExpectedOutcomes,
    odds: &Odds,
    found: &Fraction,
    of: usize,
    within: Option<&Fraction>,
) -> String {
    let which = if of > 1 { format!(" that {}", in_words(&one.wanted)) } else { String::new() };
    let percent = |chance: &Fraction| 100.0 * float(chance);
    let give = within.map(|within| format!(", give or take {:.2} %", percent(within))).unwrap_or_default();
    let found = match odds.is_exact() {
        true => format!("{found}"),
        false => {
            let (low, high) = odds.interval(found);
            format!("an estimate of {:.2} % ({:.2} to {:.2})", percent(found), 100.0 * low, 100.0 * high)
        }
    };
    format!("{card}: expected a chance{which} of {}{give}, found {found}", one.chance)
}

/// Describes an expectation as a clause.
fn in_words(wanted: &Value) -> String {
    match wanted {
        Value::Text(text) => format!("\"{text}\" is said"),
        Value::Map(by_title) => {
            let parts: Vec<String> = by_title
                .iter()
                .flat_map(|(title, fields)| match fields {
                    Value::Map(fields) => {
                        let fields: BTreeMap<&Arc<str>, &Value> = fields.iter().collect();
                        fields.into_iter().map(|(field, value)| format!("{title} has {field} {value}")).collect()
                    }
                    Value::Text(word) if ExpectedFate::read(word).is_some() && &**title != SAID => {
                        vec![format!("{title} is {word}")]
                    }
                    other => vec![format!("\"{other}\" is said")],
                })
                .collect();
            parts.join(" and ")
        }
        other => other.to_string(),
    }
}
