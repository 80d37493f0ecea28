//! The script side: the only part of the host that knows Luau.

pub(crate) mod api;
mod bind;
mod convert;
mod engine;
mod entry_numbers;
mod exchange;
mod fault;
mod game_handle;
mod load;
mod merge;
mod mirror;
mod raw;
mod sandbox;
mod span;
mod spec_events;
mod spec_handle;
mod spec_odds;
mod table;
mod types;
mod vm;

pub(crate) use convert::Former;
pub(crate) use engine::{Engine, STACK};
#[cfg(feature = "check")]
pub(crate) use fault::{cure_of_syntax, meant};
pub use load::FreeName;
pub(crate) use load::{Blueprint, Statistic};
pub(crate) use sandbox::{Code, give_back};
#[cfg(feature = "check")]
pub(crate) use spec_events::SORTS as EVENT_SORTS;
pub(crate) use spec_handle::SpecFile;
pub use table::{Evaluated, Table};
pub use types::{reference_page, type_module};
pub(crate) use vm::{Call, PolicyAct, Vm};
