//! The script engine: the only crate that knows Luau.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod account;
mod allocation;
#[doc(hidden)]
pub mod api;
mod budget;
mod bytecode;
mod compile;

#[cfg(feature = "continuations")]
mod continuation;
mod conversion;
mod convert;
mod declaration_lines;
mod declared_convert;
mod declared_kinds;
mod declared_play;
mod declared_profile;
mod declared_verbs;
mod derived_types;
mod fault;
mod field_names;
mod file_place;
mod game_handle;
mod handles;
mod host;
mod load;
mod loader;
mod loop_keys;
mod luau;
mod memory;
mod merge;
mod nesting;
mod prelude;
mod ruleset_reference;
mod safepoint;
mod sandbox;
mod source_span;
mod spec_file;
mod stretches;
#[doc(hidden)]
#[cfg(feature = "check")]
pub mod syntax;
mod table;
mod trusted;
mod types;
mod upvalues;
mod vm;
mod watchdog;
mod whole_number;

pub use derived_types::{DerivedForm, DerivedType, DerivedTypes};
#[doc(hidden)]
pub use fault::{cure_of_syntax, meant};
pub use ruleset_reference::ruleset_reference;
#[doc(hidden)]
pub use spec_file::{SpecFile, SpecMethods};
pub use table::{Advise, Evaluated, LookAhead, Table};
#[doc(hidden)]
pub use types::{common_type, luau_type};
pub use types::{reference_page, type_module};
