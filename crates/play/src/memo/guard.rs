use super::numbering::is_number;
use riskbreaker_state::{EntityId, FieldId};

/// The guard at one node of a trace: a field, a roll, a comparison, a query, or nothing more. 32 bits: two for the kind.
///
/// A field of a fixed entity, or a query about fixed entities, is its slot in [`super::field_cache::FieldCache`]; a field of an
/// entity that goes by its number has the bit [`Guard::NUMBERED`], the number and the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard(u32);

impl Guard {
    pub const FIELD: u32 = 0;
    pub const ROLL: u32 = 1;
    /// Whether the field of a fixed entity is at least so large.
    pub const COMPARISON: u32 = 2;
    /// The trace ends here. No comparison has so large a number.
    pub const END: Guard = Guard(u32::MAX >> 2 | Guard::COMPARISON << 30);
    pub const QUERY: u32 = 3;
    const NUMBERED: u32 = 1 << 29;
    const MOST_FIELDS: u16 = 1 << 10;

    /// What stands in this slot: the field of a fixed entity, or a query about some.
    #[inline]
    pub fn fixed(slot: u32) -> Option<Guard> {
        (slot < Guard::NUMBERED).then_some(Guard(slot))
    }

    /// A field of an entity that goes by its number.
    pub fn numbered(entity: EntityId, field: FieldId) -> Option<Guard> {
        let fits = is_number(entity) && field.0 < Guard::MOST_FIELDS;
        fits.then_some(Guard(Guard::NUMBERED | (entity.0 & 0x7_FFFF) << 10 | u32::from(field.0)))
    }

    /// The roll of this number in the table of rolls.
    pub fn roll(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::ROLL << 30 | number as u32))
    }

    /// The query of this number in the table of queries.
    pub fn query(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::QUERY << 30 | number as u32))
    }

    /// The same for a query that compares the field of a fixed entity.
    pub fn comparison(number: usize) -> Option<Guard> {
        (number < (1 << 30) - 1).then_some(Guard(Guard::COMPARISON << 30 | number as u32))
    }

    /// Its 32 bits.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// A guard of these bits. Leaves keep other words than guards in the same place.
    #[inline]
    pub fn of_bits(bits: u32) -> Guard {
        Guard(bits)
    }

    #[inline]
    pub fn kind(self) -> u32 {
        self.0 >> 30
    }

    /// Whether it has a slot. Of guards on fields, those of fixed entities have one.
    #[inline]
    pub fn is_fixed(self) -> bool {
        self.0 < Guard::NUMBERED
    }

    /// Its slot; of anything that has none a number beyond all slots.
    #[inline]
    pub fn slot(self) -> usize {
        self.0 as usize
    }

    /// The entity by its number, and the field, of a guard from [`Guard::numbered`].
    #[inline]
    pub fn parts(self) -> (EntityId, FieldId) {
        (EntityId(self.0 >> 10 & 0xF_FFFF), FieldId((self.0 & 0x3FF) as u16))
    }

    /// Its number, of a comparison.
    #[inline]
    pub fn comparison_number(self) -> Option<usize> {
        (self.kind() == Guard::COMPARISON).then(|| self.number())
    }

    /// The number of the roll, of the query or of the comparison.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 & 0x3FFF_FFFF) as usize
    }
}
