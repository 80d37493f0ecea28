//! Recording: encodes each finished operation, or ends the recording.

use std::sync::Arc;

use super::guard::Guard;
use super::numbering::is_numbered;
use super::query::Query;
use super::recording::{Dependency, RecordedEffect, Recording, RollKey};
use super::tagged::{PackedValue, is_small};
use super::{Memo, TOO_MANY, UNMET};
use crate::Op;
use crate::context::Observer;
use riskbreaker_state::{
    Attachment, Due, Entity, EntityId, Entry, FieldId, LARGEST_NUMBER, RelativeKey, State, Type, Value,
};

/// Longest recording that is kept, in recorded items.
const LONGEST: usize = 4_000;
/// The most entities of a game whose state is copied to answer a query as of the start of the action.
const MOST_COPIED: u32 = 2_000;

impl Observer for Memo {
    /// Encodes a finished operation, or aborts the recording.
    fn observe(&mut self, op: &Op) {
        match op {
            Op::Read { entity, field, value, state } => self.read(*entity, *field, value, state),
            Op::ReadPopulation { query, state } => self.asked(*query, state),
            Op::ReadAtLeast { entity, field, least, value, state } => {
                self.compared((*entity, *field), *least, value, state)
            }
            Op::ReadId { entity, .. } if self.numbering.is_fixed(*entity) => {}
            Op::ReadId { entity, state } => self.asked(Query::Id(*entity), state),
            // The existence of the entity was recorded when it was met.
            Op::ReadExists { entity } => {
                self.number(*entity);
            }
            // The root of each trace contains the attachments.
            Op::ReadAttachments => {}
            Op::ReadAgenda => self.abort("it reads the agenda"),
            Op::ReadKey => self.abort("it looks at its own key"),
            Op::ReadEntryNumber => self.abort("it looks at the number of an agenda entry"),
            Op::Roll { dice, sight, seen } => self.rolled(|| RollKey::Dice((*dice).clone(), (*sight).clone()), seen),
            Op::Look { total } => self.rolled(|| RollKey::Look, &Value::Int(*total)),
            Op::ReturnToRoll => self.abort("it looks at an earlier roll"),
            Op::Deal { dice, drawn } => self.rolled(|| RollKey::Deal((*dice).clone()), &Value::Int(i64::from(*drawn))),
            Op::Pick { n, picked } => self.rolled(|| RollKey::Pick(*n), &Value::Int(i64::from(*picked))),
            // The answer follows from what the policy has read, or from the default.
            Op::Answer { .. } => {}
            Op::Refuse => self.abort("an answer was refused"),
            Op::Write { entity, field, value } => self.wrote(*entity, *field, value),
            Op::Add { entity, field, by, sum, ty } => self.added((*entity, *field), *by, sum, ty),
            Op::Spawn { id, entity } => self.spawned(*id, entity),
            Op::Remove { id, touched } => {
                self.touched(touched);
                if let Some(id) = self.number(*id) {
                    self.effect(|| RecordedEffect::Remove(id));
                }
            }
            Op::Attach { made } if is_small(&made.data) => {
                if let (Some(owner), Some(data)) = (self.number(made.owner), self.numbers(&made.data)) {
                    self.effect(|| {
                        RecordedEffect::Attach(Attachment { hook: made.hook.clone(), owner, data, numbered: None })
                    });
                }
            }
            Op::SetData { id, data } if is_small(data) => {
                if let Some(data) = self.numbers(data) {
                    self.effect(|| RecordedEffect::SetData(*id, data));
                }
            }
            Op::Attach { .. } | Op::SetData { .. } => self.abort("the data of an attachment is too large"),
            Op::Detach { id } => self.effect(|| RecordedEffect::Detach(*id)),
            Op::Schedule { entry, key } => self.scheduled(entry, *key),
            Op::Cancel => self.abort("it cancels an agenda entry"),
            Op::Rekey => self.abort("it gives an agenda entry another key"),
            // A recorded game has no readers of its lines.
            Op::Say => {}
            Op::Finish { outcome, plain: true } => self.effect(|| RecordedEffect::Finish((*outcome).into())),
            Op::Finish { plain: false, .. } => self.abort("the outcome names an entity"),
            Op::Cut => self.abort("it cuts the action short"),
            Op::Glimpse => self.abort("a seat is shown what it knows"),
            Op::MayHide => self.abort("not everybody may see its result"),
            Op::Note => self.abort("it converts a game"),
        }
    }
}

