//! The state of an exploration between its runs: what waits, what is known, and how dice and runs are shortened.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::choice_point::Ranked;
use super::given::AskedBefore;
use crate::context::ResumePoint;
use crate::{Fingerprint, KeepPlace};
use riskbreaker_dice::{Dice, DiceRng, Effort, Seen};

/// A path longer than this is postponed if it is very unlikely.
const DEEP: u32 = 400;

/// The branches still to follow.
#[derive(Debug)]
pub struct WaitingBranches {
    /// Branches to follow, the likeliest first: chance, point, rank of the branch.
    pub waiting: BinaryHeap<(u64, Reverse<u32>, Reverse<u32>)>,
    /// Postponed branches of long and unlikely paths, followed after all others.
    pub put_off: Vec<(u32, u32)>,
    /// The depth from which unlikely branches are postponed.
    pub deep: u32,
    /// The branches to take until the run meets new points.
    pub plan: Vec<(u32, u32)>,
}

impl Default for WaitingBranches {
    fn default() -> WaitingBranches {
        WaitingBranches { waiting: BinaryHeap::new(), put_off: Vec::new(), deep: DEEP, plan: Vec::new() }
    }
}

/// The points by fingerprint, to recognize them on other paths.
#[derive(Debug, Default)]
pub struct KnownPoints {
    pub fingerprint: Option<Fingerprint>,
    pub known: HashMap<Box<[u8]>, u32>,
    /// The size of the points and of their fingerprints.
    pub bytes: usize,
    /// A buffer for the fingerprint of the next point.
    pub key: Vec<u8>,
}

/// Snapshots from which runs continue instead of starting anew.
#[derive(Debug, Default)]
pub struct Resuming {
    /// Makes resume points, once they are worth the memory.
    pub keep: Option<KeepPlace>,
    /// The size of the stored resume points.
    pub kept_bytes: usize,
    /// The resume point from which the current run can continue.
    pub next: Option<Arc<ResumePoint>>,
}

/// Runs in which dice are rolled at random instead of enumerated.
#[derive(Debug, Default)]
pub struct Sampling {
    /// The generator. `None` if dice are enumerated.
    pub rng: Option<DiceRng>,
    /// The generator at the start of the run.
    pub begun_with: Option<DiceRng>,
    /// The first roll of sampled runs, with its label, as a resume point for further runs.
    pub first_roll: Option<(Arc<ResumePoint>, Arc<str>)>,
    /// The number of failed resumptions.
    pub first_failed: u32,
    /// Rolls of the run, for messages.
    pub rolled: Vec<(Arc<str>, String)>,
    /// The number of rolls in the run.
    pub made: usize,
}

/// The dice of an exploration.
#[derive(Debug)]
pub struct PathDice {
    pub partitions: HashMap<Seen, HashMap<Dice, Arc<Ranked>>>,
    pub effort: Effort,
    /// True if a roll was made since `rb.again` last repeated its function.
    pub rolled_again: bool,
    pub pick_label: Arc<str>,
    pub look_label: Arc<str>,
}

impl PathDice {
    /// Dice whose distributions may take this much work.
    pub fn new(effort: u64) -> PathDice {
        PathDice {
            partitions: HashMap::new(),
            effort: Effort::at_most(effort),
            rolled_again: true,
            pick_label: Arc::from("a policy's pick"),
            look_label: Arc::from("the last roll"),
        }
    }
}

/// The questions before the first choice point, which are the same in every run.
#[derive(Debug, Default)]
pub struct FirstQuestions {
    pub questions: Vec<AskedBefore>,
    /// How many of them the run has met.
    pub met: usize,
}
