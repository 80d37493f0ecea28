use indexmap::IndexSet;

use crate::state::{EntityId, Value};

/// A value in 32 bits: three for its type, the others for what it is, or for where it lies in the [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Packed(u32);

/// Values that do not fit into 32 bits.
#[derive(Debug, Default)]
pub(super) struct Pool(IndexSet<Value>);

/// Larger values are not packed: bytes of a text, values in a list or map.
const LARGEST_TEXT: usize = 200;
const LARGEST_TABLE: usize = 100;

impl Packed {
    const INT: u32 = 0;
    const BOOL: u32 = 1;
    const ENTITY: u32 = 2;
    const NONE: u32 = 3;
    const POOLED: u32 = 4;
    /// No value: it is not known here.
    pub const UNKNOWN: Packed = Packed(5);
    /// No value: it is too large.
    pub const LARGE: Packed = Packed(6);
    /// The empty reference.
    pub const NOTHING: Packed = Packed(Packed::NONE);

    fn new(sort: u32, bits: u32) -> Packed {
        Packed(bits << 3 | sort)
    }

    /// Where something lies.
    pub fn place(at: u32) -> Packed {
        Packed(at)
    }

    /// What [`Packed::place`] was made of.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }

    /// A value that fits.
    #[inline]
    pub fn plain(value: &Value) -> Option<Packed> {
        match value {
            Value::Int(n) if (-(1 << 28)..1 << 28).contains(n) => Some(Packed::new(Packed::INT, *n as u32)),
            Value::Bool(yes) => Some(Packed::new(Packed::BOOL, u32::from(*yes))),
            Value::Entity(id) if id.0 < 1 << 29 => Some(Packed::new(Packed::ENTITY, id.0)),
            Value::None => Some(Packed::NOTHING),
            _ => None,
        }
    }

    #[inline]
    fn sort(self) -> u32 {
        self.0 & 7
    }

    #[inline]
    fn bits(self) -> u32 {
        self.0 >> 3
    }
}

impl Pool {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Packs a value unless it is too large.
    pub fn pack(&mut self, value: &Value) -> Option<Packed> {
        Packed::plain(value).or_else(|| {
            let at = is_small(value).then(|| self.0.insert_full(value.clone()).0)?;
            Some(Packed::new(Packed::POOLED, at as u32))
        })
    }

    /// Packs a value that was packed before, or fits.
    #[inline]
    pub fn known(&self, value: &Value) -> Option<Packed> {
        Packed::plain(value).or_else(|| self.0.get_index_of(value).map(|at| Packed::new(Packed::POOLED, at as u32)))
    }

    #[inline]
    pub fn unpack(&self, packed: Packed) -> Value {
        match packed.sort() {
            Packed::INT => Value::Int(i64::from(packed.0 as i32 >> 3)),
            Packed::BOOL => Value::Bool(packed.bits() == 1),
            Packed::ENTITY => Value::Entity(EntityId(packed.bits())),
            Packed::POOLED => self.0.get_index(packed.bits() as usize).cloned().unwrap_or_default(),
            _ => Value::None,
        }
    }

    /// The same value; a list or map that was known lies where that one does, so that they are quickly found to be the same.
    pub fn interned(&mut self, value: Value) -> Value {
        match value {
            Value::List(_) | Value::Map(_) => {
                let (at, _) = self.0.insert_full(value);
                self.0[at].clone()
            }
            value => value,
        }
    }
}

/// Whether a value is worth its place.
pub(super) fn is_small(value: &Value) -> bool {
    fn size(value: &Value) -> usize {
        match value {
            Value::Text(text) if text.len() > LARGEST_TEXT => LARGEST_TABLE,
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
    fn what_is_packed_is_unpacked_the_same_and_alike_only_if_it_is() {
        let mut pool = Pool::default();
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
            let packed = pool.pack(value).unwrap();
            assert_eq!(pool.unpack(packed), *value);
            assert_eq!(pool.known(value), Some(packed));
            for other in &values {
                assert_eq!(pool.pack(other) == Some(packed), other == value, "{value:?} {other:?}");
            }
            assert!(packed != Packed::UNKNOWN && packed != Packed::LARGE);
        }
        assert_eq!(pool.pack(&Value::text("x".repeat(LARGEST_TEXT + 1))), None);
        assert_eq!(pool.known(&Value::text("two")), None);
    }
}
