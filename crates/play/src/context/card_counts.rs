use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use super::observer::Observer;
use super::op::Op;
use riskbreaker_state::Value;

/// Counts the results of cards, for simulations: how often each card was used, was rolled for, and reached its target.
///
/// Counts every card that a seat chooses in an action, also if several seats choose at once. A roll with a target
/// (under, at most, at least) is attributed to the first card that waits for one. If cards of several seats wait, the
/// owner of the roll is unknown, and the cards count as used only.
#[derive(Debug, Default)]
pub struct CardCounts {
    counts: BTreeMap<(Arc<str>, Arc<str>), [u64; 3]>,
    /// The cards of the running action, in the order in which they were chosen.
    current: Vec<PlayedCard>,
    /// The number of leading cards in `current` that no longer wait for a roll.
    settled: usize,
}

impl Observer for CardCounts {
    fn observe(&mut self, op: &Op) {
        match op {
            Op::Answer { seat, card } => {
                self.current.push(PlayedCard { seat: seat.clone(), card: card.clone(), met: None });
            }
            Op::Roll { seen: Value::Bool(met), .. } => {
                if let Some((first, others)) = self.current[self.settled..].split_first_mut() {
                    if others.iter().all(|other| other.seat == first.seat) {
                        first.met = Some(*met);
                    }
                    // Cards that the same seat chose together are one choice: the roll counts for all of them.
                    self.settled = self.current.len();
                }
            }
            _ => {}
        }
    }
}

impl CardCounts {
    /// Adds the cards of the finished action to the counts, and returns them.
    pub fn end_action(&mut self) -> Vec<PlayedCard> {
        self.settled = 0;
        let played = std::mem::take(&mut self.current);
        for one in &played {
            let count = self.counts.entry((one.seat.clone(), one.card.clone())).or_default();
            one.counts().into_iter().zip(count).for_each(|(more, count)| *count += more);
        }
        played
    }

    /// Drops the cards of an action that was rolled back.
    pub fn drop_action(&mut self) {
        self.current.clear();
        self.settled = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.current.is_empty()
    }

    /// Takes the counts out: seat, card, and the numbers of uses, of rolls, and of targets reached.
    pub fn take(&mut self) -> impl Iterator<Item = (Arc<str>, Arc<str>, [u64; 3])> + use<> {
        std::mem::take(&mut self.counts).into_iter().map(|((seat, card), count)| (seat, card, count))
    }
}

/// A card that was played in an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlayedCard {
    pub seat: Arc<str>,
    pub card: Arc<str>,
    /// True if its first roll with a target met it. `None` without such a roll.
    pub met: Option<bool>,
}

impl PlayedCard {
    /// Its contribution to the counts of the card: used, rolled for, target met.
    pub fn counts(&self) -> [u64; 3] {
        [1, u64::from(self.met.is_some()), u64::from(self.met == Some(true))]
    }
}
