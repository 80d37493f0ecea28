//! The state of a game: entities of declared kinds with fields, as plain data.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

#[allow(missing_docs)]
mod agenda;
#[allow(missing_docs)]
mod attachment;
mod audience;
#[allow(missing_docs)]
mod change;
mod convert;
#[allow(missing_docs)]
mod dormant;
#[allow(missing_docs)]
mod entity;
#[allow(missing_docs)]
mod game_state;
#[allow(missing_docs)]
mod number_hash;
#[allow(missing_docs)]
mod numbers;
mod outcome_kind;
mod profile;
mod readable_name;
mod references;
mod renames;
mod schema;
mod unfit;
mod value;
mod value_json;
mod weight;

#[doc(hidden)]
pub use agenda::{Agenda, RelativeKey};
pub use agenda::{Due, Entry, EntryId, Key, KeyError};
#[doc(hidden)]
pub use attachment::{Attachment, AttachmentId};
pub use audience::{Audience, AudienceRule};
#[doc(hidden)]
pub use change::Change;
pub use convert::Converted;
#[doc(hidden)]
pub use convert::Orphans;
#[doc(hidden)]
pub use dormant::{Dormant, Kept, Passage, pass, put_aside};
#[doc(hidden)]
pub use entity::Entity;
#[doc(hidden)]
pub use game_state::{Belongings, FEW_ENTITIES, MOST_ENTRIES, Stale, State};
#[doc(hidden)]
pub use number_hash::NumberHash;
#[doc(hidden)]
pub use numbers::DrawnNumber;
pub use outcome_kind::OutcomeKind;
pub use profile::{MostRule, NumberRule, NumberSource, PositionRule, ProfileRule, SideRule, WrongSeat};
pub use readable_name::readable_name;
#[doc(hidden)]
pub use renames::{RenameStep, Renames};
#[doc(hidden)]
pub use schema::ENDING;
pub use schema::{Field, FieldId, Kind, KindId, Schema, Type};
pub use unfit::Unfit;
#[doc(hidden)]
pub use value::LARGEST_NUMBER;
pub use value::{EntityId, Value};
#[doc(hidden)]
pub use value_json::in_stored_form;
