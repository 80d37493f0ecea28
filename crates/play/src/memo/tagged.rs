use indexmap::IndexSet;

use riskbreaker_state::{EntityId, Value};

/// A value in 32 bits: three for its type, the others for the value or for its index in the [`Interner`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedValue(u32);

/// Values that do not fit into 32 bits.
#[derive(Debug, Default)]
pub(crate) struct Interner(IndexSet<Value>);

/// The longest text that is recorded, in bytes.
const LONGEST_TEXT: usize = 200;
/// The most values in a list or map that is recorded.
const LARGEST_TABLE: usize = 100;

impl PackedValue {
    const INT: u32 = 0;
    const BOOL: u32 = 1;
    const ENTITY: u32 = 2;
    const NONE: u32 = 3;
    const INTERNED: u32 = 4;
    /// The bits of a non-negative whole number that fits.
    pub const BITS: u32 = 28;
    /// A marker: the value was not read yet.
    pub const UNKNOWN: PackedValue = PackedValue(5);
    /// A marker: the value has changed since it was read.
    pub const STALE: PackedValue = PackedValue(7);
    /// A marker: the value occurs in no trace, so no guard has it.
    pub const FOREIGN: PackedValue = PackedValue(6);
    /// A marker: the value refers to an entity made in play, which has another number in each trace.
    pub const NUMBERED: PackedValue = PackedValue(1 << 3 | 5);
    /// The empty reference.
    pub const NOTHING: PackedValue = PackedValue(PackedValue::NONE);

    #[inline]
    fn new(sort: u32, bits: u32) -> PackedValue {
        PackedValue(bits << 3 | sort)
    }

    /// True unless it is a marker.
    #[inline]
    pub fn is_value(self) -> bool {
        self.0 & 7 <= PackedValue::INTERNED
    }

    /// Packs an index into a table.
    pub fn place(at: u32) -> PackedValue {
        PackedValue(at)
    }

    /// The index packed by [`PackedValue::place`].
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }

    /// Returns the value, or its index in the [`Interner`] as an error.
    #[inline]
    fn read(self) -> Result<Value, usize> {
        let bits = self.0 >> 3;
        match self.0 & 7 {
            PackedValue::INT => Ok(Value::Int(i64::from(self.0 as i32 >> 3))),
            PackedValue::BOOL => Ok(Value::Bool(bits != 0)),
            PackedValue::ENTITY => Ok(Value::Entity(EntityId(bits))),
            PackedValue::INTERNED => Err(bits as usize),
            _ => Ok(Value::None),
        }
    }

    /// Sets or clears a bit of a whole number. `None` if the value is no whole number or the bit does not fit.
    #[inline]
    pub fn with_bit(self, bit: u32, on: bool) -> Option<PackedValue> {
        let mask = 1_u32.checked_shl(bit + 3).filter(|_| bit < PackedValue::BITS && self.0 & 7 == PackedValue::INT)?;
        Some(PackedValue(if on { self.0 | mask } else { self.0 & !mask }))
    }

    /// Compares a whole number with a minimum. `None` if it is no whole number that fits.
    #[inline]
    pub fn is_at_least(self, least: i64) -> Option<bool> {
        Some(self.int()? >= least)
    }

    /// The whole number. `None` if it is none that fits.
    #[inline]
    pub fn int(self) -> Option<i64> {
        (self.0 & 7 == PackedValue::INT).then_some(i64::from(self.0 as i32 >> 3))
    }

    /// The sum of two whole numbers. `None` if one of the three does not fit.
    #[inline]
    pub fn plus(self, other: PackedValue) -> Option<PackedValue> {
        PackedValue::plain(&Value::Int(self.int()? + other.int()?))
    }

    /// Packs a value. `None` if it does not fit.
    #[inline]
    pub fn plain(value: &Value) -> Option<PackedValue> {
        match value {
            Value::Int(n) if (-(1 << 28)..1 << 28).contains(n) => Some(PackedValue::new(PackedValue::INT, *n as u32)),
            Value::Bool(yes) => Some(PackedValue::from(*yes)),
            Value::Entity(id) if id.0 < 1 << 29 => Some(PackedValue::new(PackedValue::ENTITY, id.0)),
            Value::None => Some(PackedValue::NOTHING),
            _ => None,
        }
    }
}

