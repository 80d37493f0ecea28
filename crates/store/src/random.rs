/// A random number from the system's seed of hash maps and the clock. It is almost certainly unique.
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
