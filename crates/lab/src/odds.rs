use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Chance;
use super::interval::{at_least, at_most};
use super::outcome::{Effect, Outcome};
use super::tally::Rate;
use riskbreaker_dice::{Fraction, float, sum};
use riskbreaker_play::{Answering, Assumed, Given, Refusal, Viewer};
use riskbreaker_state::{EntityId, Value, readable_name};
use riskbreaker_work::WorkBudget;

/// A query for the odds of an action.
#[derive(Clone, Debug, Default)]
pub struct OddsQuery {
    /// Answers to what the action asks, by topic.
    pub given: Vec<Given>,
    /// Names of entities. They answer each question that offers all of them.
    pub against: Option<Value>,
    /// The entity whose hits count, if the ruleset says who has hit. `None`: those that the question is about.
    pub by: Option<EntityId>,
    /// How all other questions of the action are answered.
    pub answering: Answering,
    /// The viewer that asks: the odds are computed from what it knows, and reveal no more. `None`: from the whole game.
    pub viewer: Option<Viewer>,
    /// True if a given answer may match no question; [`Odds::unasked`] lists it then.
    pub lenient: bool,
    /// Fields and derived values to read at the end of the action: [`Outcome::watched`].
    pub watch: Vec<(EntityId, Arc<str>)>,
    /// Names of agenda entries. The odds look ahead over further entries and stop before the next entry with such a
    /// name. Empty: they end with the open action.
    pub until: Vec<Arc<str>>,
    /// The limits on the work.
    pub limits: Limits,
    /// True if equal states are kept apart: slower, with the same result. For testing the merging of states.
    pub unmerged: bool,
    /// The flag that ends the work soon after it is set, with an estimate from what is known.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The budget shared with other queries, in the unit of [`Limits::work`]. Once it is spent, the work ends with an
    /// estimate from a few plays.
    pub budget: WorkBudget,
}

/// Limits on the work for the odds of an action. All are counts, so the same call gives the same answer on every
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of runs of the action.
    pub ways: u64,
    /// Choice points: rolls and choices at which paths branch.
    pub points: usize,
    /// Bytes of the fingerprints that tell choice points apart.
    pub bytes: usize,
    /// The number of random plays for an estimate, if another limit is reached.
    pub samples: u64,
    /// Work of scripts, dice and fingerprints over all runs, in steps of a script. About 200 million steps take a
    /// second. Once it is used up, the action is played at random, with a quarter of this work and at least once.
    pub work: u64,
}

impl OddsQuery {
    /// Returns the query if a game can hold the values given in it.
    pub(super) fn must_fit(self) -> Result<OddsQuery, Refusal> {
        match Value::must_fit(self.given.iter().map(|given| &given.value).chain(&self.against)) {
            Ok(()) => Ok(self),
            Err(why) => {
                std::mem::forget(self);
                Err(Refusal::new(why))
            }
        }
    }
}

impl Limits {
    /// The limits while a person waits for odds that look ahead over further agenda entries: about three seconds at
    /// most.
    pub(super) fn ahead(self) -> Limits {
        Limits { samples: self.samples.min(2_000), work: self.work.min(self.work / 16 + 60_000_000), ..self }
    }

