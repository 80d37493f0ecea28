//! The seats of a game: who answers the next question.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::early::EarlyAnswers;
use crate::{Answer, Driver, Refusal};

/// The drivers of the seats, and the answers that a person has given ahead.
#[derive(Default)]
pub struct SeatInput {
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// True if questions to policies are left open like those to people: the caller then asks the policy and sees the
    /// question.
    pub overseen: bool,
    /// The seat whose free act is carried out. Its questions are asked even if the seat is not played otherwise.
    pub acts_for: Option<Arc<str>>,
    /// Early answers, by topic, to questions that are not open yet.
    pub early: EarlyAnswers,
    /// The refusal of an early answer, found before dice were rolled.
    pub contradicted: Option<Box<Refusal>>,
    /// The tape slot of the question whose answer is wanted. Once it is answered in place, the run stops.
    pub suggest_at: Option<usize>,
    /// The answer to that question.
    pub suggested: Option<Answer>,
}

impl SeatInput {
    pub fn new(seats: BTreeMap<Arc<str>, Driver>) -> SeatInput {
        SeatInput { seats, ..SeatInput::default() }
    }

    /// True if the seat carries out its own free act. Its questions are then asked even if nobody plays the seat.
    pub fn acts(&self, seat: &str) -> bool {
        self.acts_for.as_deref() == Some(seat)
    }
}
