//! The points at which paths branch, as a graph.

use std::sync::Arc;

use super::seen_state::SeenState;
use crate::context::ResumePoint;
use crate::{Answer, Refusal};
use riskbreaker_dice::Partition;

/// A partition with its branches sorted by chance.
#[derive(Debug)]
pub struct Ranked {
    pub partition: Partition,
    /// The branches, the likeliest first.
    pub order: Vec<u32>,
    pub chances: Vec<f64>,
}

/// A roll or a question at which paths branch, or the moment between two agenda entries.
#[derive(Debug)]
pub struct ChoicePoint {
    pub fork: Fork,
    /// The label of the roll, or the topic of the question.
    pub label: Arc<str>,
    /// The target of each branch.
    pub edges: Vec<Edge>,
    /// The branch before this point on the shortest known path.
    pub(crate) from: Option<(u32, u32)>,
    /// The highest rank among its branches that was followed.
    pub(crate) begun: u32,
    /// The resume point at which its branches can start.
    pub(crate) resume_point: Option<Arc<ResumePoint>>,
    /// True if it may have a resume point; `failed` counts failed resumptions.
    pub(crate) can_keep: bool,
    pub(crate) failed: u32,
    /// The chance of the first path to this point.
    pub(crate) mass: f64,
    pub(crate) depth: u32,
}

#[derive(Debug)]
pub enum Fork {
    Roll(Arc<Ranked>),
    /// The moment between two agenda entries, with only one branch.
    Entry,
    Answers {
        seat: Arc<str>,
        /// The title of the entity that the question is about, or else the seat. `None` if the viewer may not see the
        /// question.
        who: Option<Arc<str>>,
        topic: Arc<str>,
        answers: Vec<(Answer, String)>,
        /// What the seat sees of the state; only with [`Answering::Branched`](super::Answering::Branched).
        seen: Option<Arc<SeenState>>,
    },
}

/// The target of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edge {
    /// The branch was not followed.
    #[default]
    Open,
    To(u32),
    /// The end with this number.
    End(u32),
}

/// The reason why a run ended before its action did.
#[derive(Clone, Debug, PartialEq)]
pub enum OffPlan {
    /// The run reached a known point.
    Known,
    /// The run reached a moment between two agenda entries, from which other runs continue.
    Reached,
    /// The path is long and unlikely.
    Deep,
    /// There are more points, bytes or steps than the budget allows.
    Spent,
    /// A roll has too many outcomes to enumerate.
    TooWide(String),
    Refused(Refusal),
}

impl Fork {
    pub fn ways(&self) -> usize {
        match self {
            Fork::Roll(ranked) => ranked.partition.branches.len(),
            Fork::Answers { answers, .. } => answers.len(),
            Fork::Entry => 1,
        }
    }

    pub(crate) fn branch(&self, rank: u32) -> (u32, f64) {
        match self {
            Fork::Roll(ranked) => {
                let branch = ranked.order[rank as usize];
                (branch, ranked.chances[branch as usize])
            }
            Fork::Answers { .. } | Fork::Entry => (rank, 1.0),
        }
    }

    /// The chance of a branch of a roll; 1 for other points.
    pub(crate) fn chance(&self, branch: u32) -> f64 {
        match self {
            Fork::Roll(ranked) => ranked.chances[branch as usize],
            Fork::Answers { .. } | Fork::Entry => 1.0,
        }
    }
}
