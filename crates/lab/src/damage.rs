//! Reads findings. Detects those that no simulation can produce, because a file was damaged or edited, and names the field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::findings::{BLOCK, Findings, GIVEN_UP_AFTER, TrialPart, is_hopeless};
use super::simulation_error::SimulationError;
use super::tally::Tally;
use riskbreaker_ruleset::typed_text::read_json;
use riskbreaker_state::LARGEST_NUMBER;

/// Counts of the results of the first variant, by the results of another one.
type Pairs = BTreeMap<String, BTreeMap<String, u64>>;

impl Findings {
    /// Parses findings from JSON.
    ///
    /// # Errors
    ///
    /// A text that is no JSON of findings, or that contains impossible numbers.
    pub fn read(text: &str) -> Result<Findings, SimulationError> {
        let found: Findings = read_json(text.as_bytes()).map_err(|error| {
            let json = serde_json::from_str(text).unwrap_or_default();
            SimulationError::Findings(match no_count(&json) {
                Some(damage) => format!("the findings are damaged: {damage}"),
                None => format!("no findings of a simulation: {error}"),
            })
        })?;
        match found.damage() {
            Some(damage) => Err(SimulationError::Findings(format!("the findings are damaged: {damage}"))),
            None => Ok(found),
        }
    }

    /// Describes the first impossible number, with the name of its field; `None` if all numbers are possible.
    pub(super) fn damage(&self) -> Option<String> {
        self.must_be_possible().err()
    }

    fn must_be_possible(&self) -> Result<(), String> {
        let (plan, variants) = (&self.plan, self.plan.variants.len());
        if variants == 0 || self.tallies.len() != variants || self.pairs.len() != variants - 1 {
            return Err("the file does not hold one tally for each set of rules".into());
        }
        if let Some(shard) = self.shard.filter(|shard| shard.index < 1 || shard.index > shard.count) {
            return Err(format!("`shard` is {}/{}, and there is no such shard", shard.index, shard.count));
        }
        most("plan.trials", plan.trials, LARGEST_NUMBER.unsigned_abs())?;
        if plan.until.is_some_and(|until| !(0.0..=1.0).contains(&until)) {
            return Err("`plan.until` is a share from 0 to 1".into());
        }
        if !(1..=BLOCK).contains(&plan.block) {
            return Err(format!("`plan.block` is a number from 1 to {BLOCK}"));
        }
        let part = TrialPart::of(plan, self.shard);
        most("blocks", self.blocks, part.blocks)?;
        let gave_up = self.complete && self.tallies.iter().any(is_hopeless);
        let ended_early = gave_up || plan.until.is_some();
        if self.complete && self.blocks < part.blocks && !ended_early {
            return Err(format!("`complete` is true, and `blocks` is {} of {}", self.blocks, part.blocks));
        }
        let games = part.games(self.blocks, plan.trials);
        let played = |tally: &Tally| u128::from(tally.trials) + tally.left_out.len() as u128;
        let first = played(&self.tallies[0]);
        for (at, tally) in self.tallies.iter().enumerate() {
            let name = format!("tallies[{at}]");
            let (all, fits) =
                (played(tally), if gave_up { played(tally) <= games.into() } else { played(tally) == games.into() });
            if !fits || all != first {
                let wanted = if gave_up { first.min(games.into()) } else { games.into() };
                return Err(format!(
                    "`{name}`: `trials` and `left_out` are {all} games together, and {wanted} were played"
                ));
            }
            self.tally_must_be_possible(&name, tally, part, gave_up)?;
        }
        for (at, pairs) in self.pairs.iter().enumerate() {
            pairs_must_be_possible(&format!("pairs[{at}]"), pairs, &self.tallies[0], &self.tallies[at + 1], first)?;
        }
        Ok(())
    }

