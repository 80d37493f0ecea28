//! Where rules come from: folders of scripts, found in a library, read whole and stacked.
//!
//! The way of the data: a [`Library`] reads a [`Folder`] of [`Source`]s with its [`Manifest`]; a [`Stack`] puts the
//! parents below it and the layers on top. Nothing here runs a script, and nothing here knows a game. Whatever is
//! wrong with what an author wrote comes back as [`Problem`]s, all of them at once.

mod content_hash;
mod contrast;
mod data;
mod difference;
mod document;
mod folder;
mod layering;
mod library;
mod manifest;
mod nearest;
mod problem;
pub(crate) mod quoted;
mod read_folder;
mod rules;
#[cfg(test)]
mod scratch;
mod source;
mod stack;
mod switch;
mod version;
#[cfg(feature = "watch")]
mod watch;

#[cfg(feature = "store")]
pub(crate) use content_hash::ContentHash;
pub use contrast::{Contrast, ContrastSection, Differing};
pub(crate) use data::Data;
pub use difference::changes_between;
#[cfg(feature = "check")]
pub(crate) use document::{Document, in_order};
pub use library::{Library, LibraryError};
pub use manifest::Manifest;
pub(crate) use nearest::nearest;
pub use problem::{LoadError, Problem};
pub(crate) use read_folder::read_regular;
pub(crate) use rules::plain;
pub use rules::{Breach, Card, Fact, Ruleset};
pub(crate) use source::Source;
#[cfg(feature = "check")]
pub(crate) use source::SourceKind;
pub(crate) use stack::{Role, Stack};
pub use switch::{Switch, SwitchKind, SwitchValue};
#[cfg(feature = "watch")]
pub use watch::{Watched, Watcher};
