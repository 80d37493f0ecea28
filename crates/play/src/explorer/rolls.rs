//! Rolls at which paths branch.

use std::sync::Arc;

use super::choice_point::{Edge, Fork, OffPlan, Ranked};
use super::given::Answering;
use super::state_bytes::{write_bytes, write_last_roll, write_state};
use super::{Explorer, UNLIKELY, WORK_OF_ROLL};
use crate::model::without_places;
use crate::{ActionContext, Refusal, SightForm};
use riskbreaker_dice::{Dice, Roll, Seen, float};

/// The work for a byte of a fingerprint: to compute, write and compare it.
const WORK_OF_BYTE: u64 = 2;

impl Explorer {
    /// Makes the next roll on the current path. `None` ends the run.
    ///
    /// `form` keeps points apart that have the same branches, but whose scripts get different values.
    pub(crate) fn roll_seen(
        &mut self,
        context: &ActionContext,
        dice: &Dice,
        (seen, form): (Seen, SightForm),
        label: &Arc<str>,
    ) -> Option<Roll> {
        self.dice.rolled_again = true;
        if self.sampling.rng.is_some() {
            return self.sample(dice, label);
        }
        let ranked = self.ranked(dice, seen, label)?;
        // A draw or a pick does not replace the last roll.
        let keeps_last = context.rolls.dealing || Arc::ptr_eq(label, &self.dice.pick_label);
        let (point, branch) = self.enter(
            context,
            label,
            |fork| matches!(fork, Fork::Roll(known) if Arc::ptr_eq(known, &ranked)),
            || Fork::Roll(ranked.clone()),
            |key| {
                key.extend_from_slice(&(Arc::as_ptr(&ranked) as usize).to_le_bytes());
                key.push(form as u8);
                if keeps_last {
                    write_last_roll(context, key);
                }
            },
        )?;
        let Fork::Roll(ranked) = &self.points[point as usize].fork else { return None };
        let branch = &ranked.partition.branches[branch as usize];
        Some(Roll::standing_for(dice, branch.total, &branch.faces))
    }

    fn ranked(&mut self, dice: &Dice, seen: Seen, label: &str) -> Option<Arc<Ranked>> {
        if let Some(known) = self.dice.partitions.get(&seen).and_then(|known| known.get(dice)) {
            return Some(known.clone());
        }
        let Ok(partition) = dice.partition(&seen, &mut self.dice.effort) else {
            let what = match seen {
                Seen::Faces => "the faces of ",
                Seen::Ordered => "the faces in the order rolled of ",
                Seen::Ranks => "the ranks of ",
                _ => "",
            };
            let message = format!("there are too many results of {what}{dice} for `{}`", without_places(label));
            self.off_plan = Some(OffPlan::TooWide(message));
            return None;
        };
        let chances: Vec<f64> = partition.branches.iter().map(|branch| float(&branch.chance)).collect();
        let mut order: Vec<u32> = (0..chances.len() as u32).collect();
        order.sort_by(|one, other| chances[*other as usize].total_cmp(&chances[*one as usize]));
        let ranked = Arc::new(Ranked { partition, order, chances });
        self.dice.partitions.entry(seen).or_default().insert(dice.clone(), ranked.clone());
        Some(ranked)
    }

    /// Enters the next choice point and takes one of its branches.
    pub(crate) fn enter(
        &mut self,
        context: &ActionContext,
        label: &Arc<str>,
        is_like: impl FnOnce(&Fork) -> bool,
        make: impl FnOnce() -> Fork,
        tell: impl FnOnce(&mut Vec<u8>),
    ) -> Option<(u32, u32)> {
        self.steps += 1;
        self.work += WORK_OF_ROLL;
        if let Some(step) = self.branches.plan.get(self.depth).copied() {
            if !is_like(&self.points[step.0 as usize].fork) {
                let message =
                    "the action went two ways on the same dice and answers: a script keeps something between its runs";
                self.off_plan = Some(OffPlan::Refused(Refusal::failing(message)));
                return None;
            }
            self.points[step.0 as usize].depth = self.depth as u32;
            self.depth += 1;
            self.last = Some(step);
            return Some(step);
        }
        let key = self.key_of(context, tell);
        if let Some(known) = key.as_ref().and_then(|key| self.seen.known.get(key.as_slice())) {
            let known = *known;
            self.meet(known);
            self.off_plan = Some(OffPlan::Known);
            self.seen.key = key.unwrap_or_default();
            return None;
        }
        let number = self.points.len() as u32;
        let (from, before) = self.way_here();
        if self.is_full() {
            self.off_plan = Some(OffPlan::Spent);
            return None;
        }
        if self.depth as u32 >= self.branches.deep && before < UNLIKELY {
            if let Some((point, branch)) = self.last {
                let fork = &self.points[point as usize].fork;
                let rank = (0..fork.ways() as u32).find(|rank| fork.branch(*rank).0 == branch).unwrap_or_default();
                self.branches.put_off.push((point, rank));
            }
            self.off_plan = Some(OffPlan::Deep);
            return None;
        }
        let is_known = key.is_some();
        if let Some(key) = key {
            self.seen.bytes += key.len() + 48;
            self.seen.known.insert(key.as_slice().into(), number);
            self.seen.key = key;
        }
        self.lead_to(Edge::To(number));
        let fork = make();
        let (branch, _) = fork.branch(0);
        self.push(fork, label.clone(), from, before, is_known);
        self.wait(number, 1);
        self.depth += 1;
        self.last = Some((number, branch));
        Some((number, branch))
    }

    /// Computes the key of a point, which differs from those of all other points. `None` if that cannot be proven.
    fn key_of(&mut self, context: &ActionContext, tell: impl FnOnce(&mut Vec<u8>)) -> Option<Vec<u8>> {
        let Some(fingerprint) = self.seen.fingerprint else {
            *self.unproven.entry("this machine cannot tell").or_insert(0) += 1;
            return None;
        };
        let mut key = std::mem::take(&mut self.seen.key);
        key.clear();
        tell(&mut key);
        // The changes of an action have no meaning without the state in which it began.
        key.extend(self.stage.map_or(0, |stage| stage + 1).to_le_bytes());
        if !self.later {
            let answered = self.answered(context);
            let once = self.given.iter().enumerate().filter(|(_, given)| given.once);
            key.extend(once.map(|(at, given)| u8::from(given.is_left(&self.given[..at], answered))));
        }
        self.tell_deciding(&mut key);
        write_state(context, &mut key);
        let taken = fingerprint(&mut key);
        self.work += WORK_OF_BYTE * key.len() as u64;
        match taken {
            Ok(()) => Some(key),
            Err(why) => {
                *self.unproven.entry(why).or_insert(0) += 1;
                self.seen.key = key;
                None
            }
        }
    }

    /// Writes the seats that made a choice on this path, if best answers are sought. The value of an end counts for
    /// them, so paths on which other seats chose are not merged.
    pub(crate) fn tell_deciding(&self, key: &mut Vec<u8>) {
        if self.answering == Answering::Best {
            let seats = self.deciding();
            key.push(seats.len() as u8);
            seats.into_iter().for_each(|seat| write_bytes(key, seat.as_bytes()));
        }
    }
}
