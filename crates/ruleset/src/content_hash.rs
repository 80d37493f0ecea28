use std::fmt;

use serde::{Serialize, Serializer};

/// A hash that identifies content: equal on every machine and in every version of the host.
///
/// It is the 128-bit FNV-1a of the bytes. It distinguishes contents that differ by accident, even among thousands of
/// files. It is no signature: two contents with the same hash can be constructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(u128);

impl ContentHash {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// Hashes a sequence of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        ContentHash(Self::OFFSET).and_bytes(bytes)
    }

    /// Hashes a sequence of parts. The result depends on the boundaries between them.
    pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        parts.into_iter().fold(ContentHash(Self::OFFSET), |hash, part| {
            hash.and_bytes(&(part.len() as u64).to_le_bytes()).and_bytes(part)
        })
    }

    /// A 64-bit hash, for files with many records.
    pub fn short(self) -> i64 {
        (self.0 ^ (self.0 >> 64)) as u64 as i64
    }

    fn and_bytes(self, bytes: &[u8]) -> Self {
        ContentHash(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(Self::PRIME)))
    }
}

/// Prints 32 hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_fnv_1a() {
        assert_eq!(ContentHash::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(ContentHash::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(ContentHash::of(b"foobar").to_string(), "343e1662793c64bf6f0d3597ba446f18");
    }

    #[test]
    fn where_a_part_ends_matters() {
        let one = ContentHash::of_parts([&b"ab"[..], b"c"]);
        let other = ContentHash::of_parts([&b"a"[..], b"bc"]);
        assert_ne!(one, other);
    }
}
