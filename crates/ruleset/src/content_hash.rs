use std::fmt;

use super::checksum::Checksum;

/// A hash that identifies content: the 256-bit BLAKE3 hash of the bytes, equal on every machine.
///
/// Its written form names the algorithm: `blake3:` and 64 hexadecimal digits. Programs up to 0.1.0 wrote the FNV-1a hash
/// without a name; [`ContentHash::fits`] still verifies those.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes a sequence of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        ContentHash(blake3::hash(bytes).into())
    }

    /// Hashes a sequence of parts. The result depends on the boundaries between them.
    pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        ContentHash(hasher.finalize().into())
    }

    /// True if a written hash, of today's form or of the form up to 0.1.0, is that of these bytes.
    pub fn fits(written: &str, bytes: &[u8]) -> bool {
        match Self::is_checksum(written) {
            true => Checksum::of(bytes).to_string() == written,
            false => ContentHash::of(bytes).to_string() == written,
        }
    }

    /// True if a written hash has the form of programs up to 0.1.0: FNV-1a without a name.
    pub fn is_checksum(written: &str) -> bool {
        !written.contains(':')
    }
}

/// Prints `blake3:` and 64 hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("blake3:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_blake3_and_names_it() {
        let empty = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(ContentHash::of(b"").to_string(), empty);
        assert!(ContentHash::fits(empty, b"") && !ContentHash::fits(empty, b"a"));
    }

    #[test]
    fn a_hash_of_an_older_program_is_still_verified() {
        assert!(ContentHash::fits("d228cb696f1a8caf78912b704e4a8964", b"a"));
        assert!(!ContentHash::fits("d228cb696f1a8caf78912b704e4a8964", b"b"));
        // Another algorithm's name, and no hash at all.
        assert!(!ContentHash::fits("fnv1a:d228cb696f1a8caf78912b704e4a8964", b"a"));
        assert!(!ContentHash::fits("", b""));
    }

    #[test]
    fn the_boundaries_of_parts_count() {
        let one = ContentHash::of_parts([&b"ab"[..], b"c"]);
        let other = ContentHash::of_parts([&b"a"[..], b"bc"]);
        assert_ne!(one, other);
    }
}
