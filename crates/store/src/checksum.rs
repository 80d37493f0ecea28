//! The checksum of a row, and the computed checksums of a campaign.

use riskbreaker_ruleset::Checksum;

/// Computes the checksum of a row, over its type, its number, the rows it builds on and its content.
pub fn sum(parts: &[&[u8]]) -> i64 {
    Checksum::of_parts(parts.iter().copied()).short()
}

pub fn word_sum(id: i64, text: &str) -> i64 {
    sum(&[b"word", &id.to_le_bytes(), text.as_bytes()])
}

/// The checksums of the rows of a campaign, by number, as far as computed; 0 for a lost row.
#[derive(Debug, Default)]
pub struct ContentSums {
    pub(super) pieces: Vec<i64>,
    pub(super) actions: Vec<i64>,
    pub(super) entries: Vec<i64>,
}