    fn tally_must_be_possible(&self, name: &str, tally: &Tally, part: TrialPart, gave_up: bool) -> Result<(), String> {
        let trials = tally.trials;
        adds_up(&format!("{name}.results"), tally.results.values(), trials)?;
        adds_up(&format!("{name}.outcomes"), tally.outcomes.values(), trials)?;
        if !tally.rounds.is_empty() {
            adds_up(&format!("{name}.rounds"), tally.rounds.values(), trials)?;
        }
        let all = u128::from(trials) * u128::from(self.plan.actions);
        if u128::from(tally.actions) > all || tally.actions > LARGEST_NUMBER.unsigned_abs() {
            return Err(format!(
                "`{name}.actions` is {}; {trials} games of at most {} actions have no more than {all}",
                tally.actions, self.plan.actions
            ));
        }
        for (seat, cards) in &tally.cards {
            for (card, uses) in cards {
                let name = format!("{name}.cards.{seat}.{card}");
                most(&format!("{name}.used"), uses.used, LARGEST_NUMBER.unsigned_abs())?;
                most(&format!("{name}.rolled"), uses.rolled, uses.used)?;
                most(&format!("{name}.met"), uses.met, uses.rolled)?;
            }
        }
        for (label, rounds) in &tally.statistics {
            let mut before = trials;
            for (round, sum) in rounds.iter().enumerate() {
                let name = format!("{name}.statistics.{label}[{round}]");
                most(&format!("{name}.games"), sum.games, before)?;
                if sum.games == 0 && sum.sum != 0 || sum.sum.unsigned_abs() > 1 << 100 {
                    return Err(format!("`{name}.sum` is {} over {} games", sum.sum, sum.games));
                }
                before = sum.games;
            }
        }
        let mut before = 0;
        for (at, out) in tally.left_out.iter().enumerate() {
            let block = out.trial.wrapping_sub(1) / self.plan.block;
            let own = block >= part.first
                && (block - part.first).is_multiple_of(part.step)
                && (block - part.first) / part.step < self.blocks;
            // A shard gives up if the first games of the whole simulation are all left out.
            let repeated = gave_up && out.trial <= GIVEN_UP_AFTER as u64;
            if out.trial <= before || out.trial > self.plan.trials || !own && !repeated {
                let name = format!("{name}.left_out[{at}].trial");
                return Err(format!(
                    "`{name}` is {}, which is not one of the games that were played, or comes twice",
                    out.trial
                ));
            }
            before = out.trial;
        }
        Ok(())
    }
}

/// Refuses pairs of results that contradict the tallies of both variants. `played`: the number of games of each.
fn pairs_must_be_possible(name: &str, pairs: &Pairs, first: &Tally, other: &Tally, played: u128) -> Result<(), String> {
    let mut of_other: BTreeMap<&str, u128> = BTreeMap::new();
    let mut all = 0;
    for (result, row) in pairs {
        let mut sum = 0;
        for (own, count) in row {
            *of_other.entry(own).or_default() += u128::from(*count);
            sum += u128::from(*count);
        }
        let known = first.results.get(result).copied().unwrap_or_default();
        if sum > known.into() {
            return Err(format!(
                "`{name}.{result}` counts {sum} games, and the first rules have {known} with this result"
            ));
        }
        all += sum;
    }
    for (result, sum) in of_other {
        let known = other.results.get(result).copied().unwrap_or_default();
        if sum > known.into() {
            return Err(format!(
                "`{name}` counts {sum} games with the result `{result}`, and these rules have {known}"
            ));
        }
    }
    let left_out = |tally: &Tally| tally.left_out.iter().map(|out| out.trial).collect::<BTreeSet<_>>();
    let both = played.saturating_sub(left_out(first).union(&left_out(other)).count() as u128);
    if all == both {
        return Ok(());
    }
    Err(format!("`{name}` counts {all} games, and {both} count with both sets of rules"))
}

fn most(name: &str, count: u64, most: u64) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("`{name}` is {count}, and can be {most} at most")) }
}

/// Refuses counts that do not add up to the number of games.
fn adds_up<'c>(name: &str, counts: impl Iterator<Item = &'c u64>, games: u64) -> Result<(), String> {
    let sum: u128 = counts.map(|count| u128::from(*count)).sum();
    match sum == games.into() {
        true => Ok(()),
        false => Err(format!("`{name}` counts {sum} games, and `trials` is {games}: the games do not add up")),
    }
}

/// Describes the first count in a file of findings that is negative or not a whole number; `None` if there is none.
pub(super) fn no_count(findings: &Json) -> Option<String> {
    const COUNTED: [&str; 6] = ["format", "plan", "shard", "blocks", "tallies", "pairs"];
    let mut parts = COUNTED.iter().filter_map(|part| Some((*part, findings.get(part)?)));
    parts.find_map(|(name, part)| no_count_in(name, part))
}

fn no_count_in(name: &str, value: &Json) -> Option<String> {
    match value {
        Json::Number(number) if name.ends_with(".sum") => (!number.is_i64())
            .then(|| format!("`{name}` is {number}; a sum is a whole number, or a text with a large one")),
        Json::Number(number) if !number.is_u64() => {
            Some(format!("`{name}` is {number}; a count is a whole number from 0 to {}", u64::MAX))
        }
        Json::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| no_count_in(&format!("{name}[{at}]"), item))
        }
        // `until` is a share, not a count.
        Json::Object(items) => {
            let mut counts = items.iter().filter(|(key, _)| *key != "until");
            counts.find_map(|(key, item)| no_count_in(&format!("{name}.{key}"), item))
        }
        _ => None,
    }
}
