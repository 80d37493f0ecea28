//! The limits of what a script gives to the host, and what it costs.

/// The most names in a message, and the most values for its placeholders.
pub(crate) const MOST_NAMED: usize = 100;

/// The bytes charged for data stored by the host: for a change, a log line, a term of an explanation, a question, an
/// option of it, and a rolled die.
pub(super) const CHANGE: usize = 240;
pub(crate) const TOLD: usize = 480;
pub(super) const TERM: usize = 240;
pub(super) const ASKED: usize = 512;
pub(super) const OPTION: usize = 128;
pub(super) const DIE: usize = 48;
