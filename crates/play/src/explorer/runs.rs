//! Runs of the action, each along another path.

use std::cmp::Reverse;
use std::sync::Arc;

use super::choice_point::{ChoicePoint, Edge, Fork, OffPlan};
use super::{Explorer, UNLIKELY};

/// The longest path, in choice points.
const DEEPEST: u32 = 5_000;

impl Explorer {
    /// Begins the first run, or the next one along the likeliest waiting branch. Returns false if none waits.
    pub fn begin(&mut self) -> bool {
        self.renew();
        self.branches.plan.clear();
        self.last = None;
        self.runs += 1;
        if self.runs == 1 {
            return true;
        }
        let Some((_, Reverse(point), Reverse(rank))) = self.branches.waiting.pop() else { return false };
        self.wait(point, rank + 1);
        let at = &mut self.points[point as usize];
        at.begun = rank;
        self.resuming.next =
            if rank as usize + 1 < at.fork.ways() { at.resume_point.clone() } else { at.resume_point.take() };
        if at.resume_point.is_none() {
            self.resuming.kept_bytes -= self.resuming.next.as_ref().map_or(0, |resume_point| resume_point.bytes());
        }
        let (branch, _) = at.fork.branch(rank);
        self.last = Some((point, branch));
        self.plan_again();
        self.go_to_stage();
        true
    }

    /// Starts the plan at the last moment between two agenda entries on it.
    pub(crate) fn go_to_stage(&mut self) {
        let is_entry = |step: &(u32, u32)| matches!(self.points[step.0 as usize].fork, Fork::Entry);
        let Some(at) = self.branches.plan.iter().rposition(is_entry) else { return };
        for (depth, (point, _)) in self.branches.plan[..=at].iter().enumerate() {
            self.points[*point as usize].depth = depth as u32;
        }
        self.depth = at + 1;
        self.last = Some(self.branches.plan[at]);
        (self.stage, self.later) = (Some(self.branches.plan[at].0), true);
    }

    /// Reaches the moment between two agenda entries. Returns its point, and true if no earlier run reached it; `None`
    /// if the budget is spent.
    ///
    /// `tell`: writes bytes that identify the state of the game.
    pub fn reach_entry(&mut self, tell: impl FnOnce(&mut Vec<u8>)) -> Option<(u32, bool)> {
        self.steps += 1;
        let mut key = vec![0xfe; 8];
        tell(&mut key);
        self.tell_deciding(&mut key);
        if let Some(known) = self.seen.known.get(key.as_slice()).copied() {
            self.meet(known);
            return Some((known, false));
        }
        if self.is_full() {
            self.off_plan = Some(OffPlan::Spent);
            return None;
        }
        // Count the state, which is stored with its key.
        self.seen.bytes += 5 * key.len() + 4_096;
        let number = self.points.len() as u32;
        self.seen.known.insert(key.into_boxed_slice(), number);
        let (from, mass) = self.way_here();
        self.lead_to(Edge::To(number));
        self.push(Fork::Entry, Arc::from(""), from, mass, false);
        self.wait(number, 0);
        Some((number, true))
    }

    /// Lets a sampled run continue after an agenda entry.
    pub fn pass_entry(&mut self) {
        self.later = true;
    }

    /// The last branch of the run, and the chance of the path that ends with it.
    pub(crate) fn way_here(&self) -> (Option<(u32, u32)>, f64) {
        let chance = |(point, branch): (u32, u32)| {
            let at = &self.points[point as usize];
            at.mass * at.fork.chance(branch)
        };
        (self.last, self.last.map_or(1.0, chance))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.points.len() >= self.budget.points
            || self.seen.bytes > self.budget.bytes
            || self.steps > self.budget.steps
            || self.depth as u32 >= DEEPEST
    }

    /// Ends the run at a known point.
    pub(crate) fn meet(&mut self, known: u32) {
        self.lead_to(Edge::To(known));
        let point = &mut self.points[known as usize];
        // Later runs take the shorter path. It does not lead through the point itself: all points on the path of this
        // run have the depth at which the run met them.
        if (self.depth as u32) < point.depth {
            (point.from, point.depth) = (self.last, self.depth as u32);
        }
    }

    pub(crate) fn push(&mut self, fork: Fork, label: Arc<str>, from: Option<(u32, u32)>, mass: f64, can_keep: bool) {
        let edges = vec![Edge::Open; fork.ways()];
        self.seen.bytes += edges.len() * 8 + 120;
        let (depth, resume_point) = (self.depth as u32, None);
        self.points.push(ChoicePoint {
            fork,
            label,
            edges,
            from,
            begun: 0,
            resume_point,
            can_keep,
            failed: 0,
            mass,
            depth,
        });
    }

    /// Plans to repeat the path taken so far.
    pub(crate) fn plan_again(&mut self) {
        let mut at = self.last.take();
        self.branches.plan.clear();
        while let Some(step) = at {
            self.branches.plan.push(step);
            at = self.points[step.0 as usize].from;
        }
        self.branches.plan.reverse();
    }

    pub(crate) fn renew(&mut self) {
        self.before_run = (self.steps, self.work);
        self.depth = 0;
        self.asked.met = 0;
        (self.stage, self.later) = (None, false);
        self.off_plan = None;
        self.dice.rolled_again = true;
    }

    /// True if more runs were begun than the budget allows.
    pub fn is_spent(&self) -> bool {
        self.runs > self.budget.runs
    }

    /// Queues the postponed branches like all others. Returns false if there are none.
    pub fn resume(&mut self) -> bool {
        let put_off = std::mem::take(&mut self.branches.put_off);
        self.branches.deep *= 2;
        for (point, rank) in &put_off {
            let at = &self.points[*point as usize];
            let mass = at.mass * at.fork.branch(*rank).1;
            self.branches.waiting.push((mass.to_bits(), Reverse(*point), Reverse(*rank)));
        }
        !put_off.is_empty()
    }

    /// The total chance of all branches that were not followed. Too low where paths have met: a point counts only the
    /// first path to it.
    pub fn open_mass(&self) -> f64 {
        self.points
            .iter()
            .map(|point| match &point.fork {
                Fork::Roll(ranked) => {
                    let open = point.edges.iter().zip(&ranked.chances).filter(|(edge, _)| **edge == Edge::Open);
                    point.mass * open.map(|(_, chance)| chance).sum::<f64>()
                }
                Fork::Entry if point.edges.contains(&Edge::Open) => point.mass,
                Fork::Answers { .. } | Fork::Entry => 0.0,
            })
            .sum()
    }

    /// Records the end that the finished run reached.
    pub fn end(&mut self, end: u32) {
        self.lead_to(Edge::End(end));
    }

    pub(crate) fn lead_to(&mut self, edge: Edge) {
        match self.last {
            Some((point, branch)) => self.points[point as usize].edges[branch as usize] = edge,
            None => self.start = edge,
        }
    }

    /// Queues a branch of a point for a later run.
    pub(crate) fn wait(&mut self, point: u32, rank: u32) {
        let at = &self.points[point as usize];
        if rank as usize >= at.fork.ways() {
            return;
        }
        let mass = at.mass * at.fork.branch(rank).1;
        if at.depth >= self.branches.deep && mass < UNLIKELY {
            // All further branches are even less likely.
            self.branches.put_off.push((point, rank));
        } else {
            self.branches.waiting.push((mass.to_bits(), Reverse(point), Reverse(rank)));
        }
    }
}
