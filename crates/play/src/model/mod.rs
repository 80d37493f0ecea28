//! The data of a game: questions and answers, events, the tape, and what people set up.

#[allow(missing_docs)]
mod answer_check;
mod answer_source;
mod answer_space;
mod answer_value;
mod bounds;
mod cause;
mod decision_count;
mod edit;
mod event;
mod explanation;
mod fault;
#[allow(missing_docs)]
mod former;
mod free_act;
mod marked;
mod migration_note;
mod missing_roll;
mod order;
#[allow(missing_docs)]
mod packed;
mod patch;
mod profile;
mod question;
mod question_id;
mod reading;
mod refusal;
mod roll_form;
mod roll_label;
mod session_error;
mod setup;
#[allow(missing_docs)]
mod sight;
mod spoken;
mod start_error;
#[allow(missing_docs)]
mod tape;
mod term;
mod viewer;

pub use answer_check::{AskKind, Limits, Misfit, Options, Places, Shape};
pub use answer_source::AnswerSource;
pub use cause::Cause;
pub(crate) use cause::words_of;
pub use decision_count::DecisionCount;
pub use edit::Edit;
pub use event::{Event, Happening, RollLine, event_lines};
pub use explanation::Explanation;
pub(crate) use fault::WRONG_FACE;
pub use fault::{Fault, FaultKind, Remedy};
pub use former::Former;
pub use free_act::FreeAct;
pub use marked::{in_one_line, marked, marked_part};
pub use migration_note::{MigrationFate, MigrationNote};
pub use missing_roll::MissingRoll;
pub use order::{Order, Turn, TurnState};
pub use packed::{Events, Packed, push_sparing};
pub(crate) use patch::{Patch, apply, patch_of_files};
pub use profile::{Named, Number, Position, Profile, SheetRow, WorkedOut};
pub use question::{Answer, Ask, Choice, Question, number_in_words};
pub use question_id::QuestionId;
pub use reading::retyped;
pub(crate) use reading::take_reply;
pub(crate) use refusal::not_yours;
pub use refusal::{Bound, Refusal, Stands};
pub use roll_form::{Comparison, RollForm, RollNeed};
pub(crate) use roll_label::without_places;
pub use session_error::SessionError;
pub use setup::{DiceSource, Driver, Scenario, Setup};
pub use sight::{Need, Sight, SightForm};
pub use start_error::StartError;
pub use tape::{By, DicePosition, Slot, Tape};
pub use term::{Term, without_parts};
pub use viewer::{MASTER, Viewer};