    /// The limits if `deal` runs before every path: each path takes longer, and there are more of them.
    pub(super) fn where_dealt(self) -> Limits {
        Limits {
            ways: (self.ways / 20).max(self.ways.min(200)),
            samples: (self.samples / 5).max(self.samples.min(500)),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { ways: 400_000, points: 300_000, bytes: 96 << 20, samples: 20_000, work: 2_000_000_000 }
    }
}

/// The possible outcomes of an action, each with its chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The outcomes, the likeliest first. Their chances and `remaining` add up to exactly 1.
    pub outcomes: Vec<(Outcome, Fraction)>,
    /// Each field that can change.
    pub fields: Vec<FieldOdds>,
    /// The chance of paths that were not followed to their end, such as dice that explode again and again.
    pub remaining: Fraction,
    /// The reason and size of an estimate. Set if the action has too many paths and was played at random: chances are
    /// then shares of the plays.
    pub estimate: Option<Estimate>,
    /// True if a best answer was chosen although some paths were not followed to their end, so that it may not be the
    /// best.
    pub guessed: bool,
    /// The number of runs of the action.
    pub ways: u64,
    /// The number of choice points, equal ones counted once.
    pub points: usize,
    /// The answers that were assumed on any path, each once. The answer whose odds are asked for is not among them.
    pub answers: Vec<Assumed>,
    /// The agenda entries at which the odds stop: [`OddsQuery::until`].
    pub until: Vec<Arc<str>>,
    /// The titles of the named targets that can be hit, by the ruleset's definition of a hit.
    pub targets: Vec<Arc<str>>,
    /// Why the odds end with the open action although the ruleset names a later horizon.
    pub no_further: Option<String>,
    /// The average value of the state at the end, for each seat in the query.
    pub worth: BTreeMap<Arc<str>, Fraction>,
    /// The highest value of the state at the end in any outcome, for each seat in the query.
    pub highest: BTreeMap<Arc<str>, i64>,
    /// Topics of given answers that no question took. An empty topic means [`OddsQuery::against`].
    pub unasked: Vec<String>,
    /// What the asking viewer cannot see: kinds of entities by name, and single fields as `kind.field`. Empty if the
    /// viewer sees all.
    pub unseen: Vec<String>,
    /// True if the rules' `deal` dealt these anew by chance on each path; otherwise they are left out.
    pub dealt: bool,
}

/// The reason for an estimate, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The number of random plays.
    pub samples: u64,
    /// The reason, as a clause.
    pub why: String,
    /// True if somebody interrupted the work.
    pub interrupted: bool,
}

impl Estimate {
    /// The upper bound of the chance of an outcome that none of the samples reached, in 99 of 100 cases.
    pub fn unsampled_below(&self) -> f64 {
        Rate::within_99(0, self.samples).high
    }

    /// Converts a share of the samples to their number.
    fn count(&self, share: &Fraction) -> u64 {
        let count = share * Fraction::from(self.samples);
        count.trunc().try_into().unwrap_or_default()
    }
}

/// The odds of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOdds {
    /// The entity whose field it is.
    pub entity: EntityId,
    /// The title of the entity.
    pub title: Arc<str>,
    /// The name of the field.
    pub field: Arc<str>,
    /// The label of the field at the table.
    pub label: Arc<str>,
    /// True if the field is shown at the table, or if the ruleset's `value` reads it.
    pub shown: bool,
    /// The value before the action.
    pub from: Value,
    /// The possible values afterwards with their chances, the likeliest first. The unchanged value is among them.
    pub to: Vec<(Value, Fraction)>,
    /// The expected change of a number, over the paths that were followed to their end.
    pub expected: Option<Fraction>,
}

impl FieldOdds {
    /// Sorts the values and computes the expected change over the share of paths that was followed to its end.
    pub(super) fn sort_and_expect(&mut self, followed: &Fraction) {
        self.to.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.to_string().cmp(&other.to_string())));
        let step = |value: &Value| Some(value.as_int()? - self.from.as_int()?);
        let steps: Option<Fraction> = self
            .to
            .iter()
            .map(|(value, chance)| Some(Fraction::from(step(value)?) * chance))
            .try_fold(Fraction::ZERO, |sum, part| Some(sum + part?));
        self.expected = steps.filter(|_| !followed.is_zero()).map(|sum| sum / followed);
    }
}