impl Memo {
    /// The number of an entity. Aborts the recording if it has not met the entity, since a replay could not find it.
    fn number(&mut self, id: EntityId) -> Option<EntityId> {
        self.recording.as_ref()?;
        self.or_abort(self.numbering.known(id), UNMET)
    }

    fn or_abort<T>(&mut self, found: Option<T>, reason: &'static str) -> Option<T> {
        if found.is_none() {
            self.abort(reason);
        }
        found
    }

    /// The guard on a field of an entity. Aborts like `number`.
    fn key(&mut self, entity: EntityId, field: FieldId) -> Option<Guard> {
        let number = self.number(entity)?;
        self.or_abort(self.numbering.guard(number, field), TOO_MANY)
    }

    /// Replaces the entities in a value by numbers. Aborts like `number`.
    fn numbers(&mut self, value: &Value) -> Option<Value> {
        self.recording.as_ref()?;
        self.or_abort(self.numbering.known_all(value), UNMET)
    }

    fn read(&mut self, entity: EntityId, field: FieldId, value: &Value, state: &State) {
        let Some(key) = self.key(entity, field) else { return };
        if !self.known.insert(key) {
            return;
        }
        let assumed = self.begins_alike && key.is_fixed() && !self.invalidated.contains(&key);
        let Some(recording) = &mut self.recording else { return };
        if assumed {
            recording.assumptions.push(key);
        } else {
            let before = match value {
                Value::Int(n) => Value::Int(n - recording.added(key)),
                value => value.clone(),
            };
            let Some(before) = self.numbering.meet_all(&before, state) else { return self.abort(TOO_MANY) };
            recording.dependencies.push((Dependency::Field(key), before));
        }
        self.abort_if_long();
    }

    /// Records the result of a query in the state before the recording. The changes of the recording itself follow from
    /// it.
    pub(crate) fn asked(&mut self, query: Query, state: &State) {
        if let Query::Holding(_, field, _) = query {
            self.read_added(field, state);
        }
        let Some(recording) = &mut self.recording else { return };
        let numbered = match query.entity() {
            // Nothing referred to this entity when the recording began.
            Some(id) if self.numbering.has_made(id) => match query {
                Query::Id(_) => return self.abort("it looks at the number of an entity that it has made"),
                _ => return,
            },
            Some(id) => match self.numbering.known(id) {
                Some(number) => query.about(number),
                None => return self.abort(UNMET),
            },
            None => query,
        };
        // The root says that no other entities existed when the recording began.
        let follows = recording.cast && matches!(query, Query::Kind(_) | Query::Referring(..));
        if follows || recording.asked.contains(&numbered) {
            return;
        }
        recording.asked.push(numbered);
        if query == Query::Open && recording.cast && self.begins_alike {
            // If no field has changed on which audiences depend, their values are assumed.
            let all = self.rules.audience_guards();
            if all.iter().all(|key| !self.invalidated.contains(key)) {
                recording.assumptions.extend(all);
                return self.abort_if_long();
            }
        }
        if let Query::Holding(kind, field, _) = query
            && self.begins_alike
        {
            // If the field has not changed in any game, its values are assumed.
            let fixed = self.numbering.fixed();
            let all = state.entities_up_to(fixed).filter(|(_, entity)| entity.kind == kind);
            let all: Option<Vec<Guard>> = all.map(|(id, _)| self.numbering.guard(id, field)).collect();
            if let Some(all) = all.filter(|all| all.iter().all(|key| !self.invalidated.contains(key))) {
                recording.assumptions.extend(all);
                return self.abort_if_long();
            }
        }
        let found = if !recording.may_have_changed(query, &self.numbering, &self.rules) {
            query.found(state, &self.rules, &mut self.numbering)
        } else if recording.mark == 0 && state.ids() <= MOST_COPIED {
            let before = recording.before.get_or_insert_with(|| Box::new(state.before_journal()));
            query.found(before, &self.rules, &mut self.numbering)
        } else {
            return self.abort("it queries entities after it has changed which ones match");
        };
        let Some(found) = found.filter(is_small) else { return self.abort(TOO_MANY) };
        if let Some(recording) = &mut self.recording {
            recording.dependencies.push((Dependency::Query(numbered), found));
        }
        self.abort_if_long();
    }

