use std::collections::BTreeMap;
use std::sync::Arc;

use super::memo::Played;
use super::operation::Op;
use crate::state::Value;

/// Counts the results of cards, for simulations: how often each was used, rolled for, and reached its target.
///
/// The card of an action is the first card chosen in it. Its roll is the first later one with a target (under, at most, at least).
#[derive(Debug, Default)]
pub(crate) struct CardCounts {
    counts: BTreeMap<(Arc<str>, Arc<str>), [u64; 3]>,
    current: Option<Played>,
}

impl CardCounts {
    pub fn observe(&mut self, op: &Op) {
        match op {
            Op::Answer { seat, card } if self.current.is_none() => {
                self.current = Some(Played { seat: seat.clone(), card: card.clone(), met: None });
            }
            Op::Roll { seen: Value::Bool(met), .. } => {
                if let Some(played) = &mut self.current {
                    played.met.get_or_insert(*met);
                }
            }
            _ => {}
        }
    }

    /// Whether the card of the action is still to come.
    pub fn waits_for_card(&self) -> bool {
        self.current.is_none()
    }

    /// The action is over: counts its card, and gives it.
    pub fn end_action(&mut self) -> Option<Played> {
        let played = self.current.take()?;
        let count = self.counts.entry((played.seat.clone(), played.card.clone())).or_default();
        count[0] += 1;
        count[1] += u64::from(played.met.is_some());
        count[2] += u64::from(played.met == Some(true));
        Some(played)
    }

    /// The action is taken back.
    pub fn drop_action(&mut self) {
        self.current = None;
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.current.is_none()
    }

    /// Takes out what has been counted: seat and card, how often used, rolled for and met.
    pub fn take(&mut self) -> impl Iterator<Item = (Arc<str>, Arc<str>, [u64; 3])> + use<> {
        std::mem::take(&mut self.counts).into_iter().map(|((seat, card), count)| (seat, card, count))
    }
}
