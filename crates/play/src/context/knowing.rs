//! What scripts may read, as a viewer or a seat knows it.

use super::ActionContext;
use super::knowledge::Masked;
use super::op::Op;
use super::phase::Phase;
use crate::{Call, Fault, MASTER, Machine, Query, Refusal, Viewer};
use riskbreaker_state::{EntityId, FieldId, KindId, State, Value};

/// Removes from a state what a viewer may not see.
pub(crate) fn masked(context: &ActionContext, mut state: State, viewer: &Viewer) -> (State, Masked) {
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
        (self.knowledge.dealt, self.run.before_script) = (0, 0);
        if let Some(masked) = &mut self.knowledge.masked {
            masked.written.clear();
        }
        let Some(seat) = self.knowledge.deals_for.clone() else { return Ok(()) };
        let (tape, phase) = (std::mem::take(&mut self.playback.tape), std::mem::replace(&mut self.phase, Phase::Deal));
        let done = vm.call(self, &Call::Deal { seat: &seat });
        (self.playback.tape, self.phase, self.playback.cursor) = (tape, phase, 0);
        self.log.events.clear();
        self.log.private.clear();
        done?;
        self.knowledge.dealt = self.state.since(0).len();
        Ok(())
    }

    /// Records that a script read a field, if this is the game as a viewer knows it.
    pub fn note_read(&self, entity: EntityId, field: FieldId) {
        // `deal` may read what it resamples.
        if let Some(masked) = self.knowledge.masked.as_ref().filter(|_| self.phase != Phase::Deal)
            && let Some(found) = self.state.entity(entity)
        {
            masked.note(found.kind, entity, field);
        }
    }

    /// Restricts scripts to what a seat knows, until `glimpse` is cleared. Returns false if the seat knows everything.
    pub fn begin_glimpse(&mut self, seat: &str) -> bool {
        if *seat == *MASTER || self.knowledge.glimpse.is_some() || !self.rules.schema().has_secrets() {
            return false;
        }
        if self.is_open() {
            self.observers.observe(&Op::ReadPopulation { query: Query::Open, state: &self.state });
            return false;
        }
        // The audiences depend on fields whose reads are not observed.
        self.observers.observe(&Op::Glimpse);
        let (state, masked) = masked(self, self.state.clone(), &Viewer::seat(seat));
        if masked.fields.is_empty() && state.entities().count() == self.state.entities().count() {
            return false;
        }
        self.knowledge.glimpse = Some(Box::new(state));
        true
    }

    /// True if everybody sees everything.
    fn is_open(&mut self) -> bool {
        let now = (self.state.identity(), self.state.moves());
        if self.knowledge.open_at == Some(now) {
            return true;
        }
        let open = self.state.is_open(self.rules.schema());
        self.knowledge.open_at = open.then_some(now);
        open
    }

    /// The state that scripts may read at present.
    pub fn shown(&self) -> &State {
        self.knowledge.glimpse.as_deref().unwrap_or(&self.state)
    }

    /// The value of a field as a seat knows it; the default if the seat does not see the entity. `None` without a
    /// restriction to a seat.
    pub fn glimpsed(&self, entity: EntityId, field: FieldId) -> Option<&Value> {
        let known = self.knowledge.glimpse.as_ref()?.field(entity, field);
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
        let Some(masked) = &mut self.knowledge.masked else { return Vec::new() };
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
        let Some(looked_at) = self.knowledge.masked.as_ref().map(|masked| masked.looked_at.clone()) else {
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
        self.knowledge.masked.as_ref().is_some_and(|masked| masked.hides(entity, field))
    }
}
