//! The script side: the only part of the host that knows Luau.

mod bind;
mod engine;
mod exchange;
mod fault;
mod game_handle;
mod load;
mod merge;
mod mirror;
mod sandbox;
mod spec_handle;
mod table;
mod vm;

pub(crate) use engine::{Engine, STACK};
pub(crate) use load::Blueprint;
pub use load::FreeName;
pub(crate) use spec_handle::SpecFile;
pub use table::{Evaluated, Table};
pub(crate) use vm::{Call, PolicyAct, Vm};
