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
    /// Works out what the open action can come to, from an open question on. Nothing changes.
    ///
    /// The answer to the question itself is given as one of [`OddsQuery::given`]: see [`Given::to`].
    ///
    /// # Errors
    ///
    /// A sentence: a question that is not open, an answer that does not fit, the fault of a script, or more ways than
    /// the limits allow.
    fn odds_at(&mut self, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal>;

    /// The game where somebody is asked for a card next, what was answered to come there, and whether dice were rolled:
    /// other ones than those to come. Every question takes its default, or else the first answer that is possible. It is
    /// another game; this one stays as it is.
    ///
    /// # Errors
    ///
    /// A card that nobody comes to be asked for.
    fn ahead_to(&self, card: &str) -> Result<(Session, Way, bool), Refusal>;

    /// The same as [`SessionExt::odds_at`], as far ahead as `until` names agenda entries: see [`until`](super::until). If the horizon of
    /// the ruleset is out of reach, the odds end with the open action, and [`Odds::no_further`] says why.
    ///
    /// # Errors
    ///
    /// As there, and a name that the ruleset does not declare.
    fn odds_ahead(&mut self, question: QuestionId, query: OddsQuery, until: Option<&str>) -> Result<Odds, Refusal>;

    /// The chance of each option of a question to be hit if it is chosen: by the id of the option, with whether it is exact. Empty
    /// unless one of several entities is to be chosen, the ruleset says what a hit is, and the chances are known at once.
    fn hit_chances(&mut self, question: &Question, viewer: &Viewer) -> Vec<(Arc<str>, Fraction, bool)>;

    /// The same as [`SessionExt::odds_at`], if a house rule had another value. Nothing changes.
    ///
    /// # Errors
    ///
    /// As there, and a house rule or value that the ruleset does not know.
    fn odds_by(&mut self, question: QuestionId, query: OddsQuery, switch: &str, value: &str) -> Result<Odds, Refusal>;

    /// Works out what every answer to an open question can come to, as they are offered, up to the horizon of the ruleset, with
    /// the default answers to what is asked further. Nothing changes. Once `interrupt` is set, what is known is given and the rest says that it is not.
    ///
    /// # Errors
    ///
    /// A question that is not open, or with more possible answers than can be gone through.
    #[allow(clippy::type_complexity)] // each answer with its odds, or why they cannot be told
    fn odds_of_each(
        &mut self,
        question: QuestionId,
        viewer: Option<Viewer>,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Vec<(Answer, Result<Odds, Refusal>)>, Refusal>;

    /// The change by hand that opens an option of an open question: entity, field and value. Nothing changes here.
    ///
    /// Numbers, texts of a list, yes-or-no, references and lists of one reference are tried, first those that the table sees.
    /// `None`: none of them does.
    fn opening(&self, question: QuestionId, option: &str) -> Option<(EntityId, Arc<str>, Value)>;

    /// Ranks the answers to an open question, the best first. It works out the odds of each answer, see
    /// [`Advice::odds`](super::Advice::odds), and plays
    /// games to their end from there, each answer on the same dice. Nothing changes.
    ///
    /// One seed gives one ranking for any number of threads. Once `interrupt` is set, or the time is over, the result is what is
    /// known by then.
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

    /// The same from what a viewer knows, who may decide the question.
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
        super::advice::advise(self, question, limits, interrupt)
    }

    fn advise_for(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        viewer: &Viewer,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        super::advice::advise_for(self, question, limits, viewer, interrupt)
    }
}

mod sealed {
    /// Only a session has these methods.
    pub trait Sealed {}

    impl Sealed for riskbreaker_play::Session {}
}
