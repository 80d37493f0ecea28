//! Resume points, from which runs continue instead of starting anew.

use std::sync::Arc;

use super::choice_point::{Fork, OffPlan};
use super::told::{MOST_TOLD, in_words};
use super::{Explorer, WORK_OF_ROLL};
use crate::KeepPlace;
use crate::context::ResumePoint;
use riskbreaker_dice::{Dice, DiceRng, Roll};

/// A sampled run with more rolls has no end.
const LONGEST_SAMPLE: usize = 20_000;

/// The most bytes of stored resume points. Beyond, actions run from their start.
const MOST_KEPT: usize = 12 << 20;

/// How often a resume point of a roll may fail before it is no longer made: the machine drops its snapshots now and
/// then.
const MOST_FAILED: u32 = 64;

/// The host's work for each die.
const WORK_OF_DIE: u64 = 2;

impl Explorer {
    /// Stores resume points from now on, within the memory limit.
    pub fn keep_resume_points(&mut self, keep: Option<KeepPlace>) {
        self.resuming.keep = keep;
    }

    /// The next roll of the run that has begun, and the resume point at which the run can continue with it. The run
    /// counts as if it had run from its start.
    pub fn take_up(&mut self) -> Option<(Arc<ResumePoint>, Roll)> {
        if self.sampling.rng.is_some() {
            let (resume_point, label) = self.sampling.first_roll.clone()?;
            let roll = self.sample(&resume_point.dice, &label)?;
            return Some((resume_point, roll));
        }
        let resume_point = self.resuming.next.take()?;
        let step = *self.branches.plan.last()?;
        let Fork::Roll(ranked) = &self.points[step.0 as usize].fork else { return None };
        let branch = &ranked.partition.branches[step.1 as usize];
        let roll = Roll::standing_for(&resume_point.dice, branch.total, &branch.faces);
        for (depth, (point, _)) in self.branches.plan.iter().enumerate() {
            self.points[*point as usize].depth = depth as u32;
        }
        self.depth = self.branches.plan.len();
        self.steps += self.branches.plan.len() as u64;
        self.last = Some(step);
        Some((resume_point, roll))
    }

    /// Restarts a run that could not continue from a resume point. The failed attempt costs no budget: whether the
    /// machine still has a resume point depends on earlier calls.
    pub fn begin_anew(&mut self) {
        (self.steps, self.work) = self.before_run;
        if let Some(chance) = self.sampling.begun_with.clone() {
            self.sampling.first_roll = None;
            self.sampling.first_failed += 1;
            self.runs -= 1;
            self.begin_sample(chance);
            return;
        }
        // The point makes a new one when it is met again, unless resuming there often fails.
        let tried = self.branches.plan.last().map(|(point, _)| &mut self.points[*point as usize]);
        if let Some(at) = tried {
            if let Some(resume_point) = at.resume_point.take() {
                self.resuming.kept_bytes -= resume_point.bytes();
            }
            at.failed += 1;
            at.can_keep = at.failed < MOST_FAILED;
        }
        self.plan_again();
        self.renew();
        self.go_to_stage();
    }

    /// Stores the resume point of the last roll, if other results of it are still to be followed.
    pub fn keep_resume_point(&mut self, make: impl FnOnce(KeepPlace) -> Option<ResumePoint>) {
        if self.sampling.rng.is_some() {
            if let (Some(keep), None, [(label, _)]) =
                (self.resuming.keep, &self.sampling.first_roll, self.sampling.rolled.as_slice())
                && self.sampling.first_failed < MOST_FAILED
                && !self.later
            {
                self.sampling.first_roll = make(keep).map(|resume_point| (Arc::new(resume_point), label.clone()));
                self.sampling.first_failed += u32::from(self.sampling.first_roll.is_none());
            }
            return;
        }
        let (Some(keep), Some((point, _))) = (self.resuming.keep, self.last) else { return };
        let at = &mut self.points[point as usize];
        let is_last = at.begun as usize + 1 >= at.fork.ways();
        if !at.can_keep
            || at.resume_point.is_some()
            || is_last
            || self.depth < self.branches.plan.len()
            || self.resuming.kept_bytes > MOST_KEPT
        {
            return;
        }
        match make(keep) {
            Some(resume_point) => {
                self.resuming.kept_bytes += resume_point.bytes();
                at.resume_point = Some(Arc::new(resume_point));
            }
            None => at.can_keep = false,
        }
    }

    /// Begins a run with random dice. If resume points are stored, it continues from the first roll of an earlier
    /// sampled run.
    pub fn begin_sample(&mut self, chance: DiceRng) {
        self.renew();
        self.resuming.next = None;
        self.runs += 1;
        self.sampling.rolled.clear();
        self.sampling.made = 0;
        self.sampling.begun_with = Some(chance.clone());
        self.sampling.rng = Some(chance);
    }

    /// Rolls dice at random in a sampled run. `None` ends the run.
    pub(crate) fn sample(&mut self, dice: &Dice, label: &Arc<str>) -> Option<Roll> {
        let chance = self.sampling.rng.as_mut()?;
        self.steps += 1;
        let roll = dice.roll_with(&mut |sides| Some(chance.face(sides)));
        self.sampling.made += 1;
        let Some(roll) = roll.filter(|_| self.sampling.made <= LONGEST_SAMPLE) else {
            self.off_plan = Some(OffPlan::Deep);
            return None;
        };
        let drawn = roll.drawn();
        self.steps += drawn.len() as u64;
        self.work += WORK_OF_ROLL + WORK_OF_DIE * drawn.len() as u64;
        if self.sampling.rolled.len() < MOST_TOLD {
            self.sampling.rolled.push((label.clone(), in_words(&drawn)));
        }
        Some(roll)
    }
}
