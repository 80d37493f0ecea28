//! Odds and advice as methods of a session.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::position::Way;
use super::{AdviceLimits, Advised, Odds, OddsQuery};
use riskbreaker_dice::Fraction;
use riskbreaker_play::{Answer, Question, QuestionId, Refusal, Session, Viewer};
use riskbreaker_state::{EntityId, Value};

/// Odds and advice for the open action of a [`Session`].
pub trait SessionExt: sealed::Sealed {
    /// Computes the odds of the open action from an open question on. Does not change the session.
    ///
    /// The answer to the question itself is given as one of [`OddsQuery::given`]: see [`Given::to`](riskbreaker_play::Given::to).
    ///
    /// # Errors
    ///
    /// A question that is not open, an answer that does not fit, the fault of a script, or more paths than the limits
    /// allow.
    fn odds_at(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal>;

    /// Returns a copy of the game at the next question for a card, the answers given to reach it, and true if dice were
    /// rolled (other dice than those of this game). Each question on the way gets its default, or else the first
    /// possible answer.
    ///
    /// # Errors
    ///
    /// A card that no question reaches.
    fn ahead_to(&self, card: &str) -> Result<(Session, Way, bool), Refusal>;

    /// Like [`SessionExt::odds_at`], up to the agenda entries in `until`: see [`until`](super::until). If the horizon
    /// of the ruleset is out of reach, the odds end with the open action, and [`Odds::no_further`] says why.
    ///
    /// # Errors
    ///
    /// Those of `odds_at`, and a name that the ruleset does not declare.
    fn odds_ahead(&mut self, question: QuestionId, query: OddsQuery, until: Option<&str>) -> Result<Odds, Refusal>;

    /// Returns the chance of each option to be hit if it is chosen: the id of the option, the chance, and true if it is
    /// exact. Empty unless the question chooses one of several entities, the ruleset defines a hit, and the chances can
    /// be computed quickly.
    fn hit_chances(&mut self, question: &Question, viewer: &Viewer) -> Vec<(Arc<str>, Fraction, bool)>;

    /// Like [`SessionExt::odds_at`], with another value of a house rule. Does not change the session.
    ///
    /// # Errors
    ///
    /// Those of `odds_at`, and a house rule or value that the ruleset does not know.
    fn odds_by(&mut self, question: QuestionId, query: OddsQuery, switch: &str, value: &str) -> Result<Odds, Refusal>;

    /// Computes the odds of every answer to an open question, in the order of the question, up to the horizon of the
    /// ruleset, with the default answers to later questions. Does not change the session. Once `interrupt` is set, the
    /// remaining answers get a refusal that says so.
    ///
    /// # Errors
    ///
    /// A question that is not open, or that has too many possible answers.
    #[allow(clippy::type_complexity)] // each answer with its odds, or why they cannot be told
    fn odds_of_each(
        &mut self,
        question: QuestionId,
        viewer: Option<Viewer>,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<(Answer, Result<Odds, Refusal>)>, Refusal>;

    /// Finds the manual edit that opens an option of an open question: entity, field and value. Does not change the
    /// session.
    ///
    /// Numbers, texts of a list, yes-or-no, references and lists of one reference are tried, public fields first.
    /// `None` if none of them opens the option.
    fn opening(&self, question: QuestionId, option: &str) -> Option<(EntityId, Arc<str>, Value)>;

    /// Ranks the answers to an open question, the best first. Computes the odds of each answer, see
    /// [`Advice::odds`](super::Advice::odds), and plays games to their end from there, each answer on the same dice.
    /// Does not change the session.
    ///
    /// One seed gives one ranking for any number of threads. Once `interrupt` is set, or the time limit is reached, the
    /// result is what is known by then.
    ///
    /// # Errors
    ///
    /// A question that is not open, that any line of text answers, or that has more than 40 answers.
    fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal>;

    /// Like [`SessionExt::advise`], from what a viewer knows. The viewer must be allowed to answer the question.
    ///
    /// # Errors
    ///
    /// As [`SessionExt::advise`].
    fn advise_for(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        viewer: &Viewer,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal>;
}

#[allow(clippy::type_complexity)]
impl SessionExt for Session {
    fn odds_at(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal> {
        super::position::odds_at(self, question, query)
    }

    fn ahead_to(&self, card: &str) -> Result<(Session, Way, bool), Refusal> {
        super::position::ahead_to(self, card)
    }

    fn odds_ahead(&mut self, question: QuestionId, query: OddsQuery, until: Option<&str>) -> Result<Odds, Refusal> {
        super::position::odds_ahead(self, question, query, until)
    }

    fn hit_chances(&mut self, question: &Question, viewer: &Viewer) -> Vec<(Arc<str>, Fraction, bool)> {
        super::position::hit_chances(self, question, viewer)
    }

    fn odds_by(&mut self, question: QuestionId, query: OddsQuery, switch: &str, value: &str) -> Result<Odds, Refusal> {
        super::position::odds_by(self, question, query, switch, value)
    }

    fn odds_of_each(
        &mut self,
        question: QuestionId,
        viewer: Option<Viewer>,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<(Answer, Result<Odds, Refusal>)>, Refusal> {
        super::position::odds_of_each(self, question, viewer, interrupt)
    }

    fn opening(&self, question: QuestionId, option: &str) -> Option<(EntityId, Arc<str>, Value)> {
        super::opening::opening(self, question, option)
    }

    fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        super::advise::advise(self, question, limits, interrupt)
    }

    fn advise_for(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        viewer: &Viewer,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        super::advise::advise_for(self, question, limits, viewer, interrupt)
    }
}

mod sealed {
    /// Only a session has these methods.
    pub trait Sealed {}

    impl Sealed for riskbreaker_play::Session {}
}