    /// Reads this field of all entities to which the recording has added without reading it: the result of a query
    /// depends on the value before.
    fn read_added(&mut self, field: FieldId, state: &State) {
        let Some(recording) = &self.recording else { return };
        let added = recording.effects.iter().filter_map(|effect| match effect {
            RecordedEffect::Add(to, _) if to.is_fixed() => Some(self.numbering.field(*to)),
            _ => None,
        });
        let entities: Vec<EntityId> = added.filter(|(_, which)| *which == field).map(|(entity, _)| entity).collect();
        for entity in entities {
            if let Some(value) = state.field(entity, field) {
                self.read(entity, field, value, state);
            }
        }
    }

    /// Records whether a number is at least `least`, unless its exact value is known.
    fn compared(&mut self, (entity, field): (EntityId, FieldId), least: i64, value: &Value, state: &State) {
        let Some(key) = self.key(entity, field) else { return };
        if self.known.contains(&key) {
            return;
        }
        if self.begins_alike && key.is_fixed() && !self.invalidated.contains(&key) {
            return self.read(entity, field, value, state);
        }
        self.guard_least(key, least, value.as_int().is_some_and(|n| n >= least));
    }

    /// Adds a guard on whether a number is at least `least`. Subtracts what the recording itself has added to it.
    fn guard_least(&mut self, key: Guard, least: i64, met: bool) {
        let Some(recording) = &mut self.recording else { return };
        let query = Query::AtLeast(key, least.saturating_sub(recording.added(key)));
        if !recording.asked.contains(&query) {
            recording.asked.push(query);
            recording.dependencies.push((Dependency::Query(query), Value::Bool(met)));
            self.abort_if_long();
        }
    }

    /// Records the addition of a number to a field. If the field's value is not known otherwise, a replay adds to any
    /// value, as long as the field accepts the sum.
    fn added(&mut self, (entity, field): (EntityId, FieldId), by: i64, sum: &Value, ty: &Type) {
        let Type::Int { min, max } = ty else { return self.wrote(entity, field, sum) };
        let key = self.recording.as_ref().and_then(|_| self.numbering.guard(self.numbering.known(entity)?, field));
        let Some(key) = key.filter(|key| !self.known.contains(key)) else { return self.wrote(entity, field, sum) };
        self.holds_now(entity, field, sum);
        // The guard is on the sum, and is recorded before the number is added.
        match by {
            0 => return,
            1.. => {
                let most = max.map_or(LARGEST_NUMBER + 1, |max| max.saturating_add(1));
                self.guard_least(key, most.saturating_sub(by), false);
            }
            _ => self.guard_least(key, min.unwrap_or(-LARGEST_NUMBER).saturating_sub(by), true),
        }
        self.effect(|| RecordedEffect::Add(key, by));
    }

