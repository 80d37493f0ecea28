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

/// What the odds of an action are asked for.
#[derive(Clone, Debug, Default)]
pub struct OddsQuery {
    /// Answers to what the action asks, by topic.
    pub given: Vec<Given>,
    /// Names of entities: they answer each question that has all of these entities among its options.
    pub against: Option<Value>,
    /// Whose hits count where the ruleset says who has hit. `None`: those of whom the question is about.
    pub by: Option<EntityId>,
    /// How everything else is answered that the action asks.
    pub answering: Answering,
    /// The viewer who asks: the odds are computed from what it knows, and tell no more. `None`: from the whole game.
    pub viewer: Option<Viewer>,
    /// Whether an answer may be given to something that is never asked; [`Odds::unasked`] tells it then.
    pub lenient: bool,
    /// Fields and derived values that are looked at where the action ends: [`Outcome::watched`].
    pub watch: Vec<(EntityId, Arc<str>)>,
    /// Names of agenda entries: the odds look ahead over further entries and stop before the next one of such a name. Empty:
    /// they end with the open action.
    pub until: Vec<Arc<str>>,
    /// How far the ways are followed.
    pub limits: Limits,
    /// Whether equal states are kept apart. It is slower with the same result; for testing the merging.
    pub unmerged: bool,
    /// Once this is set, the work ends within a moment with an estimate from what is known.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// What this query may use of the work of several: once it is spent, the work ends with an estimate from few plays. The work
    /// is that of [`Limits::work`].
    pub budget: WorkBudget,
}

/// How far the ways of an action are followed. All limits are counts: the same call gives the same answer on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often the action is run.
    pub ways: u64,
    /// Choice points: rolls and choices at which paths branch.
    pub points: usize,
    /// Bytes of the fingerprints that tell choice points apart.
    pub bytes: usize,
    /// How often the action is played at random for an estimate, if one of the other limits is reached.
    pub samples: u64,
    /// Work of scripts, dice and fingerprints over all runs, in steps of a script; about 200 million take a second. Once it is
    /// used up, the action is played at random, with a quarter as much work and at least once.
    pub work: u64,
}

impl OddsQuery {
    /// The query, if a game can hold what is given in it.
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
    /// The limits if a person waits for odds that look ahead over further agenda entries: about three seconds at most.
    pub(super) fn ahead(self) -> Limits {
        Limits { samples: self.samples.min(2_000), work: self.work.min(self.work / 16 + 60_000_000), ..self }
    }

    /// The limits if `deal` runs before every path: each path takes longer, and there are many more of them.
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

/// What an action can come to, with the chance of each outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The likeliest first. Their chances and `remaining` sum to exactly 1.
    pub outcomes: Vec<(Outcome, Fraction)>,
    /// Each field that can change.
    pub fields: Vec<FieldOdds>,
    /// The chance of what was not followed to its end, such as dice that explode again and again.
    pub remaining: Fraction,
    /// Set where the action was played at random, because it has too many ways: chances are shares of those plays then.
    pub estimate: Option<Estimate>,
    /// Whether a best answer was chosen although some paths were not followed to their end, so that it may not be the best.
    pub guessed: bool,
    /// How often the action was run.
    pub ways: u64,
    /// Choice points, equal ones counted once.
    pub points: usize,
    /// The answers that were taken for whoever was asked, on any path, each once. The answer whose odds are asked for is not
    /// among them.
    pub answers: Vec<Assumed>,
    /// The agenda entries before the next of which the odds stop: [`OddsQuery::until`].
    pub until: Vec<Arc<str>>,
    /// The titles of those who were named as targets and can be hit, as the ruleset says what a hit is.
    pub targets: Vec<Arc<str>>,
    /// Why the odds end with the open action although the ruleset names a horizon behind it.
    pub no_further: Option<String>,
    /// The average value of the state afterwards, for each seat that was asked for.
    pub worth: BTreeMap<Arc<str>, Fraction>,
    /// The highest value of the state afterwards in any outcome, for each seat that was asked for.
    pub highest: BTreeMap<Arc<str>, i64>,
    /// Topics of given answers that no question asked for; an empty one stands for [`OddsQuery::against`].
    pub unasked: Vec<String>,
    /// What the one who asks cannot see: kinds of entities by name, and single fields as `kind.field`. Empty where the asker
    /// sees all.
    pub unseen: Vec<String>,
    /// Whether the rules dealt that anew on each way, by chance; otherwise it is left out.
    pub dealt: bool,
}

