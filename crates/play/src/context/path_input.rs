//! The input that supplies rolls and answers while all paths of an action are explored.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::asking::{Asked, Asking};
use crate::model::AnswerSource;
use crate::{ActionContext, Answer, Driver, Question, Sight, Slot};
use riskbreaker_dice::{Dice, Roll};
use riskbreaker_state::{Audience, EntityId};

/// An input that takes an action along one path after another. It supplies each roll and answer that the tape does not
/// hold. `None` from one of its methods ends the run before its action does.
pub trait PathInput: Any + fmt::Debug + Send + Sync {
    /// True if dice are rolled at random instead of enumerated.
    fn is_sampling(&self) -> bool;

    /// True if equal points of two paths are merged.
    fn merges(&self) -> bool;

    /// True if the run has passed the action that was open at first.
    fn is_later(&self) -> bool;

    /// Makes the next roll on the current path.
    fn roll(&mut self, context: &ActionContext, dice: &Arc<Dice>, sight: &Sight, label: &Arc<str>) -> Option<Roll>;

    /// Picks a number from 1 to `n`, each equally likely.
    fn pick(&mut self, context: &ActionContext, n: u32) -> Option<u32>;

    /// Branches on the total of the last roll, of which the script has seen only how many of the `cuts` the `total`
    /// reaches.
    fn look(&mut self, context: &ActionContext, dice: &Dice, cuts: &[i64], total: i64) -> Option<i64>;

    /// Ends the run because it looks at a roll whose total two merged paths may not share.
    fn refuse_look(&mut self);

    /// Notes a roll that the run takes from the tape.
    fn note_roll(&mut self);

    /// Returns true if something was rolled since the last call.
    fn roll_again(&mut self) -> bool;

    /// Decides how a question on this path is answered.
    fn answer(&mut self, context: &ActionContext, question: &Question) -> Option<Asked>;

    /// The next question and its answer, if an earlier run has asked it and no path branches before it.
    fn recall(&mut self) -> Option<Arc<(Question, Answer)>>;

    /// True if [`PathInput::recall`] has a question to return.
    fn knows_next(&self) -> bool;

    /// Records the question just asked. `None`: a policy answers it.
    fn remember(&mut self, answered: Option<(&Question, &Answer)>);

    /// The policy that answers a question with this seat, topic and subject, if the options of the question are not
    /// needed to decide that. `before`: the tape up to the question. Records the policy as asked.
    fn ask_policy<'a>(
        &'a mut self,
        driver: Option<&'a Driver>,
        asked: (&str, &str, Option<EntityId>),
        has_options: bool,
        before: &[Option<Slot>],
    ) -> Option<&'a Arc<str>>;

    /// The policy that answers for a seat with this driver.
    fn policy_of<'a>(&'a self, driver: Option<&'a Driver>) -> Option<&'a Arc<str>>;

    /// True if an answer was given in advance for the question. `before`: the tape up to the question.
    fn is_given(&self, seat: &str, topic: &str, about: Option<EntityId>, before: &[Option<Slot>]) -> bool;

    /// Records an answer that was chosen for a seat, unless the viewer may not see the question.
    fn note_taken(
        &mut self,
        context: &ActionContext,
        asking: &Asking,
        audience: &Audience,
        answer: String,
        source: AnswerSource,
    );
}
