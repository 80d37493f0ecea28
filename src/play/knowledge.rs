//! The game as somebody knows it who does not see everything: what is hidden is not in there.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::{ActionContext, Game, Viewer};
use crate::dice::DiceRng;
use crate::state::{EntityId, FieldId, KindId, State};

/// What was left out of a state for a viewer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Masked {
    /// Fields of entities that are there; they hold their defaults.
    fields: BTreeSet<(EntityId, FieldId)>,
    /// Those of them that a script has looked at, here or in a copy of the game.
    looked_at: Arc<Mutex<BTreeSet<(KindId, FieldId)>>>,
}

impl Masked {
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.fields.contains(&(entity, field))
    }

    /// Notes that a script has read a field.
    pub fn note(&self, kind: KindId, entity: EntityId, field: FieldId) {
        if self.hides(entity, field)
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
    /// defaults. What is worked out from it depends on nothing that the viewer may not see. Answers and rolls of the open
    /// action that it may not know of are not on its tape, nor what came after the first of them.
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

    /// The game from which a viewer looks ahead: as [`Game::known_to`], before the open action, with other dice.
    pub fn ahead_for(&self, viewer: &Viewer) -> Option<Game> {
        if viewer.is_master() {
            return None;
        }
        let private = self.open.as_ref().map(|open| &open.private);
        let first = private.and_then(|private| private.iter().find(|(_, audience)| !viewer.sees(audience)));
        if !self.context.rules.schema().has_secrets() && first.is_none() {
            return None;
        }
        let (state, masked) = masked(&self.context, self.context.state.before_journal(), viewer);
        let mut game = self.fork_onto(state);
        if let (Some((place, _)), Some(open)) = (first, &mut game.open) {
            open.tape.slots.truncate(*place as usize);
        }
        game.context.masked = Some(Box::new(masked));
        game.context.chance = DiceRng::new(0);
        Some(game)
    }
}

impl Game {
    /// The kinds of entities that not everybody may see, by name.
    pub fn unseen_kinds(&self) -> Vec<String> {
        let kinds = self.context.rules.schema().kinds.iter();
        kinds.filter(|kind| kind.audience.is_some()).map(|kind| kind.name.to_string()).collect()
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
            if kind.field(field).audience.is_some() && !viewer.sees(&state.field_audience(schema, id, field)) {
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
    state.settle_unread();
    (state, masked)
}

impl ActionContext {
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

    /// Whether a field is hidden from whoever looks.
    pub fn hides(&self, entity: EntityId, field: FieldId) -> bool {
        self.masked.as_ref().is_some_and(|masked| masked.hides(entity, field))
    }
}