/// Why and from how much chances were estimated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How often the action was played at random.
    pub samples: u64,
    /// Why it could not be followed through, as a clause.
    pub why: String,
    /// Whether somebody interrupted the work.
    pub interrupted: bool,
}

impl Estimate {
    /// The upper bound of the chance of an outcome that none of the samples came to, in 99 of 100 cases.
    pub fn unsampled_below(&self) -> f64 {
        Rate::within_99(0, self.samples).high
    }

    /// How many of the samples a share of them is.
    fn count(&self, share: &Fraction) -> u64 {
        let count = share * Fraction::from(self.samples);
        count.trunc().try_into().unwrap_or_default()
    }
}

/// What becomes of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOdds {
    /// The entity whose field it is.
    pub entity: EntityId,
    /// The title of the entity.
    pub title: Arc<str>,
    /// The name of the field.
    pub field: Arc<str>,
    /// What the field is called at the table.
    pub label: Arc<str>,
    /// Whether the field is one that is told at the table, or that the ruleset's `value` reads.
    pub shown: bool,
    /// The value before the action.
    pub from: Value,
    /// The value afterwards with its chance, the likeliest first; the value as it was is among them.
    pub to: Vec<(Value, Fraction)>,
    /// The expected change of a number, over what was followed to its end.
    pub expected: Option<Fraction>,
}

impl FieldOdds {
    /// Brings the values in order and works out the expected change, of the share that was followed to its end.
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

/// What a field is after an outcome.
fn value_after<'o>(field: &'o FieldOdds, outcome: &'o Outcome) -> &'o Value {
    let changed = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Changed { entity, field: at, to, .. } if *entity == field.entity && *at == field.field => Some(to),
        _ => None,
    });
    // What is the same in every outcome stands in none.
    let unchanged = match field.to.as_slice() {
        [(only, _)] => only,
        _ => &field.from,
    };
    changed.unwrap_or(unchanged)
}

/// How what the one who asks cannot see is treated, in words; nothing where that is nothing.
pub(super) fn unseen_in_words(unseen: &[String], dealt: bool) -> Option<String> {
    let how = if dealt { "dealt anew by chance" } else { "left out" };
    (!unseen.is_empty()).then(|| format!("unseen, {how}: {}", unseen.join(", ")))
}

impl Odds {
    /// The outcomes in words, told apart where that takes more than what is told at the table.
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

    /// How far the odds look ahead, in words; `None` where they end with the open action.
    pub fn until_in_words(&self) -> Option<String> {
        let names: Vec<String> = self.until.iter().map(|name| readable_name(name)).collect();
        (!names.is_empty()).then(|| format!("until the next {}", names.join(" or ")))
    }

    /// What the one who asks cannot see, and how it was treated, in words; nothing where the asker sees all.
    pub fn unseen_in_words(&self) -> Option<String> {
        unseen_in_words(&self.unseen, self.dealt)
    }

    /// Whether a limit was reached, or somebody interrupted the work: the chances are an estimate.
    pub fn is_partial(&self) -> bool {
        self.estimate.is_some()
    }

    /// Whether every way was followed to its end: each chance is right to the last digit.
    pub fn is_exact(&self) -> bool {
        self.remaining.is_zero() && self.estimate.is_none() && !self.guessed
    }

    /// The bounds of the true chance, which is reported as `chance`. Both bounds are `chance` if it is exact. Otherwise the
    /// upper bound adds the remainder. Those of an estimate hold the true chance in 99 of 100 estimates.
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

    /// A chance of these odds for machines: the fraction only if it is exact, else the bounds.
    pub fn stated(&self, chance: &Fraction) -> Chance {
        match self.is_exact() {
            true => Chance::exactly(chance),
            false => Chance::between(float(chance), self.interval(chance)),
        }
    }

    /// The chance of what was not followed to its end, for machines. Of an estimate it is the share of plays without an end.
    pub fn stated_remaining(&self) -> Chance {
        match &self.estimate {
            None => Chance::exactly(&self.remaining),
            Some(estimate) => {
                let rate = Rate::within_99(estimate.count(&self.remaining), estimate.samples);
                Chance::between(rate.share, (rate.low, rate.high))
            }
        }
    }

    /// The same odds under the condition that `fits` holds of the outcome; `None` if it never does.
    ///
    /// Ways that were not followed to their end stay in `remaining`: whether they fit is not known.
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

    /// The same odds without [`Outcome::watched`]: outcomes that differ in nothing else are one.
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
    fn plays_that_did_not_end_may_have_come_to_anything() {
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
