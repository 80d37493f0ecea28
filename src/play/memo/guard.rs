use super::numbering::{MOST_FIXED, is_number, place};
use crate::state::{EntityId, FieldId};

/// The guard at one node of a trace: a field, a roll, the entities that exist, or nothing more. 32 bits: two for the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Guard(u32);

impl Guard {
    pub const FIELD: u32 = 0;
    pub const ROLL: u32 = 1;
    /// The trace ends here.
    pub const END: Guard = Guard(2 << 30);
    pub const QUERY: u32 = 3;
    const MOST_FIELDS: u16 = 1 << 10;

    /// A field of a fixed entity, or of one that goes by its number.
    #[inline]
    pub fn field(entity: EntityId, field: FieldId) -> Option<Guard> {
        let fits = (entity.0 < MOST_FIXED || is_number(entity)) && field.0 < Guard::MOST_FIELDS;
        fits.then_some(Guard((entity.0 & 0xF_FFFF) << 10 | u32::from(field.0)))
    }

    /// The roll of this number in the table of rolls.
    pub fn roll(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::ROLL << 30 | number as u32))
    }

    /// The query of this number in the table of queries.
    pub fn query(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::QUERY << 30 | number as u32))
    }

    #[inline]
    pub fn kind(self) -> u32 {
        self.0 >> 30
    }

    /// Whether it is a field of a fixed entity: neither kind nor number has a bit set.
    #[inline]
    pub fn is_fixed_field(self) -> bool {
        self.0 >> 29 == 0
    }

    #[inline]
    pub fn entity(self) -> EntityId {
        EntityId(self.0 >> 10 & 0xF_FFFF)
    }

    #[inline]
    pub fn field_id(self) -> FieldId {
        FieldId((self.0 & 0x3FF) as u16)
    }

    /// The place of a field in a table of so many fields for each entity; nothing for a field beyond them. `fields`: a power of
    /// 2.
    #[inline]
    pub fn place(self, fields: u32) -> Option<usize> {
        let field = self.0 & 0x3FF;
        (field & !(fields - 1) == 0).then_some((((self.0 >> 10 & 0xF_FFFF) * fields) | field) as usize)
    }

    /// The number of the roll or of the query.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 & 0x3FFF_FFFF) as usize
    }
}

/// A set of fields: for each entity, by id, a stamp for each field; a field is in the set if its stamp is the current one.
#[derive(Clone, Debug)]
pub(super) struct FieldSet {
    stamps: Vec<Vec<u32>>,
    now: u32,
}

impl Default for FieldSet {
    fn default() -> FieldSet {
        FieldSet { stamps: Vec::new(), now: 1 }
    }
}

impl FieldSet {
    #[inline]
    pub fn contains(&self, field: Guard) -> bool {
        let stamps = self.stamps.get(place(field.entity()));
        stamps.and_then(|stamps| stamps.get(field.field_id().0 as usize)) == Some(&self.now)
    }

    /// Adds a field; says whether it was not there before.
    #[inline]
    pub fn insert(&mut self, key: Guard) -> bool {
        let (entity, field) = (place(key.entity()), key.field_id().0 as usize);
        if self.stamps.len() <= entity {
            self.stamps.resize_with(entity + 1, Vec::new);
        }
        let stamps = &mut self.stamps[entity];
        if stamps.len() <= field {
            stamps.resize(field + 1, 0);
        }
        std::mem::replace(&mut stamps[field], self.now) != self.now
    }

    pub fn clear(&mut self) {
        match self.now.checked_add(1) {
            Some(now) => self.now = now,
            None => *self = FieldSet::default(),
        }
    }
}
