use super::numbering::is_number;
use crate::state::{EntityId, FieldId};

/// The guard at one node of a trace: a field, a roll, a query, or nothing more. 32 bits: two for the kind.
///
/// A field of a fixed entity is its place in [`super::numbering::Numbering`]; one of an entity that goes by its number has the
/// bit [`Guard::NUMBERED`], the number and the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Guard(u32);

impl Guard {
    pub const FIELD: u32 = 0;
    pub const ROLL: u32 = 1;
    /// The trace ends here.
    pub const END: Guard = Guard(2 << 30);
    pub const QUERY: u32 = 3;
    const NUMBERED: u32 = 1 << 29;
    const MOST_FIELDS: u16 = 1 << 10;

    /// The field of a fixed entity that has this place among all of them.
    #[inline]
    pub fn fixed(place: u32) -> Option<Guard> {
        (place < Guard::NUMBERED).then_some(Guard(place))
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

    #[inline]
    pub fn kind(self) -> u32 {
        self.0 >> 30
    }

    /// Whether it is a field of a fixed entity.
    #[inline]
    pub fn is_fixed_field(self) -> bool {
        self.0 < Guard::NUMBERED
    }

    /// The place of the field of a fixed entity; of anything else a number beyond all places.
    #[inline]
    pub fn place(self) -> usize {
        self.0 as usize
    }

    /// The entity by its number, and the field, of a guard from [`Guard::numbered`].
    #[inline]
    pub fn parts(self) -> (EntityId, FieldId) {
        (EntityId(self.0 >> 10 & 0xF_FFFF), FieldId((self.0 & 0x3FF) as u16))
    }

    /// The number of the roll or of the query.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 & 0x3FFF_FFFF) as usize
    }
}
