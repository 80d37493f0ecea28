use std::fmt;

/// A checksum that finds damage: the 128-bit FNV-1a of the bytes.
///
/// It is fixed by the formats that contain it: the rows of a campaign file, and the end and the state of a saved game. It
/// is no proof against forgery, and identifies nothing; [`ContentHash`](super::ContentHash) does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(u128);

impl Checksum {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// The checksum of a sequence of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Checksum(Self::OFFSET).and_bytes(bytes)
    }

    /// The checksum of a sequence of parts. The result depends on the boundaries between them.
    pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        parts
            .into_iter()
            .fold(Checksum(Self::OFFSET), |sum, part| sum.and_bytes(&(part.len() as u64).to_le_bytes()).and_bytes(part))
    }

    /// The checksum folded to 64 bits, for files with many records.
    pub fn short(self) -> i64 {
        (self.0 ^ (self.0 >> 64)) as u64 as i64
    }

    fn and_bytes(self, bytes: &[u8]) -> Self {
        Checksum(bytes.iter().fold(self.0, |sum, &byte| (sum ^ u128::from(byte)).wrapping_mul(Self::PRIME)))
    }
}

/// Prints 32 hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_fnv_1a() {
        assert_eq!(Checksum::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(Checksum::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(Checksum::of(b"foobar").to_string(), "343e1662793c64bf6f0d3597ba446f18");
    }

    #[test]
    fn the_boundaries_of_parts_count() {
        assert_ne!(Checksum::of_parts([&b"ab"[..], b"c"]), Checksum::of_parts([&b"a"[..], b"bc"]));
    }
}
