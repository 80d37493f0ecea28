//! The rolls of a run, and what is known of the next one.

use std::sync::Arc;

use crate::{MissingRoll, Sight, Term};
use riskbreaker_dice::Dice;
use riskbreaker_state::Audience;

/// The rolls of a run, and what is known of the next one.
pub struct RunRolls {
    /// The rolls of this run, in order.
    pub made: Vec<SeenRoll>,
    /// The index after the roll that [`ActionContext::look_at_roll`](super::ActionContext::look_at_roll) reads.
    pub last: usize,
    /// The terms of the number that the next roll needs.
    pub terms: Vec<Term>,
    /// Who may see the next roll.
    pub audience: Audience,
    /// True if the next roll is a draw from a deck: it gets no event and is never typed in as real dice.
    pub dealing: bool,
    /// The tape label of the roll that waits for typed faces.
    pub waits_for: Option<Arc<str>>,
    /// The roll for which the written dice did not suffice.
    pub missing: Option<Box<MissingRoll>>,
}

/// A roll of the running action, for [`ActionContext::look_at_roll`](super::ActionContext::look_at_roll).
#[derive(Clone, Debug)]
pub struct SeenRoll {
    pub total: i64,
    pub shows_faces: bool,
    /// While paths are explored: the dice, and how much of the roll the script has seen, if less than the total.
    pub unseen: Option<(Arc<Dice>, Sight)>,
}

impl Default for RunRolls {
    fn default() -> RunRolls {
        RunRolls {
            made: Vec::new(),
            last: 0,
            terms: Vec::new(),
            audience: Audience::Everybody,
            dealing: false,
            waits_for: None,
            missing: None,
        }
    }
}

impl RunRolls {
    /// Prepares for the next run of an action.
    pub fn clear(&mut self) {
        self.terms.clear();
        self.clear_made();
        self.audience = Audience::Everybody;
        self.dealing = false;
    }

    /// Clears the rolls made so far.
    pub fn clear_made(&mut self) {
        self.made.clear();
        self.last = 0;
    }

    /// Records a roll, unless it is a draw from a deck.
    pub fn note(&mut self, roll: SeenRoll) {
        if !self.dealing {
            self.made.push(roll);
            self.last = self.made.len();
        }
    }

    /// The roll that `rb.last_roll` reads. `None` if nothing has been rolled.
    pub fn last_seen(&self) -> Option<&SeenRoll> {
        self.last.checked_sub(1).and_then(|at| self.made.get(at))
    }
}
