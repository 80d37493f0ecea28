//! Merges the findings of parts of a simulation.

use std::collections::BTreeMap;

use super::findings::{FORMAT, Findings, Shard, TrialPart};
use super::simulation_error::SimulationError;
use super::tally::Tally;

/// The most blocks of trials that are tracked individually when parts are merged.
const MOST_BLOCKS: u64 = 40_000_000;
/// The most missing shards that a message names.
const NAMED: usize = 8;

impl Findings {
    /// Merges the parts of one simulation; the result equals that of the whole. The parts may come from different
    /// splits.
    ///
    /// # Errors
    ///
    /// Parts of different simulations, a trial in two parts, missing trials, or a part that was interrupted.
    pub fn merge(parts: Vec<(String, Findings)>) -> Result<Findings, SimulationError> {
        Findings::merged(&parts, false)
    }

    /// Merges the known parts of a simulation: trials may be missing, and parts may have been interrupted. The result
    /// is then incomplete, and the second value names the missing trials; `None` if none is missing.
    ///
    /// # Errors
    ///
    /// Parts of different simulations, or a trial in two parts.
    pub fn merge_known(parts: Vec<(String, Findings)>) -> Result<(Findings, Option<String>), SimulationError> {
        let merged = Findings::merged(&parts, true)?;
        let missing = missing_blocks(&merged.held_by(&parts)?);
        let missing = (!missing.is_empty()).then(|| merged.trials_in_words(&missing));
        Ok((merged, missing))
    }

    fn merged(parts: &[(String, Findings)], partial: bool) -> Result<Findings, SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        let Some((first_name, first)) = parts.first() else { return wrong("there is nothing to put together".into()) };
        let Some(Shard { count, .. }) = first.shard else {
            return match parts {
                [(_, only)] => Ok(only.clone()),
                _ => wrong(format!("{first_name} is no shard but a whole simulation")),
            };
        };
        let mut whole = Findings {
            shard: None,
            blocks: 0,
            complete: true,
            tallies: vec![Tally::default(); first.tallies.len()],
            pairs: vec![BTreeMap::new(); first.pairs.len()],
            ..first.clone()
        };
        let mut seen: BTreeMap<(u64, u64), &str> = BTreeMap::new();
        for (name, part) in parts {
            part.goes_with(name, first_name, first, partial)?;
            let Some(shard) = part.shard else { return wrong(format!("{name} is a whole simulation and no shard")) };
            if let Some(twin) = seen.insert((shard.count, shard.index), name) {
                return wrong(format!("{twin} and {name} are both shard {}/{}", shard.index, shard.count));
            }
            // If a simulation is given up, every shard contains the same first games.
            let is_repeated = |tally: &Tally| tally.left_out.first().is_some_and(|left| left.trial == 1);
            if shard.index > 1 && part.tallies.iter().any(is_repeated) {
                continue;
            }
            whole.blocks += part.blocks;
            whole.add_counts(&part.tallies, &part.pairs);
        }
        let same_split = seen.keys().all(|shard| shard.0 == count);
        if same_split && !partial {
            let missing = missing_shards(&seen, count);
            return if missing.is_empty() { Ok(whole) } else { wrong(format!("shard {missing} is missing")) };
        }
        let missing = missing_blocks(&whole.held_by(parts)?);
        if !missing.is_empty() && !partial {
            return wrong(format!(
                "trials {} are missing; `--partial` shows what is known",
                whole.trials_in_words(&missing)
            ));
        }
        whole.complete = missing.is_empty();
        Ok(whole)
    }

    /// For each block of trials, true if one of the parts contains it.
    ///
    /// # Errors
    ///
    /// Two parts contain the same trials, or there are too many blocks to track.
    fn held_by(&self, parts: &[(String, Findings)]) -> Result<Vec<bool>, SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        let blocks = self.plan.blocks();
        if blocks > MOST_BLOCKS {
            let most = MOST_BLOCKS * self.plan.block;
            return wrong(format!("parts of different splits are merged up to {most} trials"));
        }
        let mut held = vec![false; usize::try_from(blocks).unwrap_or_default()];
        for (name, part) in parts {
            let own = TrialPart::of(&self.plan, part.shard);
            // If a simulation is given up, every part is given up: no block of it is missing.
            let known = if part.complete { own.blocks } else { part.blocks };
            for block in (0..known).map(|at| own.block(at)) {
                let place = usize::try_from(block).ok().and_then(|block| held.get_mut(block));
                if place.is_some_and(|place| std::mem::replace(place, true)) {
                    let trials = self.trials_in_words(&[block]);
                    return wrong(format!("{name} holds trials {trials}, and so does a part before it"));
                }
            }
        }
        Ok(held)
    }

    /// Checks that findings belong to the same simulation as others.
    fn goes_with(&self, name: &str, first_name: &str, first: &Findings, partial: bool) -> Result<(), SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        if self.format != FORMAT {
            return wrong(format!("{name} has format {}, this program reads format {FORMAT}", self.format));
        }
        if let Some(damage) = self.damage() {
            return wrong(format!("{name} is damaged: {damage}"));
        }
        if self.plan != first.plan {
            return wrong(format!("{name} belongs to another simulation than {first_name}"));
        }
        if !self.complete && !partial {
            return wrong(format!("{name} was interrupted: run the same call again, it continues where it stopped"));
        }
        Ok(())
    }

    /// Formats the trials of blocks as ranges: `251 to 500, 751 to 1000`. `blocks` is in ascending order.
    fn trials_in_words(&self, blocks: &[u64]) -> String {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let all = TrialPart::of(&self.plan, None);
        for block in blocks {
            let (from, to) = all.trials_of(*block, self.plan.trials).into_inner();
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == from => *end = to,
                _ => ranges.push((from, to)),
            }
        }
        let named: Vec<String> = ranges.iter().take(NAMED).map(|(from, to)| format!("{from} to {to}")).collect();
        match ranges.len().saturating_sub(named.len()) {
            0 => named.join(", "),
            more => format!("{} and {more} more ranges", named.join(", ")),
        }
    }
}

/// The missing shards out of `count`, by name; empty if none is missing.
fn missing_shards(seen: &BTreeMap<(u64, u64), &str>, count: u64) -> String {
    let missing = (1..=count).filter(|index| !seen.contains_key(&(count, *index)));
    let missing: Vec<String> = missing.take(NAMED).map(|index| format!("{index}/{count}")).collect();
    match count - seen.len() as u64 - missing.len() as u64 {
        more if more > 0 && !missing.is_empty() => format!("{} and {more} more", missing.join(", ")),
        _ => missing.join(", "),
    }
}

/// The blocks that no part contains, in ascending order.
fn missing_blocks(held: &[bool]) -> Vec<u64> {
    (0..).zip(held).filter(|(_, held)| !**held).map(|(block, _)| block).collect()
}
