//! What exists in a game: entities of declared kinds with fields, as plain data.

mod agenda;
mod attachment;
mod audience;
mod change;
mod convert;
mod dormant;
mod entity;
mod game_state;
mod numbers;
mod outcome_kind;
mod profile;
mod readable_name;
mod references;
mod schema;
mod value;
mod value_json;
mod weight;

pub(crate) use agenda::{Agenda, RelativeKey};
pub use agenda::{Due, Entry, EntryId, Key, KeyError};
pub(crate) use attachment::{Attachment, AttachmentId};
pub use audience::{Audience, AudienceRule};
pub(crate) use change::Change;
pub use convert::Converted;
pub(crate) use convert::Orphans;
pub(crate) use dormant::{Dormant, Kept, Passage, pass, put_aside};
pub(crate) use entity::Entity;
pub(crate) use game_state::{Belongings, FEW_ENTITIES, MOST_ENTRIES, Stale, State};
pub(crate) use numbers::Number;
pub use outcome_kind::OutcomeKind;
pub use profile::{MostRule, NumberRule, NumberSource, PositionRule, ProfileRule, SideRule};
pub use readable_name::readable_name;
pub(crate) use schema::ENDING;
pub use schema::{Field, FieldId, Kind, KindId, Schema, Type};
pub(crate) use value::LARGEST_NUMBER;
pub use value::{EntityId, Value};
pub(crate) use value_json::in_stored_form;
