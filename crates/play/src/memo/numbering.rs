use super::guard::Guard;
use riskbreaker_state::{EntityId, FieldId, KindId, State, Value};

/// Canonical numbers for entities made in play: the order in which a trace meets them.
///
/// Two games in equal states may have made their entities with different ids. What a script does with an entity does
/// not depend on the id; so a trace says "the first entity met", not "entity 17". Fixed entities, which all games begin
/// with, keep their ids.
#[derive(Debug, Default)]
pub(crate) struct EntityNumbering {
    /// The largest id of the fixed entities.
    fixed: u32,
    /// The fields of the fixed entities in sequence; `begins` holds, by id, the index of an entity's first field. Equal
    /// in all games that begin alike.
    fields: Vec<(EntityId, FieldId)>,
    begins: Vec<u32>,
    /// The kinds of the fixed entities, by id.
    kinds: Vec<Option<KindId>>,
    met: Vec<EntityId>,
    /// Entities that the trace itself has made.
    made: Vec<EntityId>,
}

/// An id with this bit is a number; no fixed id is that large.
const NUMBER: u32 = 1 << 19;
/// A number with this bit is of an entity that the trace itself has made.
const MADE: u32 = 1 << 9;
/// The number of an entity met for the first time holds its kind above this bit, or `GONE` if it does not exist.
const KIND: u32 = 20;
const GONE: u32 = (1 << 9) - 1;
/// The largest id that can be fixed.
const MOST_FIXED: u32 = 1 << 14;

impl EntityNumbering {
    pub fn new(opening: Option<&State>) -> EntityNumbering {
        let fixed = opening.map_or(0, State::public_ids).min(MOST_FIXED - 1);
        let mut numbering = EntityNumbering { fixed, ..EntityNumbering::default() };
        for id in (0..=fixed).map(EntityId) {
            numbering.begins.push(numbering.fields.len() as u32);
            let entity = opening.and_then(|state| state.entity(id));
            let count = entity.map_or(0, |entity| entity.fields.len());
            numbering.fields.extend((0..count).map(|at| (id, FieldId(at as u16))));
            numbering.kinds.push(entity.map(|entity| entity.kind));
        }
        numbering.begins.push(numbering.fields.len() as u32);
        numbering
    }

    /// The number of fields of all fixed entities.
    pub fn fixed_fields(&self) -> usize {
        self.fields.len()
    }

    /// The guard on a field of a fixed or numbered entity. `None` if there are too many.
    #[inline]
    pub fn guard(&self, entity: EntityId, field: FieldId) -> Option<Guard> {
        if is_number(entity) {
            return Guard::numbered(entity, field);
        }
        let place = self.begins.get(entity.0 as usize)? + u32::from(field.0);
        (place < *self.begins.get(entity.0 as usize + 1)?).then(|| Guard::fixed(place)).flatten()
    }

    /// The entity (fixed or numbered) and the field of a guard on a field.
    #[inline]
    pub fn field(&self, guard: Guard) -> (EntityId, FieldId) {
        match self.fields.get(guard.slot()) {
            Some(field) => *field,
            None => guard.parts(),
        }
    }

    /// The fixed entities of a kind, whether they still exist or not.
    pub fn fixed_of(&self, kind: KindId) -> impl Iterator<Item = EntityId> {
        let all = (0..).map(EntityId).zip(&self.kinds);
        all.filter(move |(_, of)| **of == Some(kind)).map(|(id, _)| id)
    }

    /// The largest id of the fixed entities.
    pub fn fixed(&self) -> u32 {
        self.fixed
    }

    /// True if no other entities than the fixed ones were ever made.
    #[inline]
    pub fn is_all(&self, state: &State) -> bool {
        state.ids() <= self.fixed
    }

    #[inline]
    pub fn is_fixed(&self, id: EntityId) -> bool {
        id.0 <= self.fixed
    }

    #[inline]
    pub fn clear(&mut self) {
        self.met.clear();
        self.made.clear();
    }

    /// The number of an entity that was met or made. Fixed entities keep their id. `None` if the trace has not met it.
    pub fn known(&self, id: EntityId) -> Option<EntityId> {
        if self.is_fixed(id) {
            return Some(id);
        }
        let place = |list: &[EntityId]| list.iter().rposition(|known| *known == id).map(|at| at as u32);
        let number = place(&self.met).or_else(|| place(&self.made).map(|at| MADE | at));
        number.map(|number| EntityId(NUMBER | number))
    }

