use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use super::number_hash::NumberHash;
use super::{Entity, EntityId, FieldId, KindId, Value};

/// An index of a state: the entities of each kind, and the references to each entity by field.
///
/// It contains single references, not those in lists and maps. It is built on demand and updated from then on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    of_kind: BTreeMap<KindId, BTreeSet<EntityId>>,
    /// By [`place_of`] their references.
    to: HashMap<u64, BTreeSet<EntityId>, BuildHasherDefault<NumberHash>>,
}

/// The entity and the field of a reference, as one number.
fn place_of(to: EntityId, (kind, field): (KindId, FieldId)) -> u64 {
    u64::from(to.0) << 32 | u64::from(kind.0) << 16 | u64::from(field.0)
}

impl References {
    pub fn new<'a>(entities: impl Iterator<Item = (EntityId, &'a Entity)>) -> References {
        let mut references = References::default();
        entities.for_each(|(id, entity)| references.came(id, entity));
        references
    }

    /// The entities of a kind in the order of their ids.
    pub fn of_kind(&self, kind: KindId) -> impl Iterator<Item = EntityId> {
        self.of_kind.get(&kind).into_iter().flatten().copied()
    }

    /// The entities of a kind that refer to one through a field, in the order of their ids.
    pub fn to(&self, to: EntityId, kind: KindId, field: FieldId) -> impl Iterator<Item = EntityId> {
        self.to.get(&place_of(to, (kind, field))).into_iter().flatten().copied()
    }

    pub fn came(&mut self, id: EntityId, entity: &Entity) {
        self.of_kind.entry(entity.kind).or_default().insert(id);
        for (at, value) in entity.fields.iter().enumerate() {
            self.refers(id, (entity.kind, FieldId(at as u16)), value);
        }
    }

    pub fn went(&mut self, id: EntityId, entity: &Entity) {
        if let Some(all) = self.of_kind.get_mut(&entity.kind) {
            all.remove(&id);
        }
        for (at, value) in entity.fields.iter().enumerate() {
            self.refers_no_more(id, (entity.kind, FieldId(at as u16)), value);
        }
    }

    /// Updates the index after a field changed.
    pub fn changed(&mut self, id: EntityId, place: (KindId, FieldId), from: &Value, to: &Value) {
        self.refers_no_more(id, place, from);
        self.refers(id, place, to);
    }

    fn refers(&mut self, id: EntityId, place: (KindId, FieldId), value: &Value) {
        if let Value::Entity(to) = value {
            self.to.entry(place_of(*to, place)).or_default().insert(id);
        }
    }

    fn refers_no_more(&mut self, id: EntityId, place: (KindId, FieldId), value: &Value) {
        if let Value::Entity(to) = value
            && let Some(all) = self.to.get_mut(&place_of(*to, place))
        {
            all.remove(&id);
            if all.is_empty() {
                self.to.remove(&place_of(*to, place));
            }
        }
    }
}