/// The value of a field in an outcome.
fn value_after<'o>(field: &'o FieldOdds, outcome: &'o Outcome) -> &'o Value {
    let changed = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Changed { entity, field: at, to, .. } if *entity == field.entity && *at == field.field => Some(to),
        _ => None,
    });
    // A value that is the same in every outcome is in no list of effects.
    let unchanged = match field.to.as_slice() {
        [(only, _)] => only,
        _ => &field.from,
    };
    changed.unwrap_or(unchanged)
}

/// Describes how values hidden from the viewer were treated. `None` if nothing is hidden.
pub(super) fn unseen_in_words(unseen: &[String], dealt: bool) -> Option<String> {
    let how = if dealt { "dealt anew by chance" } else { "left out" };
    (!unseen.is_empty()).then(|| format!("unseen, {how}: {}", unseen.join(", ")))
}

impl Odds {
    /// The outcomes in words. Lines that would be equal get the hidden effects that distinguish them.
    pub fn lines(&self) -> Vec<String> {
        let short: Vec<String> = self.outcomes.iter().map(|(outcome, _)| outcome.line()).collect();
        let mut times: HashMap<&str, usize> = HashMap::new();
        for line in &short {
            *times.entry(line).or_insert(0) += 1;
        }
        self.outcomes
            .iter()
            .zip(&short)
            .map(|((outcome, _), line)| {
                let alone = times[line.as_str()] == 1;
                let hidden: Vec<String> =
                    outcome.effects.iter().filter(|effect| !effect.is_shown()).map(Effect::line).collect();
                let with: Vec<&str> = outcome
                    .effects
                    .iter()
                    .filter_map(|effect| match effect {
                        Effect::Came { with, .. } if !with.is_empty() => Some(with.as_str()),
                        Effect::Attached { data, .. } => Some(data.as_str()),
                        _ => None,
                    })
                    .collect();
                let more: Vec<&str> = hidden.iter().map(String::as_str).chain(with).collect();
                let nothing = outcome.effects.iter().all(|effect| !effect.is_shown());
                match more.as_slice() {
                    [] => line.clone(),
                    more if nothing => more.join(" \u{b7} "),
                    _ if alone => line.clone(),
                    more => format!("{line} ({})", more.join(", ")),
                }
            })
            .collect()
    }

    /// The chance of each target to be hit, by title.
    pub fn hits(&self) -> Vec<(Arc<str>, Fraction)> {
        let chance = |target: &Arc<str>| self.chance(|outcome| outcome.hit.contains(target));
        self.targets.iter().map(|target| (target.clone(), chance(target))).collect()
    }

    /// How far the odds look ahead, in words; `None` if they end with the open action.
    pub fn until_in_words(&self) -> Option<String> {
        let names: Vec<String> = self.until.iter().map(|name| readable_name(name)).collect();
        (!names.is_empty()).then(|| format!("until the next {}", names.join(" or ")))
    }

    /// What the asking viewer cannot see and how it was treated, in words. `None` if the viewer sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }

    /// True if the chances are an estimate: a limit was reached, or somebody interrupted the work.
    pub fn is_partial(&self) -> bool {
        self.estimate.is_some()
    }

    /// True if every path was followed to its end, so that each chance is exact.
    pub fn is_exact(&self) -> bool {
        self.remaining.is_zero() && self.estimate.is_none() && !self.guessed
    }

    /// The bounds of the true chance behind a reported `chance`. If it is exact, both are `chance`. Otherwise the upper
    /// bound adds the remainder. The bounds of an estimate contain the true chance in 99 of 100 estimates.
    pub fn interval(&self, chance: &Fraction) -> (f64, f64) {
        let most = chance + &self.remaining;
        match &self.estimate {
            Some(estimate) => {
                let rate = |share: &Fraction| Rate::within_99(estimate.count(share), estimate.samples);
                (rate(chance).low, rate(&most).high)
            }
            None => (at_most(chance), at_least(&most)),
        }
    }

    /// Converts a chance of these odds for JSON: the fraction only if it is exact, else the bounds.
    pub fn stated(&self, chance: &Fraction) -> Chance {
        match self.is_exact() {
            true => Chance::exactly(chance),
            false => Chance::between(float(chance), self.interval(chance)),
        }
    }

