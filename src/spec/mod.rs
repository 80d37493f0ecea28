//! Specs: rules as examples with dice. Finding them, playing them, and which rules they cover.

mod coverage;
mod runner;

pub(crate) use coverage::leading_ids;
pub use coverage::{Coverage, RuleLine, Standing};
pub use runner::{SpecFailure, SpecReport, SpecResult, SpecSource, run_specs};

pub(crate) use runner::Shelf;
