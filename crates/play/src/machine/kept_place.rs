//! Snapshots of running scripts.

use std::any::Any;

/// A snapshot of a running script, and its size in bytes.
pub type KeptPlace = (Box<dyn Any + Send + Sync>, usize);

/// Takes a snapshot of the script that has called the host. `None` if it could not continue from there.
pub type KeepPlace = fn() -> Option<KeptPlace>;
