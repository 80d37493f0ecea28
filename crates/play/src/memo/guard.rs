use super::numbering::is_number;
use riskbreaker_state::{EntityId, FieldId};

/// The guard at one node of a trace: a field, a roll, a comparison, a query, or the end. It has 32 bits, two of them
/// for the kind.
///
/// For a field of a fixed entity, or a query about fixed entities, it holds the slot in
/// [`super::field_cache::FieldCache`]; for a field of a numbered entity, the bit [`Guard::NUMBERED`], the number and
/// the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard(u32);

impl Guard {
    pub const FIELD: u32 = 0;
    pub const ROLL: u32 = 1;
    /// Compares the field of a fixed entity with a minimum.
    pub const COMPARISON: u32 = 2;
    /// The end of a trace. No comparison has this number.
    pub const END: Guard = Guard(u32::MAX >> 2 | Guard::COMPARISON << 30);
    pub const QUERY: u32 = 3;
    const NUMBERED: u32 = 1 << 29;
    const MOST_FIELDS: u16 = 1 << 10;

    /// The guard for a slot: a field of a fixed entity, or a query about fixed entities. `None` if the slot is too
    /// large.
    #[inline]
    pub fn fixed(slot: u32) -> Option<Guard> {
        (slot < Guard::NUMBERED).then_some(Guard(slot))
    }

    /// The guard for a field of a numbered entity. `None` if number or field is too large.
    pub fn numbered(entity: EntityId, field: FieldId) -> Option<Guard> {
        let fits = is_number(entity) && field.0 < Guard::MOST_FIELDS;
        fits.then_some(Guard(Guard::NUMBERED | (entity.0 & 0x7_FFFF) << 10 | u32::from(field.0)))
    }

    /// The guard for a roll, by its index in the table of rolls. `None` if the index is too large.
    pub fn roll(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::ROLL << 30 | number as u32))
    }

    /// The guard for a query, by its index in the table of queries. `None` if the index is too large.
    pub fn query(number: usize) -> Option<Guard> {
        (number < 1 << 30).then_some(Guard(Guard::QUERY << 30 | number as u32))
    }

    /// The guard for a comparison, by its index in the table of comparisons. `None` if the index is too large.
    pub fn comparison(number: usize) -> Option<Guard> {
        (number < (1 << 30) - 1).then_some(Guard(Guard::COMPARISON << 30 | number as u32))
    }

    /// The guard as 32 bits.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The guard with these bits. Leaves store other words in place of guards.
    #[inline]
    pub fn of_bits(bits: u32) -> Guard {
        Guard(bits)
    }

    #[inline]
    pub fn kind(self) -> u32 {
        self.0 >> 30
    }

    /// True if the guard has a slot, as those on fixed entities have.
    #[inline]
    pub fn is_fixed(self) -> bool {
        self.0 < Guard::NUMBERED
    }

    /// The slot, or a number beyond all slots if the guard has none.
    #[inline]
    pub fn slot(self) -> usize {
        self.0 as usize
    }

    /// The numbered entity, and the field, of a guard from [`Guard::numbered`].
    #[inline]
    pub fn parts(self) -> (EntityId, FieldId) {
        (EntityId(self.0 >> 10 & 0xF_FFFF), FieldId((self.0 & 0x3FF) as u16))
    }

    /// The index of a comparison. `None` for other guards.
    #[inline]
    pub fn comparison_number(self) -> Option<usize> {
        (self.kind() == Guard::COMPARISON).then(|| self.number())
    }

    /// The index of the roll, query or comparison.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 & 0x3FFF_FFFF) as usize
    }
}
