//! Profiles and the order of play, as a seat knows them.

use std::collections::BTreeMap;

use super::seat::Seat;
use crate::context::is_derived;
use crate::{Fault, Order, Profile, WorkedOut};
use riskbreaker_state::EntityId;

impl Seat<'_> {
    /// The profiles of all entities that the viewer sees, without empty ones.
    pub fn profiles(&mut self) -> BTreeMap<EntityId, Profile> {
        let worked_out = self.worked_out();
        let view = self.view();
        let profiles = view.entities().map(|id| (id, view.profile(id, &worked_out)));
        profiles.filter(|(_, profile)| *profile != Profile::default()).collect()
    }

    /// The derived values of profiles, as the viewer knows them. Those that depend on hidden values are missing.
    pub fn worked_out(&mut self) -> WorkedOut {
        if !self.session.ruleset().schema().kinds.iter().any(|kind| kind.profile.numbers.iter().any(is_derived)) {
            return WorkedOut::new();
        }
        let wanted = self.view().derived_in_profiles();
        if wanted.is_empty() {
            return WorkedOut::new();
        }
        self.look(move |game, vm| Ok(vm.numbers(&mut game.context, &wanted))).unwrap_or_default()
    }
}

impl Seat<'_> {
    /// The order of play as the viewer knows it. `None` if the ruleset has none, or none now.
    ///
    /// # Errors
    ///
    /// The fault of the script.
    pub fn order(&mut self) -> Result<Option<Order>, Fault> {
        if !self.session.ruleset().has_order() {
            return Ok(None);
        }
        let seat = self.own_seat();
        self.look(move |game, vm| vm.order(&mut game.context, &seat))
    }
}
