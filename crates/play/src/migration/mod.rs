//! Migration: a running game changes to another ruleset. It can be previewed, takes effect at a boundary, and is undone
//! by one undo.

mod boundary;
mod carried;
mod comparison;
mod conversions;

pub use conversions::renames;

pub use carried::{Migration, MigrationError};
