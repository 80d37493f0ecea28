//! The game as a viewer knows it, without hidden values.

use std::sync::Arc;

use super::Game;
use crate::context::masked;
use crate::{DiceSource, Fault, Machine, Refusal, Slot, Viewer};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::Kind;

impl Game {
    /// The game as a viewer knows it. `None` if the viewer knows the whole game.
    ///
    /// Hidden entities are removed, with all references to them; hidden fields have their defaults. So nothing computed
    /// from it depends on hidden values.
    pub fn known_to(&self, viewer: &Viewer) -> Option<Game> {
        if viewer.is_master() {
            return None;
        }
        let private = self.open.iter().flat_map(|open| &open.private);
        let knows_tape = private.clone().all(|(_, audience)| viewer.sees(audience));
        if !self.context.rules.schema().has_secrets() && knows_tape {
            return None;
        }
        let (state, masked) = masked(&self.context, self.context.state.clone(), viewer);
        let mut game = self.fork_onto(state);
        let context = &mut game.context;
        context.knowledge.masked = Some(Box::new(masked));
        context.phase = self.context.phase;
        Some(game)
    }

    /// The game as a viewer knows it, before the open action.
    pub fn known_before(&self, viewer: &Viewer) -> Game {
        let before = self.context.state.before_journal();
        if viewer.is_master() || !self.context.rules.schema().has_secrets() {
            return self.fork_onto(before);
        }
        let (state, masked) = masked(&self.context, before, viewer);
        let mut game = self.fork_onto(state);
        game.context.knowledge.masked = Some(Box::new(masked));
        game
    }

    /// True if the open action has changed the state.
    pub fn changes_something(&self) -> bool {
        self.open.is_some() && !self.context.state.since(0).is_empty()
    }

    /// The viewer for a look-ahead. `deal` resamples hidden values for one seat only; with several seats at one screen,
    /// for the asked seat.
    pub fn looks_ahead(&self, viewer: Viewer, seat: &str) -> Viewer {
        let shared = self.context.rules.deals() && !viewer.is_master() && viewer.plays(seat);
        if shared { Viewer::seat(seat) } else { viewer }.ahead_for(seat)
    }

    /// Refuses a look-ahead that would roll again what the viewer has seen: a roll or an event after the first hidden
    /// roll of the open action.
    pub fn may_look_ahead(&self, viewer: &Viewer) -> Result<(), Refusal> {
        let Some(open) = &self.open else { return Ok(()) };
        let mut rolls = (0..).zip(&open.tape.slots).filter(|(_, slot)| matches!(slot, Some(Slot::Roll { .. })));
        let Some((hidden, _)) = rolls.find(|(place, _)| !open.is_seen(*place, viewer)) else { return Ok(()) };
        let told = open.told_before.get(&hidden).copied().unwrap_or_default();
        let has_told = open.events.iter().skip(told).any(|event| viewer.sees(&event.audience));
        if !has_told && !rolls.any(|(place, _)| open.is_seen(place, viewer)) {
            return Ok(());
        }
        Err(Refusal::failing(format!(
            "this action has rolled or drawn what {} may not see, and shown something since, which would be rolled anew (let the \
             rules roll and ask in two entries of the agenda)",
            viewer.words(),
        )))
    }

    /// Runs `work` on the game as a viewer knows it: on this game, or on a copy without hidden values.
    ///
    /// # Errors
    ///
    /// The result depends on hidden values; or an error of `work`.
    pub fn look_ahead<R>(&self, viewer: &Viewer, work: impl FnOnce(&Game) -> Result<R, Refusal>) -> Result<R, Refusal> {
        self.may_look_ahead(viewer)?;
        let Some(mut known) = self.ahead_for(viewer) else { return work(self) };
        let found = work(&known);
        known.context.unless_hidden(viewer, found)
    }

    /// The game from which a viewer looks ahead: as [`Game::known_to`], before the open action, with other dice. `None`
    /// if the viewer knows the whole game.
    ///
    /// The tape of the open action is cut before its first answer or roll that the viewer may not know. If the rules
    /// have a `deal`, it resamples hidden values before each path of the action.
    pub fn ahead_for(&self, viewer: &Viewer) -> Option<Game> {
        let first = self.open.as_ref().and_then(|open| {
            let places = open.private.keys().chain(open.untold.keys());
            places.filter(|place| !open.is_seen(**place, viewer)).min().copied()
        });
        if first.is_none() && (viewer.is_master() || !self.context.rules.schema().has_secrets()) {
            return None;
        }
        let (state, masked) = match viewer.is_master() {
            true => (self.context.state.before_journal(), None),
            false => {
                let (state, masked) = masked(&self.context, self.context.state.before_journal(), viewer);
                (state, Some(Box::new(masked)))
            }
        };
        let mut game = self.fork_onto(state);
        if let (Some(place), Some(open)) = (first, &mut game.open) {
            open.tape.slots.truncate(place as usize);
        }
        game.context.knowledge.masked = masked;
        if viewer.is_master() {
            return Some(game);
        }
        game.context.dice.rng = DiceRng::new(0);
        if self.context.rules.deals() && self.context.rules.schema().has_secrets() {
            game.context.knowledge.deals_for = Some(viewer.names().next().cloned().unwrap_or_else(|| Arc::from("")));
        }
        Some(game)
    }

    /// Names what is hidden from the viewer of this game: kinds of entities, and secret fields of public kinds as
    /// `kind.field`. Empty if nothing is hidden.
    pub fn unseen(&self) -> Vec<String> {
        let of = |kind: &Kind| match kind.audience {
            Some(_) => vec![kind.name.to_string()],
            None => {
                let secret = kind.fields.iter().filter(|field| field.audience.is_some());
                secret.map(|field| format!("{}.{}", kind.name, field.name)).collect()
            }
        };
        let kinds = self.context.knowledge.masked.as_ref().map(|_| &self.context.rules.schema().kinds);
        kinds.into_iter().flatten().flat_map(of).collect()
    }

    /// Runs `deal` once, with the dice of this copy of the game, and keeps the result.
    ///
    /// # Errors
    ///
    /// The fault of the rules' `deal`.
    pub fn deal_anew(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        let dice = std::mem::replace(&mut self.context.dice.source, DiceSource::Seeded);
        let dealt = self.context.deal_unseen(vm);
        self.context.dice.source = dice;
        dealt?;
        self.context.knowledge.deals_for = None;
        self.context.knowledge.dealt = 0;
        self.context.log.events.clear();
        self.context.state.settle_unread();
        self.context.state.renew_identity();
        Ok(())
    }
}