impl From<bool> for PackedValue {
    #[inline]
    fn from(yes: bool) -> PackedValue {
        PackedValue::new(PackedValue::BOOL, u32::from(yes))
    }
}

impl Interner {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Packs a value and interns it if necessary. `None` if it is too large.
    pub fn tag(&mut self, value: &Value) -> Option<PackedValue> {
        PackedValue::plain(value).or_else(|| {
            let at = is_small(value).then(|| self.0.insert_full(value.clone()).0)?;
            Some(PackedValue::new(PackedValue::INTERNED, at as u32))
        })
    }

    /// The value of a packed value.
    pub fn value(&self, tag: PackedValue) -> Value {
        tag.read().unwrap_or_else(|at| self.0[at].clone())
    }

    /// Packs a value that fits or is interned already. `None` otherwise.
    #[inline]
    pub fn known(&self, value: &Value) -> Option<PackedValue> {
        PackedValue::plain(value)
            .or_else(|| self.0.get_index_of(value).map(|at| PackedValue::new(PackedValue::INTERNED, at as u32)))
    }
}

/// One thread's own copies of interned values: shared reference counts would make threads wait for each other.
#[derive(Debug, Default)]
pub(crate) struct OwnValues(Vec<Value>);

impl OwnValues {
    /// The value of a packed value.
    #[inline]
    pub fn value(&mut self, tag: PackedValue, interner: &Interner) -> Value {
        tag.read().unwrap_or_else(|at| self.interned(at, interner))
    }

    /// The value at this index of the [`Interner`].
    fn interned(&mut self, at: usize, interner: &Interner) -> Value {
        if at >= self.0.len() {
            self.0.extend(interner.0.iter().skip(self.0.len()).map(Value::apart));
        }
        self.0[at].clone()
    }
}

/// True if a value is small enough to be recorded.
pub(crate) fn is_small(value: &Value) -> bool {
    fn size(value: &Value) -> usize {
        match value {
            Value::Text(text) if text.len() > LONGEST_TEXT => LARGEST_TABLE,
            Value::List(items) => items.iter().map(size).sum::<usize>() + 1,
            Value::Map(items) => items.values().map(size).sum::<usize>() + 1,
            _ => 1,
        }
    }
    size(value) < LARGEST_TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tags_mean_equal_values() {
        let mut interner = Interner::default();
        let values = [
            Value::None,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(0),
            Value::Int(1),
            Value::Int(-1),
            Value::Int((1 << 28) - 1),
            Value::Int(-(1 << 28)),
            Value::Int(1 << 28),
            Value::Int(1 << 53),
            Value::Entity(EntityId(0)),
            Value::Entity(EntityId(1)),
            Value::Ratio(1, 2),
            Value::text(""),
            Value::text("one"),
            Value::list([Value::Int(1)]),
        ];
        for value in &values {
            let tagged = interner.tag(value).unwrap();
            assert_eq!(interner.known(value), Some(tagged));
            assert_eq!(interner.value(tagged), *value);
            assert_eq!(OwnValues::default().value(tagged, &interner), *value);
            for other in &values {
                assert_eq!(interner.tag(other) == Some(tagged), other == value, "{value:?} {other:?}");
            }
            assert!(
                ![PackedValue::UNKNOWN, PackedValue::STALE, PackedValue::FOREIGN, PackedValue::NUMBERED]
                    .contains(&tagged)
            );
        }
        assert_eq!(interner.tag(&Value::text("x".repeat(LONGEST_TEXT + 1))), None);
        assert_eq!(interner.known(&Value::text("two")), None);
    }
}
