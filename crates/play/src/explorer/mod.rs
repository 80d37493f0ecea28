//! The explorer: an input that takes every path of an action.
//!
//! A roll is a choice point, and so is a question whose best answer is sought. The explorer runs the action repeatedly, each time
//! along another branch, and keeps the points with their edges as a graph. Two points are merged if the whole continuation of the
//! script and the state of the game are equal there. So loops become cycles, and paths that meet share what follows.

mod choice_point;
mod given;
mod input;
mod path_state;
mod questions;
mod resuming;
mod rolls;
mod runs;
mod seen_state;
mod state_bytes;
mod told;

pub use state_bytes::write_whole_state;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use self::choice_point::{ChoicePoint, Edge, Fork, OffPlan};
pub use self::given::{Answering, Assumed, Given};
use self::path_state::{FirstQuestions, KnownPoints, PathDice, Resuming, Sampling, WaitingBranches};
pub use self::seen_state::SeenState;
use crate::{Fingerprint, Viewer};
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
///
/// Its fields are the query, the graph, the counts against the budget, the position of the run, and what was found;
/// whatever serves one of its methods alone is a struct of its own.
#[derive(Debug)]
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
    pub points: Vec<ChoicePoint>,
    /// The target of the first edge: the first choice point, or an end.
    pub start: Edge,
    seen: KnownPoints,
    branches: WaitingBranches,
    pub runs: u64,
    pub steps: u64,
    /// The work of these steps, in units of the script budget.
    pub work: u64,
    /// The steps and the work before the current run.
    before_run: (u64, u64),
    depth: usize,
    /// The point between two agenda entries at which the run begins. `None` if it begins with the open action.
    pub stage: Option<u32>,
    /// True if the run has passed the action that was open at first.
    later: bool,
    /// The branch that the current run took last.
    last: Option<(u32, u32)>,
    pub off_plan: Option<OffPlan>,
    resuming: Resuming,
    sampling: Sampling,
    dice: PathDice,
    asked: FirstQuestions,
    /// Topics of `given` that were used. `against` counts as the empty topic.
    pub used: BTreeSet<String>,
    /// The answers chosen for seats, without duplicates.
    pub taken: BTreeSet<Assumed>,
    /// The entities among the options of questions that had no given answer, by topic. Empty without `against`.
    pub offered: BTreeMap<Arc<str>, BTreeSet<EntityId>>,
    /// The reasons why points could not be compared, with their counts.
    pub unproven: BTreeMap<&'static str, u64>,
}

/// A path as unlikely as this is postponed if it is long.
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
            viewer: None,
            asker: None,
            taped,
            budget,
            points: Vec::new(),
            start: Edge::default(),
            seen: KnownPoints { fingerprint, ..KnownPoints::default() },
            branches: WaitingBranches::default(),
            runs: 0,
            steps: 0,
            work: 0,
            before_run: (0, 0),
            depth: 0,
            stage: None,
            later: false,
            last: None,
            off_plan: None,
            resuming: Resuming::default(),
            sampling: Sampling::default(),
            dice: PathDice::new(budget.effort),
            asked: FirstQuestions::default(),
            used: BTreeSet::new(),
            taken: BTreeSet::new(),
            offered: BTreeMap::new(),
            unproven: BTreeMap::new(),
        }
    }
}
