//! The seats, dice and house rules of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Session;
use crate::machine::{known_policy, known_seat};
use crate::{DiceSource, Driver, Edit, MissingRoll, Refusal};
use riskbreaker_state::Value;

impl Session {
    /// Sets the driver of a seat. Its open questions are asked again.
    ///
    /// # Errors
    ///
    /// The ruleset has no such seat or policy.
    pub fn set_seat(&mut self, seat: &str, driver: Driver) -> Result<(), Refusal> {
        known_seat(&self.rules, seat).map_err(Refusal::new)?;
        if let Driver::Policy(policy) = &driver {
            known_policy(&self.rules, policy).map_err(Refusal::new)?;
        }
        self.game_mut().reseat(Arc::from(seat), driver);
        self.game_mut().publish(None);
        Ok(())
    }

    /// The source of faces.
    pub fn dice(&self) -> &DiceSource {
        &self.game().context.dice.source
    }

    /// Sets the source of faces for later rolls.
    pub fn set_dice(&mut self, dice: DiceSource) {
        let game = self.game_mut();
        game.context.dice.source = dice;
        game.context.dice.written = 0;
        game.context.state.renew_identity();
    }

    /// The value of a house rule. `None` if the ruleset has no such rule.
    pub fn switch(&self, name: &str) -> Option<&Value> {
        self.game().context.switches.get(name)
    }

    /// The values of the house rules, by name.
    pub fn switches(&self) -> &BTreeMap<String, Value> {
        &self.game().context.switches
    }

    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn shared_switches(&self) -> Arc<BTreeMap<String, Value>> {
        self.game().context.switches.clone()
    }

    /// Sets a house rule, before the open action, which then runs again. The value is read like a typed one. This is an
    /// edit: one entry of the history, one undo.
    ///
    /// # Errors
    ///
    /// The ruleset has no such house rule (names the most similar one), or the rule does not allow the value (lists
    /// those allowed).
    pub fn set_switch(&mut self, name: &str, value: impl Into<Value>) -> Result<(), Refusal> {
        self.edit(Edit::Switch { name: name.to_string(), value: value.into() })
    }

    /// The drivers of the seats.
    pub fn seats(&self) -> &BTreeMap<Arc<str>, Driver> {
        &self.game().context.answers.seats
    }

    /// The seed of the dice.
    pub fn seed(&self) -> u64 {
        self.game().setup.seed
    }

    /// Sets the faces of the next rolls, after those pushed earlier; later rolls come from the generator again. For
    /// embedders with dice of their own. This is not a decision: undo does not remove the faces, and the same faces are
    /// rolled again after an undo.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if people type their dice in, or for a face of 0. Whether a face fits is checked by the
    /// roll: a face larger than the die stops the action, and [`Session::clear_faces`] removes it.
    pub fn push_faces(&mut self, faces: &[u32]) -> Result<(), Refusal> {
        if faces.contains(&0) {
            return Err(Refusal::new("the faces of a die are numbered from 1: there is no face 0"));
        }
        let context = &mut self.game_mut().context;
        match &mut context.dice.source {
            DiceSource::Written(written) | DiceSource::Pushed(written) => written.extend(faces),
            DiceSource::Seeded => {
                // Faces of an earlier list count as used.
                let mut all = vec![1; context.dice.written as usize];
                all.extend(faces);
                context.dice.source = DiceSource::Pushed(all);
            }
            DiceSource::Typed => return Err(Refusal::new("the dice are typed in: a roll is a question")),
        }
        context.state.renew_identity();
        Ok(())
    }

    /// Removes the pushed faces that were not rolled yet. Returns their number.
    pub fn clear_faces(&mut self) -> usize {
        let context = &mut self.game_mut().context;
        let (DiceSource::Written(faces) | DiceSource::Pushed(faces)) = &mut context.dice.source else { return 0 };
        let waiting = faces.len().saturating_sub(context.dice.written as usize);
        faces.truncate(context.dice.written as usize);
        context.state.renew_identity();
        waiting
    }

    /// The roll for which the written dice did not suffice. `None` unless the action stopped for that reason.
    ///
    /// [`Session::push_faces`] sets its faces, and [`Remedy::Retry`](crate::Remedy::Retry) rolls them.
    pub fn missing_roll(&self) -> Option<&MissingRoll> {
        let open = self.game().open.as_ref()?;
        open.fault.as_ref().and(open.missing_roll.as_deref())
    }

    /// The number of written faces that were not rolled yet.
    pub fn unrolled(&self) -> usize {
        match &self.game().context.dice.source {
            DiceSource::Written(faces) | DiceSource::Pushed(faces) => {
                faces.len().saturating_sub(self.game().context.dice.written as usize)
            }
            _ => 0,
        }
    }
}
