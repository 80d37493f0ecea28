//! The script side: the only part of the host that knows Luau.

mod account;
mod allocation;
pub(crate) mod api;
mod bytecode;
mod compile;
#[cfg(feature = "continuations")]
mod continuation;
mod conversion;
mod convert;
mod declaration_lines;
mod declared_kinds;
mod declared_play;
mod declared_profile;
mod fault;
mod field_names;
mod game_handle;
mod handles;
mod host;
mod load;
mod loop_keys;
mod luau;
mod merge;
mod nesting;
mod prelude;
mod sandbox;
mod source_span;
mod spec_file;
mod stretches;
#[cfg(feature = "check")]
pub(crate) mod syntax;
mod table;
mod types;
mod upvalues;
mod vm;
mod watchdog;

#[cfg(test)]
pub(crate) use api::spec_methods;
#[cfg(feature = "check")]
pub(crate) use fault::{cure_of_syntax, meant};
pub(crate) use spec_file::{SpecFile, SpecMethods};
pub use table::{Evaluated, LookAhead, Table};
pub use types::{reference_page, type_module};
