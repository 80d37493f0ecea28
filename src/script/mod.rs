//! The script side: the only part of the host that knows Luau.

pub(crate) mod api;
mod bind;
mod blueprint;
#[cfg(feature = "continuations")]
mod continuation;
mod convert;
mod declared_kinds;
mod declared_play;
mod engine;
mod entry_numbers;
mod exchange;
mod fault;
mod game_handle;
mod load;
mod merge;
mod mirror;
mod prelude;
mod raw;
mod sandbox;
mod span;
mod spec_case;
mod spec_events;
mod spec_file;
mod spec_handle;
mod spec_odds;
mod table;
mod types;
mod vm;

pub use blueprint::FreeName;
pub(crate) use blueprint::{Blueprint, Statistic};
pub(crate) use convert::Former;
pub(crate) use engine::{Engine, STACK};
#[cfg(feature = "check")]
pub(crate) use fault::{cure_of_syntax, meant};
pub(crate) use sandbox::{Code, give_back};
#[cfg(feature = "check")]
pub(crate) use spec_events::SORTS as EVENT_SORTS;
pub(crate) use spec_file::SpecFile;
pub use table::{Evaluated, Table};
pub use types::{reference_page, type_module};
pub(crate) use vm::{Call, PolicyAct, Vm};
