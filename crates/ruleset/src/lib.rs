//! Loads rulesets: folders of scripts, found in a library, read as a whole and stacked.
//!
//! The data flow: a [`Library`] reads a [`Folder`] of [`Source`]s with its [`Manifest`]; a stack puts the parents below
//! it and the layers on top. Nothing here runs a script, and nothing here knows a game. Mistakes in an author's files
//! are returned as [`Problem`]s, all of them at once.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

mod checksum;
mod content_hash;
mod contrast;
mod conversion;
mod creation;
mod cure;
mod data;
#[allow(missing_docs)]
mod declarations;
mod difference;
mod document;
mod folder;
mod json_path;
mod layering;
mod library;
#[allow(missing_docs)]
mod lock_entry;
mod manifest;
mod nearest;
#[allow(missing_docs)]
mod origin;
mod problem;
#[doc(hidden)]
pub mod quoted;
mod read_folder;
mod recap_sentences;
mod rulebook;
#[cfg(test)]
mod scratch;
mod source;
#[allow(missing_docs)]
mod stack;
mod switch;
#[doc(hidden)]
pub mod typed_text;
mod value_cure;
mod verb;
mod version;

pub use checksum::Checksum;
pub use content_hash::ContentHash;
pub use contrast::{
    Contrast, ContrastSection, Differing, FileChange, changes_between, updates_between, version_changes,
};
#[doc(hidden)]
pub use conversion::{Conversion, ConversionStep, DroppedName, VersionRange};
pub use creation::{Breach, CreationPart, SheetForm, SheetPrice, SheetStep};
#[doc(hidden)]
pub use cure::find_whole;
pub use cure::{Changes, Cure, Replacement};
#[doc(hidden)]
pub use data::Data;
pub use declarations::FreeName;
#[doc(hidden)]
pub use declarations::{Declarations, EntryName, HitCount, HitSign, LetStand, Statistic};
#[doc(hidden)]
pub use document::{Document, in_order};
pub use folder::Folder;
#[doc(hidden)]
pub use layering::with_layers;
#[doc(hidden)]
pub use library::EMBEDDED;
pub use library::{Library, LibraryError};
#[doc(hidden)]
pub use lock_entry::LockEntry;
pub use manifest::{Manifest, Mention, Requirement};
#[doc(hidden)]
pub use nearest::instead_of_value;
#[doc(hidden)]
pub use nearest::slips;
pub use nearest::{instead, instead_or, likeliest, nearest};
#[doc(hidden)]
pub use origin::Origin;
#[doc(hidden)]
pub use origin::inode;
pub use problem::{LoadError, Problem, Subject, TextChange};
pub use quoted::{plain_json, system_message};
#[doc(hidden)]
pub use read_folder::read_regular;
pub use recap_sentences::RecapSentences;
pub use rulebook::{Card, Fact, Rulebook};
#[doc(hidden)]
pub use rulebook::{LONGEST_NAME, LONGEST_TITLE, plain};
#[doc(hidden)]
pub use source::is_litter;
#[doc(hidden)]
pub use source::{SCRIPT_FILES, SCRIPT_FOLDERS};
pub use source::{Source, SourceKind};
#[doc(hidden)]
pub use stack::{PartRole, Stack, StackPart};
pub use switch::{Switch, SwitchKind, SwitchRefusal, SwitchValue};
#[doc(hidden)]
pub use value_cure::{cure_of_switch, cure_of_value, nearest_bound, number_in, number_meant, one_of, truth_in};
pub use verb::{Param, ParamType, Verb};
#[doc(hidden)]
pub use version::Version;