    /// True if the trace has met numbered entities.
    pub fn has_met(&self) -> bool {
        !self.met.is_empty()
    }

    pub fn has_made(&self, id: EntityId) -> bool {
        self.made.contains(&id)
    }

    /// The number of an entity. One met for the first time gets the next number, with its kind. `None` if there are too
    /// many.
    pub fn meet(&mut self, id: EntityId, state: &State) -> Option<EntityId> {
        if let Some(known) = self.known(id) {
            return Some(known);
        }
        let kind = state
            .entity(id)
            .map_or(Some(GONE), |entity| Some(u32::from(entity.kind.0) + 1).filter(|kind| *kind < GONE))?;
        let number = u32::try_from(self.met.len()).ok().filter(|number| *number < MADE)?;
        self.met.push(id);
        Some(EntityId(kind << KIND | NUMBER | number))
    }

    /// Numbers an entity that the trace makes. `None` if there are too many.
    pub fn make(&mut self, id: EntityId) -> Option<EntityId> {
        let number = u32::try_from(self.made.len()).ok().filter(|number| *number < MADE)?;
        self.made.push(id);
        Some(EntityId(NUMBER | MADE | number))
    }

    /// The entity of a number, or of a fixed id.
    #[inline]
    pub fn entity(&self, number: EntityId) -> Option<EntityId> {
        if !is_number(number) {
            return Some(number);
        }
        let at = (number.0 & (MADE - 1)) as usize;
        if number.0 & MADE == 0 { self.met.get(at) } else { self.made.get(at) }.copied()
    }

    /// True if a value contains an entity that is not fixed.
    pub fn concerns(&self, value: &Value) -> bool {
        value.any_entity(&|id| !self.is_fixed(id))
    }

    /// Replaces the entities in a value by numbers, in the order of their occurrence.
    pub fn meet_all(&mut self, value: &Value, state: &State) -> Option<Value> {
        match self.concerns(value) {
            true => value.with_entities(&mut |id| self.meet(id, state)),
            false => Some(value.clone()),
        }
    }

    /// Like [`EntityNumbering::meet_all`], for a value whose entities are all numbered already.
    pub fn known_all(&self, value: &Value) -> Option<Value> {
        match self.concerns(value) {
            true => value.with_entities(&mut |id| self.known(id)),
            false => Some(value.clone()),
        }
    }

    /// Replaces the numbers in a value by entities.
    pub fn entities(&self, value: &Value) -> Option<Value> {
        value.with_entities(&mut |number| self.entity(number))
    }
}

/// True if this is a number and not a fixed id.
#[inline]
pub(crate) fn is_number(id: EntityId) -> bool {
    id.0 & NUMBER != 0
}

/// True if a value contains a number.
#[inline]
pub(crate) fn is_numbered(value: &Value) -> bool {
    value.any_entity(&is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_state::Entity;

    #[test]
    fn numbers_follow_the_order_of_meeting_and_lead_back_to_their_entities() {
        let mut state = State::new();
        let ids: Vec<EntityId> =
            (0..6).map(|at| state.spawn(Entity { kind: KindId(at % 2), fields: Vec::new() })).collect();
        state.remove(ids[4]);
        let mut numbering = EntityNumbering { fixed: 2, ..EntityNumbering::default() };
        let value =
            Value::list([Value::Entity(ids[3]), Value::Entity(ids[0]), Value::Entity(ids[4]), Value::Entity(ids[3])]);
        let first = numbering.meet_all(&value, &state).unwrap();
        let made = numbering.make(ids[5]).unwrap();
        assert_eq!(numbering.known_all(&value).and_then(|known| numbering.entities(&known)), Some(value.clone()));
        assert_eq!(numbering.entity(made), Some(ids[5]));
        assert_eq!(numbering.known(ids[2]), None);
        // Another entity of the same kind gets the same number; one of another kind, or a removed one, does not.
        numbering.clear();
        let others = |third: EntityId, gone: EntityId| {
            Value::list([Value::Entity(third), Value::Entity(ids[0]), Value::Entity(gone), Value::Entity(third)])
        };
        assert_eq!(numbering.meet_all(&others(ids[5], ids[4]), &state).as_ref(), Some(&first));
        for other in [others(ids[2], ids[4]), others(ids[3], ids[5])] {
            numbering.clear();
            assert_ne!(numbering.meet_all(&other, &state).as_ref(), Some(&first));
        }
    }
}
