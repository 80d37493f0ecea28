//! The game as a viewer knows it. Hidden things are left out.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::operation::Op;
use super::{ActionContext, Call, DiceSource, Fault, Game, Machine, Phase, Query, Refusal, Slot, Viewer};
use riskbreaker_dice::DiceRng;
use riskbreaker_state::{EntityId, FieldId, Kind, KindId, State, Value};

/// What was left out of a state for a viewer.
#[derive(Clone, Debug, Default)]
pub struct Masked {
    /// Fields of entities that are there; they hold their defaults.
    fields: BTreeSet<(EntityId, FieldId)>,
    /// Those of them that a script has looked at, here or in a copy of the game.
    looked_at: Arc<Mutex<BTreeSet<(KindId, FieldId)>>>,
    /// Hidden fields that scripts have written since: their values follow from what the viewer knows.
    written: BTreeSet<(EntityId, FieldId)>,
}

impl Masked {
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.fields.contains(&(entity, field))
    }

    /// Notes that a field has been written.
    pub fn note_written(&mut self, entity: EntityId, field: FieldId) {
        if self.hides(entity, field) {
            self.written.insert((entity, field));
        }
    }

    /// Lets fields count as known whose values follow from what the viewer knows: the action that wrote them is over.
    pub fn settle(&mut self) {
        let written = std::mem::take(&mut self.written);
        self.fields.retain(|field| !written.contains(field));
    }

    /// Notes that a script has read a field.
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
    /// The game as a viewer knows it; nothing where that is all of it.
    ///
    /// Entities that it may not see are gone, with everything that refers to them; fields that it may not see hold their
    /// defaults. So nothing that is computed from it depends on what the viewer may not see.
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

    /// Whether the open action has changed the state.
    pub fn changes_something(&self) -> bool {
        self.open.is_some() && !self.context.state.since(0).is_empty()
    }

    /// Who looks ahead from a question to a seat. Rules deal anew what one seat cannot see: of several seats at one screen, that is
    /// the one that is asked.
    pub fn looks_ahead(&self, viewer: Viewer, seat: &str) -> Viewer {
        let shared = self.context.rules.deals() && !viewer.is_master() && viewer.plays(seat);
        if shared { Viewer::seat(seat) } else { viewer }.ahead_for(seat)
    }

    /// Refuses to look ahead where that would roll anew what the viewer has seen: a roll, or an event, behind the first roll of the
    /// open action that is hidden from the viewer.
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

    /// Looks ahead from what a viewer knows: in this game, or in a copy of it without what the viewer may not see.
    ///
    /// # Errors
    ///
    /// That would tell what the viewer may not see; or those of `work`.
    pub fn look_ahead<R>(&self, viewer: &Viewer, work: impl FnOnce(&Game) -> Result<R, Refusal>) -> Result<R, Refusal> {
        self.may_look_ahead(viewer)?;
        let Some(mut known) = self.ahead_for(viewer) else { return work(self) };
        let found = work(&known);
        known.context.unless_hidden(viewer, found)
    }

    /// The game from which a viewer looks ahead: as [`Game::known_to`], before the open action, with other dice.
    ///
    /// The tape of the open action is cut before its first answer or roll that the viewer may not know of. If the rules have a
    /// `deal`, it deals anew what the viewer cannot see before each path of the action.
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

    /// What this game leaves out, as a viewer knows it, by name: kinds of entities, and of those that everybody sees the fields
    /// that are secret, as `kind.field`. Nothing if it is the whole game.
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

/// A state without what a viewer may not see.
fn masked(context: &ActionContext, mut state: State, viewer: &Viewer) -> (State, Masked) {
    let rules = context.rules.clone();
    let schema = rules.schema();
    let mut masked = Masked::default();
    // Who sees what is found out before anything is taken away.
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
    /// Runs `deal` of the rules, if they have one, before a path of the open action. It draws from the same source of dice as the
    /// action and does not read the tape.
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

    /// Notes that a script has read a field, where somebody looks who does not see all.
    pub fn note_read(&self, entity: EntityId, field: FieldId) {
        // `deal` may read what it deals.
        if let Some(masked) = self.masked.as_ref().filter(|_| self.phase != Phase::Deal)
            && let Some(found) = self.state.entity(entity)
        {
            masked.note(found.kind, entity, field);
        }
    }

    /// Lets scripts read only what a seat knows, until `glimpse` is empty again. Says whether that is less than all.
    pub fn begin_glimpse(&mut self, seat: &str) -> bool {
        let viewer = Viewer::seat(seat);
        if viewer.is_master() || self.glimpse.is_some() || !self.rules.schema().has_secrets() {
            return false;
        }
        if !self.may_hide_something() {
            return false;
        }
        // Which entities and fields are hidden depends on fields whose reads are not observed.
        self.observers.observe(&Op::Glimpse);
        let (state, masked) = masked(self, self.state.clone(), &viewer);
        if masked.fields.is_empty() && state.entities().count() == self.state.entities().count() {
            return false;
        }
        self.glimpse = Some(Box::new(state));
        true
    }

    /// Whether anything may be hidden from anybody: a field has an audience, or there is an entity of a kind that has one.
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

    /// The state as scripts may read it at the moment.
    pub fn shown(&self) -> &State {
        self.glimpse.as_deref().unwrap_or(&self.state)
    }

    /// The value of a field as a seat knows it; the default, if it does not see the entity.
    pub fn glimpsed(&self, entity: EntityId, field: FieldId) -> Option<&Value> {
        let known = self.glimpse.as_ref()?.field(entity, field);
        known.or_else(|| {
            let kind = self.state.entity(entity)?.kind;
            self.rules.schema().kind(kind).fields.get(field.0 as usize).map(|field| &field.default)
        })
    }

    /// What was found, unless rules have looked at what the viewer may not see.
    pub fn unless_hidden<R>(&mut self, viewer: &Viewer, found: Result<R, Refusal>) -> Result<R, Refusal> {
        match self.take_looked_at().as_slice() {
            [] => found,
            hidden => Err(Refusal::hidden(viewer, hidden)),
        }
    }

    /// The hidden fields that scripts have looked at, by label, since this was asked last.
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

    /// Does something, and says whether a script looked at a hidden field meanwhile.
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

    /// Whether a field is hidden from whoever looks.
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.masked.as_ref().is_some_and(|masked| masked.hides(entity, field))
    }
}
