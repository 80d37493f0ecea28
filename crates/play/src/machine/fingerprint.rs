//! Fingerprints of running scripts.

/// Appends bytes that are equal only if the running script will continue in the same way. Otherwise returns the reason
/// why that cannot be proven.
pub type Fingerprint = fn(&mut Vec<u8>) -> Result<(), &'static str>;
