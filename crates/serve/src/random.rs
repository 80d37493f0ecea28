//! Random seeds and tokens.

use riskbreaker_state::LARGEST_NUMBER;

/// The largest seed, 2^53 - 1, which every client can read exactly.
pub(super) const LARGEST_SEED: u64 = LARGEST_NUMBER.unsigned_abs();

/// Returns a random seed, from 1 to [`LARGEST_SEED`]: too many to try them all.
pub(super) fn random_seed() -> u64 {
    random_word() % LARGEST_SEED + 1
}

fn random_word() -> u64 {
    u64::from_le_bytes(random())
}

/// The hash that identifies a token. Neither the memory nor the file contains the token itself.
pub(super) fn hash_of_token(token: &str) -> String {
    use sha2::Digest as _;
    let hash = sha2::Sha256::new().chain_update("riskbreaker token\0").chain_update(token).finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A random token: 128 bits from the system's random source.
pub(super) fn random_token() -> String {
    random_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn random_bytes() -> [u8; 16] {
    random()
}

/// Random bytes from the system's random source.
///
/// # Panics
///
/// If the system has none: a token that can be guessed must not be issued.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has no source of random bytes");
    bytes
}
