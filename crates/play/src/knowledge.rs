//! The game as a viewer knows it, without hidden values.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::operation::Op;
use super::{ActionContext, Call, DiceSource, Fault, Game, Machine, Phase, Query, Refusal, Slot, Viewer};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::{EntityId, FieldId, Kind, KindId, State, Value};

/// The values of a state that are hidden from a viewer.
#[derive(Clone, Debug, Default)]
pub struct Masked {
    /// Hidden fields of visible entities. In the state they have their defaults.
    fields: BTreeSet<(EntityId, FieldId)>,
    /// Hidden fields that a script has read, in this game or in a copy of it.
    looked_at: Arc<Mutex<BTreeSet<(KindId, FieldId)>>>,
    /// Hidden fields that scripts have written since: their new values follow from what the viewer knows.
    written: BTreeSet<(EntityId, FieldId)>,
}

impl Masked {
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.fields.contains(&(entity, field))
    }

    /// Records that a hidden field was written.
    pub fn note_written(&mut self, entity: EntityId, field: FieldId) {
        if self.hides(entity, field) {
            self.written.insert((entity, field));
        }
    }

    /// Makes the written fields known, once the action that wrote them is over.
    pub fn settle(&mut self) {
        let written = std::mem::take(&mut self.written);
        self.fields.retain(|field| !written.contains(field));
    }

    /// Records that a script read a field, if it is hidden and was not written.
    pub fn note(&self, kind: KindId, entity: EntityId, field: FieldId) {
        if self.hides(entity, field)
            && !self.written.contains(&(entity, field))
            && let Ok(mut looked_at) = self.looked_at.lock()
        {
            looked_at.insert((kind, field));
        }
    }
}

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
        context.masked = Some(Box::new(masked));
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
        game.context.masked = Some(Box::new(masked));
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
        game.context.masked = masked;
        if viewer.is_master() {
            return Some(game);
        }
        game.context.chance = DiceRng::new(0);
        if self.context.rules.deals() && self.context.rules.schema().has_secrets() {
            game.context.deals_for = Some(viewer.names().next().cloned().unwrap_or_else(|| Arc::from("")));
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
        let kinds = self.context.masked.as_ref().map(|_| &self.context.rules.schema().kinds);
        kinds.into_iter().flatten().flat_map(of).collect()
    }

    /// Runs `deal` once, with the dice of this copy of the game, and keeps the result.
    ///
    /// # Errors
    ///
    /// The fault of the rules' `deal`.
    pub fn deal_anew(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        let dice = std::mem::replace(&mut self.context.dice, DiceSource::Seeded);
        let dealt = self.context.deal_unseen(vm);
        self.context.dice = dice;
        dealt?;
        self.context.deals_for = None;
        self.context.dealt = 0;
        self.context.events.clear();
        self.context.state.settle_unread();
        self.context.state.renew_identity();
        Ok(())
    }
}

/// Removes from a state what a viewer may not see.
pub(super) fn masked(context: &ActionContext, mut state: State, viewer: &Viewer) -> (State, Masked) {
    let rules = context.rules.clone();
    let schema = rules.schema();
    let mut masked = Masked::default();
    // Compute all audiences before anything is removed.
    let ids: Vec<(EntityId, KindId)> = state.entities().map(|(id, entity)| (id, entity.kind)).collect();
    let mut gone = Vec::new();
    for (id, kind) in ids {
        let kind = schema.kind(kind);
        let hides = kind.audience.is_some() || !kind.relates.is_empty();
        if hides && !viewer.sees(&state.audience(schema, id)) {
            gone.push(id);
            continue;
        }
        for at in 0..kind.fields.len() {
            let field = FieldId(at as u16);
            if kind.field(field).audience.is_some() && !viewer.sees(&state.field_audience(schema, id, field, None)) {
                masked.fields.insert((id, field));
            }
        }
    }
    for (id, field) in &masked.fields {
        if let Some(kind) = state.entity(*id).map(|entity| entity.kind) {
            state.set(*id, *field, schema.kind(kind).field(*field).default.clone());
        }
    }
    for id in &gone {
        state.forget(*id);
    }
    state.forget_secret_numbers(|audience| !viewer.sees(audience));
    state.settle_unread();
    (state, masked)
}

impl ActionContext {
    /// Runs the rules' `deal`, if there is one, before a path of the open action. It draws from the action's source of
    /// dice and does not read the tape.
    pub fn deal_unseen(&mut self, vm: &mut dyn Machine) -> Result<(), Fault> {
        (self.dealt, self.before_script) = (0, 0);
        if let Some(masked) = &mut self.masked {
            masked.written.clear();
        }
        let Some(seat) = self.deals_for.clone() else { return Ok(()) };
        let (tape, phase) = (std::mem::take(&mut self.tape), std::mem::replace(&mut self.phase, Phase::Deal));
        let done = vm.call(self, &Call::Deal { seat: &seat });
        (self.tape, self.phase, self.cursor) = (tape, phase, 0);
        self.events.clear();
        self.private.clear();
        done?;
        self.dealt = self.state.since(0).len();
        Ok(())
    }

