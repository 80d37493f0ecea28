//! Odds and advice as methods of a seat, computed from what the seat knows.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::advise::advise_for;
use super::{AdviceLimits, Advised, Odds, OddsQuery, SessionExt};
use riskbreaker_play::{QuestionId, Refusal, Seat};

/// Odds and advice for the viewer of a [`Seat`].
pub trait SeatExt: sealed::Sealed {
    /// Computes the odds of the open action from what the viewer knows: see [`Session::odds_at`](SessionExt::odds_at).
    ///
    /// What the viewer may not see is dealt anew by the rules' `deal`, or left out if the rules have none.
    /// [`Odds::unseen`] names it, [`Odds::dealt`] says which of the two was done. Secret answers of others are chosen
    /// anew.
    ///
    /// # Errors
    ///
    /// Those of `odds_at`; a question that the viewer may not see, or an action that depends on hidden fields.
    fn odds(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal>;

    /// Ranks the answers to a question of the viewer, the best first, from what the viewer knows: see
    /// [`Session::advise`](SessionExt::advise).
    ///
    /// # Errors
    ///
    /// Those of `advise`; a question of another seat.
    fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal>;
}

impl SeatExt for Seat<'_> {
    fn odds(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal> {
        let question = self.open(question)?.id;
        self.session.odds_at(question, OddsQuery { viewer: Some(self.viewer.clone()), ..query })
    }

    fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        let question = self.own(question)?;
        let viewer = self.viewer.clone();
        advise_for(self.session, question, limits, &viewer, interrupt)
    }
}

mod sealed {
    /// Only a seat has these methods.
    pub trait Sealed {}

    impl Sealed for riskbreaker_play::Seat<'_> {}
}
