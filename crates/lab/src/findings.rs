//! The results of a simulation, as stored in a file.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::tally::{Tally, add_counts};
use super::trial::TOO_LONG;

/// Part of a simulation: the `index`th of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u64,
    /// The number of parts.
    pub count: u64,
}

/// The results of a simulation, or of a shard of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The version of the file format.
    pub format: u32,
    /// The plan of the simulation.
    pub plan: Plan,
    /// The shard; `None` for the whole simulation.
    pub shard: Option<Shard>,
    /// The number of blocks of trials played, in order from the first.
    pub blocks: u64,
    /// True if all wanted trials were played.
    pub complete: bool,
    /// The counts by variant.
    pub tallies: Vec<Tally>,
    /// For each variant after the first: the results of the first variant, and how often each result of this variant
    /// came with it on the same dice.
    pub pairs: Vec<BTreeMap<String, BTreeMap<String, u64>>>,
}

/// The plan of a simulation. Findings can be merged only if they have the same plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the scenario.
    pub scenario: String,
    /// The seed of all games.
    pub seed: u64,
    /// The number of games of each variant.
    pub trials: u64,
    /// The number of actions after which a game is left out.
    pub actions: u64,
    /// The margin at which the simulation was to end: a share, 0 to 1.
    pub until: Option<f64>,
    /// The compared variants.
    pub variants: Vec<PlannedVariant>,
    /// The number of trials in a block, 1 to [`BLOCK`]. A run is interrupted and continued between blocks.
    #[serde(default = "usual_block", skip_serializing_if = "is_usual_block")]
    pub block: u64,
}

const fn usual_block() -> u64 {
    BLOCK
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
const fn is_usual_block(block: &u64) -> bool {
    *block == BLOCK
}

impl Plan {
    /// The number of blocks of all trials.
    pub(super) fn blocks(&self) -> u64 {
        self.trials.div_ceil(self.block)
    }
}

/// A variant as stored in findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedVariant {
    /// The name of the variant in tables.
    pub name: String,
    /// The id of the ruleset.
    pub ruleset: String,
    /// The version of the ruleset.
    pub version: String,
    /// The ids of the layers on top of it, bottom first.
    pub layers: Vec<String>,
    /// The hash of the rules.
    pub hash: String,
    /// All house rules with their values, by name.
    pub switches: BTreeMap<String, String>,
    /// The house rules that the caller set, as opposed to defaults.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// The driver of each seat.
    pub seats: BTreeMap<String, String>,
}

pub(super) const FORMAT: u32 = 1;

/// The number of trials in a block. The results do not depend on it, except for when `until` stops the simulation.
pub const BLOCK: u64 = 250;
/// The number of trials in a block if a seat looks ahead, which can take seconds for each game.
pub(super) const BLOCK_AHEAD: u64 = 25;
const _: () =
    assert!(BLOCK_AHEAD >= GIVEN_UP_AFTER as u64, "the first block shows whether all first games are left out");

/// The number of first games of a variant after which it is given up if all were left out. Fewer suffice if they took
/// too long.
pub(super) const GIVEN_UP_AFTER: usize = 25;
const GIVEN_UP_AFTER_LONG: usize = 2;

/// The blocks of trials in a run: all, or those of a shard.
#[derive(Clone, Copy)]
pub(super) struct TrialPart {
    /// The first block.
    pub first: u64,
    /// The distance from each block to the next.
    pub step: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of trials in a block.
    pub size: u64,
    /// True if each game is kept as a row.
    pub keeps_rows: bool,
}

impl TrialPart {
    /// Returns the blocks of a shard, or all of them.
    pub fn of(plan: &Plan, shard: Option<Shard>) -> TrialPart {
        let (first, step) = shard.map_or((0, 1), |shard| (shard.index - 1, shard.count));
        let blocks = plan.blocks().saturating_sub(first).div_ceil(step);
        TrialPart { first, step, blocks, size: plan.block, keeps_rows: false }
    }

    /// The number of games in the first `blocks` blocks of this part, out of `trials` in all. The last block of all may
    /// be short.
    pub fn games(self, blocks: u64, trials: u64) -> u64 {
        let Some(before) = blocks.checked_sub(1) else { return 0 };
        let last = trials - self.block(before) * self.size;
        before * self.size + last.min(self.size)
    }

    /// The trials of a block, counted from 1, out of `all` trials.
    pub fn trials_of(self, block: u64, all: u64) -> RangeInclusive<u64> {
        block * self.size + 1..=all.min((block + 1).saturating_mul(self.size))
    }

    /// The number of the block at an index of the run.
    pub fn block(self, at: u64) -> u64 {
        self.first + at * self.step
    }
}

impl Findings {
    /// True if fewer games than wanted were played because none of the first ones counts for a variant.
    pub fn gave_up_on(&self, variant: usize) -> bool {
        let wanted = self.plan.trials / self.shard.map_or(1, |shard| shard.count);
        let in_vain = |tally: &Tally| wanted > tally.left_out.len() as u64 && is_hopeless(tally);
        self.complete && self.tallies.get(variant).is_some_and(in_vain)
    }

    pub(super) fn add_counts(&mut self, tallies: &[Tally], pairs: &[BTreeMap<String, BTreeMap<String, u64>>]) {
        for (own, more) in self.tallies.iter_mut().zip(tallies) {
            own.add(more);
        }
        for (own, more) in self.pairs.iter_mut().zip(pairs) {
            for (first, results) in more {
                add_counts(own.entry(first.clone()).or_default(), results);
            }
        }
    }

    /// Half the width of the widest interval of any result of any variant; 1 if no game of some variant counts yet.
    pub(super) fn precision(&self) -> f64 {
        let rates =
            self.tallies.iter().flat_map(|tally| tally.results.keys().map(|result| tally.rate(result).precision()));
        rates.fold(if self.tallies.iter().any(|tally| tally.trials == 0) { 1.0 } else { 0.0 }, f64::max)
    }
}

/// True if the first games of a variant were all left out, so that no more are played.
pub(super) fn is_hopeless(tally: &Tally) -> bool {
    let long = || tally.left_out.iter().filter(|left| left.why == TOO_LONG).count();
    tally.trials == 0 && (tally.left_out.len() == GIVEN_UP_AFTER || long() == GIVEN_UP_AFTER_LONG)
}