    /// Records that a script read a field, if this is the game as a viewer knows it.
    pub fn note_read(&self, entity: EntityId, field: FieldId) {
        // `deal` may read what it resamples.
        if let Some(masked) = self.masked.as_ref().filter(|_| self.phase != Phase::Deal)
            && let Some(found) = self.state.entity(entity)
        {
            masked.note(found.kind, entity, field);
        }
    }

    /// Restricts scripts to what a seat knows, until `glimpse` is cleared. Returns false if the seat knows everything.
    pub fn begin_glimpse(&mut self, seat: &str) -> bool {
        let viewer = Viewer::seat(seat);
        if viewer.is_master() || self.glimpse.is_some() || !self.rules.schema().has_secrets() {
            return false;
        }
        if !self.may_hide_something() {
            return false;
        }
        // The audiences depend on fields whose reads are not observed.
        self.observers.observe(&Op::Glimpse);
        let (state, masked) = masked(self, self.state.clone(), &viewer);
        if masked.fields.is_empty() && state.entities().count() == self.state.entities().count() {
            return false;
        }
        self.glimpse = Some(Box::new(state));
        true
    }

    /// True if anything may be hidden: a field has an audience, or an entity exists whose kind has one.
    fn may_hide_something(&mut self) -> bool {
        let rules = self.rules.clone();
        let kinds = &rules.schema().kinds;
        if kinds.iter().any(|kind| kind.fields.iter().any(|field| field.audience.is_some())) {
            return true;
        }
        let mut found = false;
        for (at, _) in kinds.iter().enumerate().filter(|(_, kind)| kind.audience.is_some()) {
            let kind = KindId(at as u16);
            self.observers.observe(&Op::ReadPopulation { query: Query::Kind(kind), state: &self.state });
            found |= !self.state.of_kind(kind).is_empty();
        }
        found
    }

    /// The state that scripts may read at present.
    pub fn shown(&self) -> &State {
        self.glimpse.as_deref().unwrap_or(&self.state)
    }

    /// The value of a field as a seat knows it; the default if the seat does not see the entity. `None` without a
    /// restriction to a seat.
    pub fn glimpsed(&self, entity: EntityId, field: FieldId) -> Option<&Value> {
        let known = self.glimpse.as_ref()?.field(entity, field);
        known.or_else(|| {
            let kind = self.state.entity(entity)?.kind;
            self.rules.schema().kind(kind).fields.get(field.0 as usize).map(|field| &field.default)
        })
    }

    /// Returns `found`, or a refusal if rules have read hidden fields of this viewer.
    pub fn unless_hidden<R>(&mut self, viewer: &Viewer, found: Result<R, Refusal>) -> Result<R, Refusal> {
        match self.take_looked_at().as_slice() {
            [] => found,
            hidden => Err(Refusal::hidden(viewer, hidden)),
        }
    }

    /// The labels of hidden fields that scripts have read since the last call.
    pub fn take_looked_at(&mut self) -> Vec<String> {
        let Some(masked) = &mut self.masked else { return Vec::new() };
        let looked_at =
            masked.looked_at.lock().map(|mut looked_at| std::mem::take(&mut *looked_at)).unwrap_or_default();
        let schema = self.rules.schema();
        let label = |(kind, field): &(KindId, FieldId)| schema.kind(*kind).field(*field).label.to_string();
        let mut labels: Vec<String> = looked_at.iter().map(label).collect();
        labels.dedup();
        labels
    }

    /// Runs `work`. Also returns true if a script read a hidden field meanwhile.
    pub fn noting_hidden<R>(&mut self, work: impl FnOnce(&mut ActionContext) -> R) -> (R, bool) {
        let Some(looked_at) = self.masked.as_ref().map(|masked| masked.looked_at.clone()) else {
            return (work(self), false);
        };
        let before = looked_at.lock().map(|mut looked_at| std::mem::take(&mut *looked_at)).unwrap_or_default();
        let done = work(self);
        let Ok(mut looked_at) = looked_at.lock() else { return (done, true) };
        let is_hidden = !looked_at.is_empty();
        looked_at.extend(before);
        (done, is_hidden)
    }

    /// True if a field is hidden from the viewer.
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.masked.as_ref().is_some_and(|masked| masked.hides(entity, field))
    }
}
