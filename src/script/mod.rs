//! The script side: the only part of the host that knows Luau.

pub(crate) mod api;
mod bind;
mod convert;
mod engine;
mod exchange;
mod fault;
mod game_handle;
mod load;
mod merge;
mod mirror;
mod raw;
mod sandbox;
mod spec_handle;
mod table;
mod types;
mod vm;

pub(crate) use convert::Former;
pub(crate) use engine::{Engine, STACK};
pub use load::FreeName;
pub(crate) use load::{Blueprint, Statistic};
pub(crate) use sandbox::Code;
pub(crate) use spec_handle::SpecFile;
pub use table::{Evaluated, Table};
pub use types::{reference_page, type_module};
pub(crate) use vm::{Call, PolicyAct, Vm};