    /// The chance of paths that were not followed to their end, for JSON. For an estimate, the share of plays without
    /// an end.
    pub fn stated_remaining(&self) -> Chance {
        match &self.estimate {
            None => Chance::exactly(&self.remaining),
            Some(estimate) => {
                let rate = Rate::within_99(estimate.count(&self.remaining), estimate.samples);
                Chance::between(rate.share, (rate.low, rate.high))
            }
        }
    }

    /// The odds under the condition that `fits` is true of the outcome; `None` if it never is.
    ///
    /// Paths that were not followed to their end stay in `remaining`, since it is not known whether they fit.
    pub fn given(&self, fits: impl Fn(&Outcome) -> bool) -> Option<Odds> {
        let held: Fraction = self.chance(&fits);
        if held.is_zero() {
            return None;
        }
        let whole = &held + &self.remaining;
        let mut only = self.clone();
        only.remaining = &self.remaining / &whole;
        if let Some(estimate) = &mut only.estimate {
            estimate.samples = estimate.count(&whole);
        }
        only.outcomes.retain(|(outcome, _)| fits(outcome));
        only.outcomes.iter_mut().for_each(|(_, chance)| *chance /= &whole);
        for field in &mut only.fields {
            let mut to: HashMap<&Value, Fraction> = HashMap::new();
            for (outcome, chance) in &only.outcomes {
                *to.entry(value_after(field, outcome)).or_default() += chance;
            }
            field.to = to.into_iter().map(|(value, chance)| (value.clone(), chance)).collect();
            field.sort_and_expect(&(Fraction::ONE - &only.remaining));
        }
        Some(only)
    }

    /// Drops [`Outcome::watched`] and merges outcomes that differ in nothing else.
    pub fn unwatched(mut self) -> Odds {
        let mut known: HashMap<Vec<Effect>, usize> = HashMap::new();
        for (mut outcome, chance) in std::mem::take(&mut self.outcomes) {
            outcome.watched.clear();
            let at = *known.entry(outcome.effects.clone()).or_insert(self.outcomes.len());
            match self.outcomes.get_mut(at) {
                Some((_, sum)) => *sum += chance,
                None => self.outcomes.push((outcome, chance)),
            }
        }
        self
    }

    /// The chance of all outcomes that `fits` accepts.
    pub fn chance(&self, fits: impl Fn(&Outcome) -> bool) -> Fraction {
        sum(self.outcomes.iter().filter(|(outcome, _)| fits(outcome)).map(|(_, chance)| chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_dice::ratio;

    #[test]
    fn unfinished_plays_may_have_any_outcome() {
        let said = |text: &str| Outcome { effects: vec![Effect::Said { text: text.into() }], ..Outcome::default() };
        let odds = Odds {
            outcomes: vec![(said("a"), ratio(40, 100)), (said("b"), ratio(10, 100))],
            fields: Vec::new(),
            remaining: ratio(50, 100),
            estimate: Some(Estimate { samples: 100, why: String::new(), interrupted: false }),
            guessed: false,
            ways: 100,
            points: 0,
            answers: Vec::new(),
            worth: BTreeMap::new(),
            until: Vec::new(),
            no_further: None,
            targets: Vec::new(),
            highest: BTreeMap::new(),
            unasked: Vec::new(),
            unseen: Vec::new(),
            dealt: false,
        };
        let (low, high) = odds.interval(&ratio(40, 100));
        assert!(low < 0.4 && high > 0.9, "{low} {high}");
        let given = odds.given(|outcome| *outcome == said("a")).unwrap();
        assert_eq!((&given.outcomes[0].1, &given.remaining), (&ratio(4, 9), &ratio(5, 9)));
        assert_eq!(given.estimate.unwrap().samples, 90);
    }
}
