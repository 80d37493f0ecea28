use std::hash::Hasher;

/// A fast hasher of one number, for maps that compare their keys and are filled by the host alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHash(u64);

impl Hasher for NumberHash {
    #[inline]
    fn finish(&self) -> u64 {
        // The upper bits must depend on the whole number.
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    #[inline]
    fn write_usize(&mut self, address: usize) {
        self.write_u64(address as u64 >> 4);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
