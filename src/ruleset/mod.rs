//! Where rules come from: folders of scripts, found in a library, read whole and stacked.
//!
//! The data flow: a [`Library`] reads a [`Folder`] of [`Source`]s with its [`Manifest`]; a stack puts the parents below it
//! and the layers on top. Nothing here runs a script, and nothing here knows a game. Mistakes in an author's files come back as
//! [`Problem`]s, all of them at once.

mod content_hash;
mod contrast;
mod creation;
mod data;
mod declarations;
mod difference;
mod document;
mod folder;
mod layering;
mod library;
mod manifest;
mod nearest;
mod origin;
mod problem;
pub(crate) mod quoted;
mod read_folder;
mod rulebook;
#[cfg(test)]
pub(crate) mod scratch;
mod source;
mod stack;
mod switch;
mod version;

pub use content_hash::ContentHash;
pub use contrast::{Contrast, ContrastSection, Differing, changes_between};
pub use creation::{Breach, CreationPart, SheetForm, SheetPrice, SheetStep};
pub(crate) use data::Data;
pub use declarations::FreeName;
pub(crate) use declarations::{Declarations, EntryName, HitCount, HitSign, LetStand, Statistic};
#[cfg(feature = "check")]
pub(crate) use document::{Document, in_order};
pub use folder::Folder;
pub(crate) use layering::with_layers;
pub use library::{Library, LibraryError};
pub use manifest::{Manifest, Mention, Requirement};
pub(crate) use nearest::instead_of_value;
#[cfg(feature = "check")]
pub(crate) use nearest::slips;
pub use nearest::{instead, instead_or, nearest};
pub(crate) use origin::Origin;
#[cfg(feature = "watch")]
pub(crate) use origin::inode;
pub use problem::{LoadError, Problem};
pub use quoted::{plain_json, system_message};
pub(crate) use read_folder::read_regular;
pub use rulebook::{Card, Fact, Rulebook};
pub(crate) use rulebook::{LONGEST_NAME, LONGEST_TITLE, plain};
#[cfg(feature = "watch")]
pub(crate) use source::is_litter;
#[cfg(feature = "check")]
pub(crate) use source::{SCRIPT_FILES, SCRIPT_FOLDERS};
pub use source::{Source, SourceKind};
pub(crate) use stack::{Role, Stack};
pub use switch::{Switch, SwitchKind, SwitchRefusal, SwitchValue};
