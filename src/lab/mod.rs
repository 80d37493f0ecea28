//! What the rules do: exact odds, simulation, comparison and advice, all from the scripts themselves.

mod moment;
mod odds;
mod outcome;

pub use moment::{Moment, Place};
pub use odds::{FieldOdds, Limits, Odds, OddsQuery};
pub use outcome::{Effect, Outcome};

pub(crate) use odds::explore;
