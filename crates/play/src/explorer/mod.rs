//! The explorer: an input that takes every path of an action.
//!
//! A roll is a choice point, and so is a question whose best answer is sought. The explorer runs the action repeatedly, each time
//! along another branch, and keeps the points with their edges as a graph. Two points are merged if the whole continuation of the
//! script and the state of the game are equal there. So loops become cycles, and paths that meet share what follows.

mod choice_point;
mod given;
mod input;
mod questions;
mod resuming;
mod rolls;
mod runs;
mod state_bytes;
mod told;

pub use state_bytes::write_whole_state;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

pub(crate) use self::choice_point::{ChoicePoint, Edge, OffPlan, Ranked};
pub(crate) use self::given::{Answering, AskedBefore, Assumed, Given};
use crate::context::ResumePoint;
use crate::{Fingerprint, KeepPlace, Viewer};
use riskbreaker_dice::{Dice, DiceRng, Effort, Seen};
use riskbreaker_state::EntityId;

/// How far an action is explored. All limits are counts, so that the same call always gives the same answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Runs of the action.
    pub runs: u64,
    /// Choice points.
    pub points: usize,
    /// Bytes of fingerprints.
    pub bytes: usize,
    /// Rolls and answers over all runs.
    pub steps: u64,
    /// Limit on the work of computing the distributions of all dice, in multiplications of two machine words.
    pub effort: u64,
}

/// The paths of one action: the choice points that were met, and the branches still to follow.
#[derive(Debug, Default)]
pub struct Explorer {
    pub given: Vec<Given>,
    /// Entities chosen in each question that has all of them among its options. Empty if the given names matched none;
    /// `None` if no names were given.
    pub against: Option<Vec<EntityId>>,
    pub answering: Answering,
    /// The viewer for whom the paths are explored: only questions that the viewer may see are reported. `None`: all
    /// are.
    pub viewer: Option<Viewer>,
    /// The seat that the look-ahead is for. Sealed questions to other seats get no best answer.
    pub asker: Option<Arc<str>>,
    /// The number of tape slots with which each run begins.
    taped: usize,
    budget: Budget,
    fingerprint: Option<Fingerprint>,
    pub points: Vec<ChoicePoint>,
    /// The target of the first edge: the first choice point, or an end.
    pub start: Edge,
    /// Points by fingerprint.
    known: HashMap<Box<[u8]>, u32>,
    bytes: usize,
    pub steps: u64,
    /// The work of these steps, in units of the script budget.
    pub work: u64,
    /// The steps and the work before the current run.
    before_run: (u64, u64),
    pub runs: u64,
    /// Branches to follow, the likeliest first: chance, point, rank of the branch.
    waiting: BinaryHeap<(u64, Reverse<u32>, Reverse<u32>)>,
    /// Postponed branches of long and unlikely paths, followed after all others.
    put_off: Vec<(u32, u32)>,
    /// The depth from which unlikely branches are postponed.
    deep: u32,
    /// The branches to take until the run meets new points.
    plan: Vec<(u32, u32)>,
    depth: usize,
    /// The point between two agenda entries at which the run begins. `None` if it begins with the open action.
    pub stage: Option<u32>,
    /// True if the run has passed the action that was open at first.
    later: bool,
    /// The branch that the current run took last.
    last: Option<(u32, u32)>,
    /// Makes resume points, once they are worth the memory; `kept_bytes` is the size of those stored.
    keep: Option<KeepPlace>,
    kept_bytes: usize,
    /// The resume point from which the current run can continue.
    resume_point: Option<Arc<ResumePoint>>,
    /// The generator if dice are rolled at random instead of enumerated; `begun_with` is its state at the start of the
    /// run.
    samples: Option<DiceRng>,
    begun_with: Option<DiceRng>,
    /// The first roll of sampled runs, with its label, as a resume point for further runs; `first_failed` counts failed
    /// resumptions.
    first_roll: Option<(Arc<ResumePoint>, Arc<str>)>,
    first_failed: u32,
    /// Rolls of the sampled run, for messages.
    rolled: Vec<(Arc<str>, String)>,
    /// The number of rolls in the sampled run.
    sampled: usize,
    pub off_plan: Option<OffPlan>,
    /// Topics of `given` that were used. `against` counts as the empty topic.
    pub used: BTreeSet<String>,
    /// The answers chosen for seats, without duplicates.
    pub taken: BTreeSet<Assumed>,
    /// The entities among the options of questions that had no given answer, by topic. Empty without `against`.
    pub offered: BTreeMap<Arc<str>, BTreeSet<EntityId>>,
    partitions: HashMap<Seen, HashMap<Dice, Arc<Ranked>>>,
    effort: Effort,
    /// The questions before the first choice point, which are the same in every run.
    asked: Vec<AskedBefore>,
    met: usize,
    /// True if a roll was made since `rb.again` last repeated its function.
    rolled_again: bool,
    /// The reasons why points could not be compared, with their counts.
    pub unproven: BTreeMap<&'static str, u64>,
    key: Vec<u8>,
    pick_label: Arc<str>,
    look_label: Arc<str>,
}

/// A path longer than this is postponed if it is less likely than `UNLIKELY`.
const DEEP: u32 = 400;
const UNLIKELY: f64 = 1e-13;

/// The host's work for a roll or a question.
const WORK_OF_ROLL: u64 = 150;

impl Explorer {
    pub fn new(
        given: Vec<Given>,
        against: Option<Vec<EntityId>>,
        answering: Answering,
        taped: usize,
        budget: Budget,
        fingerprint: Option<Fingerprint>,
    ) -> Explorer {
        Explorer {
            given,
            against,
            answering,
            taped,
            budget,
            fingerprint,
            deep: DEEP,
            effort: Effort::at_most(budget.effort),
            rolled_again: true,
            pick_label: Arc::from("a policy's pick"),
            look_label: Arc::from("the last roll"),
            ..Explorer::default()
        }
    }

    // Runs

    // Resume points

    // Choice points

    // Questions

    // Words
}
