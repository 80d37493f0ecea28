//! The clock of the system under the name of another crate, see `Cargo.toml`.

pub use std::time::Instant;