    fn rolled(&mut self, key: impl FnOnce() -> RollKey, seen: &Value) {
        if let Some(recording) = &mut self.recording {
            recording.dependencies.push((Dependency::Roll(key()), seen.clone()));
            self.abort_if_long();
        }
    }

    fn effect(&mut self, effect: impl FnOnce() -> RecordedEffect) {
        if let Some(recording) = &mut self.recording {
            recording.effects.push(effect());
            self.abort_if_long();
        }
    }

    fn abort_if_long(&mut self) {
        let long = |recording: &Recording| {
            recording.dependencies.len() + recording.effects.len() + recording.assumptions.len() > LONGEST
        };
        if self.recording.as_ref().is_some_and(long) {
            self.abort("it does too much");
        }
    }

    /// Marks a field as changed since the beginning of its game. Traces that assume it unchanged are dropped.
    pub(crate) fn changed(&mut self, key: Guard) {
        if !self.begins_alike || !self.invalidated.insert(key) {
            return;
        }
        self.traces.write().invalidate(key);
        if self.recording.as_ref().is_some_and(|recording| recording.assumptions.contains(&key)) {
            self.abort("it is the first to change a field that it has read");
        }
    }

    /// Marks the fields that a removal has emptied because they referred to the entity.
    fn touched(&mut self, fields: &[(EntityId, FieldId)]) {
        let fixed = self.numbering.fixed();
        for (entity, field) in fields.iter().filter(|(entity, _)| entity.0 <= fixed) {
            if let Some(key) = self.numbering.guard(*entity, *field) {
                self.changed(key);
                self.cache.set(key, PackedValue::STALE);
            }
        }
    }

    /// Stores the current value of a field of a fixed entity in the cache.
    fn holds_now(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        if self.numbering.is_fixed(entity)
            && let Some(key) = self.numbering.guard(entity, field)
        {
            self.changed(key);
            let tag = PackedValue::plain(value).filter(|_| !self.numbering.concerns(value));
            self.cache.set(key, tag.unwrap_or(PackedValue::STALE));
        }
    }

    fn wrote(&mut self, entity: EntityId, field: FieldId, value: &Value) {
        self.holds_now(entity, field, value);
        let Some(key) = self.key(entity, field) else { return };
        if !is_small(value) {
            return self.abort("it writes a value that is too large");
        }
        let Some(value) = self.numbers(value) else { return };
        self.known.insert(key);
        self.effect(|| RecordedEffect::Set(key, value));
    }

    fn spawned(&mut self, id: EntityId, entity: &Entity) {
        if self.recording.is_none() {
            return;
        }
        if !entity.fields.iter().all(is_small) {
            return self.abort("it makes an entity with a value that is too large");
        }
        let fields: Option<Vec<Value>> = entity.fields.iter().map(|value| self.numbering.known_all(value)).collect();
        let Some(fields) = fields else { return self.abort(UNMET) };
        let Some(number) = self.numbering.make(id) else { return self.abort(TOO_MANY) };
        for at in 0..fields.len() {
            let Some(key) = self.numbering.guard(number, FieldId(at as u16)) else { return self.abort(TOO_MANY) };
            self.known.insert(key);
        }
        self.effect(|| RecordedEffect::Spawn(Entity { kind: entity.kind, fields }));
    }

    fn scheduled(&mut self, entry: &Entry, key: RelativeKey) {
        if self.recording.is_none() {
            return;
        }
        if !is_small(&entry.args) {
            return self.abort("the arguments of an entry are too large");
        }
        let owner = match entry.owner.map(|owner| self.number(owner)) {
            Some(None) => return,
            owner => owner.flatten(),
        };
        let Some(args) = self.numbers(&entry.args) else { return };
        let is_same = owner == entry.owner && !is_numbered(&args);
        self.effect(|| {
            let due = entry.due.clone();
            RecordedEffect::Schedule(key, if is_same { due } else { Arc::new(Due { owner, args, ..Due::clone(&due) }) })
        });
    }
}
