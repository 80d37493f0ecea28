use std::collections::BTreeMap;
use std::sync::Arc;

use super::memo::PlayedCard;
use super::operation::Op;
use riskbreaker_state::Value;

/// Counts the results of cards, for simulations: how often each was used, rolled for, and reached its target.
///
/// Every card counts that a seat chooses in an action, also where several seats choose at once. A roll with a target (under, at
/// most, at least) belongs to the first card that waits for one. If cards of several seats wait, it is not known whose roll it
/// is, and they count as used only.
#[derive(Debug, Default)]
pub struct CardCounts {
    counts: BTreeMap<(Arc<str>, Arc<str>), [u64; 3]>,
    /// The cards of the action under way, in the order in which they were chosen.
    current: Vec<PlayedCard>,
    /// How many of these, from the first, wait for no roll any more.
    settled: usize,
}

impl CardCounts {
    pub fn observe(&mut self, op: &Op) {
        match op {
            Op::Answer { seat, card } => {
                self.current.push(PlayedCard { seat: seat.clone(), card: card.clone(), met: None });
            }
            Op::Roll { seen: Value::Bool(met), .. } => {
                if let Some((first, others)) = self.current[self.settled..].split_first_mut() {
                    if others.iter().all(|other| other.seat == first.seat) {
                        first.met = Some(*met);
                    }
                    // Cards that the same seat chose with it are parts of one choice: the roll was for all of them.
                    self.settled = self.current.len();
                }
            }
            _ => {}
        }
    }

    /// The action is over: counts its cards, and gives them.
    pub fn end_action(&mut self) -> Vec<PlayedCard> {
        self.settled = 0;
        let played = std::mem::take(&mut self.current);
        for one in &played {
            let count = self.counts.entry((one.seat.clone(), one.card.clone())).or_default();
            one.counts().into_iter().zip(count).for_each(|(more, count)| *count += more);
        }
        played
    }

    /// The action is taken back.
    pub fn drop_action(&mut self) {
        self.current.clear();
        self.settled = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.current.is_empty()
    }

    /// Takes out what has been counted: seat and card, how often used, rolled for and met.
    pub fn take(&mut self) -> impl Iterator<Item = (Arc<str>, Arc<str>, [u64; 3])> + use<> {
        std::mem::take(&mut self.counts).into_iter().map(|((seat, card), count)| (seat, card, count))
    }
}
