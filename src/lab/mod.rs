//! What the rules do: exact odds, simulation, comparison and advice, all from the scripts themselves.

mod advice;
mod alike;
mod comparison;
mod moment;
mod odds;
mod outcome;
mod simulation;
mod tally;
mod trial;

pub use advice::Advice;
pub use comparison::{CardOdds, compare_cards};
pub use moment::{Moment, Place};
pub use odds::{FieldOdds, Limits, Odds, OddsQuery};
pub use outcome::{Effect, Outcome};
pub use simulation::{Findings, MemoUse, Plan, PlannedVariant, Progress, Shard, Simulation, SimulationError, Variant};
pub use tally::{CardUse, LeftOut, Rate, Sum, Tally};

pub(crate) use odds::explore;
