//! Odds and advice computed from what a seat knows.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{AdviceLimits, Advised, Odds, OddsQuery};
use crate::play::{Answer, QuestionId, Refusal, Seat};

impl Seat<'_> {
    /// Works out what the open action can come to, from what the viewer knows: see
    /// [`Session::odds_at`](crate::Session::odds_at).
    ///
    /// Things that it may not see are dealt anew by the rules' `deal`, or left out if the rules have none. [`Odds::unseen`]
    /// names them, [`Odds::dealt`] says which of the two was done. Secret answers of others are chosen anew.
    ///
    /// # Errors
    ///
    /// As there; a question that the viewer may not see, or an action that depends on fields that it may not see.
    pub fn odds(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal> {
        let question = self.open(question)?.id;
        self.session.odds_at(question, OddsQuery { viewer: Some(self.viewer.clone()), ..query })
    }

    /// Weighs the answers to a question of the viewer's, the best first, from what the viewer knows: see
    /// [`Session::advise`](crate::Session::advise).
    ///
    /// # Errors
    ///
    /// As there; a question of another seat.
    pub fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        let question = self.own(question)?;
        let viewer = self.viewer.clone();
        self.session.advise_for(question, limits, &viewer, interrupt)
    }

    /// What a policy would answer to a question of the viewer's, from what the viewer knows. For all but the game master,
    /// the policy draws from other dice than the game, so the answer does not foretell the next rolls.
    ///
    /// # Errors
    ///
    /// As for [`Session::suggest`](crate::Session::suggest); a question of another seat, or a policy that reads what the viewer
    /// may not see.
    pub fn suggest(&mut self, question: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal> {
        let question = self.own(question)?;
        let viewer = self.viewer.clone();
        self.session.suggest_for(question, policy, &viewer)
    }
}
