//! Runs games: entries leave the agenda, run as actions over a tape, and stop where a person must decide.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

#[allow(missing_docs)]
mod action;
#[allow(missing_docs)]
mod advance;
#[allow(missing_docs)]
mod answer_check;
mod answer_space;
mod answer_value;
#[allow(missing_docs)]
mod card_counts;
mod checkpoint;
#[allow(missing_docs)]
mod context;
mod creation;
mod decide;
mod decision_count;
mod early;
mod edit;
mod event;
mod explanation;
#[allow(missing_docs)]
mod explorer;
mod fault;
mod fault_context;
#[allow(missing_docs)]
mod game;
#[allow(missing_docs)]
mod headless;
mod history;
#[allow(missing_docs)]
mod inputs;
#[allow(missing_docs)]
mod knowledge;
#[allow(missing_docs)]
mod machine;
mod marked;
#[allow(missing_docs)]
mod memo;
#[allow(missing_docs)]
mod migration;
mod missing_roll;
mod numbering;
#[allow(missing_docs)]
mod observers;
#[allow(missing_docs)]
mod operation;
mod order;
#[allow(missing_docs)]
mod packed;
mod peek;
#[doc(hidden)]
pub mod plain;
mod pool;
#[allow(missing_docs)]
mod prepared;
mod profile;
mod question;
mod record;
#[doc(hidden)]
pub mod recorded;
mod refusal;
mod reload;
mod reply;
mod resume_point;
mod roll_form;
mod ruleset;
mod save;
mod seat;
mod secrecy;
mod session;
mod setup;
mod spoken;
mod state_bytes;
mod stream;
mod taken_back;
#[allow(missing_docs)]
mod tape;
mod turn_notice;
mod typed;
#[allow(missing_docs)]
mod undo;
mod view;
mod viewer;

pub use action::Cause;
#[doc(hidden)]
pub use action::Done;
pub use creation::BuiltSheet;
pub use decision_count::DecisionCount;
pub use edit::Edit;
pub use event::{Event, Happening, event_lines};
#[doc(hidden)]
pub use explanation::without_parts;
pub use explanation::{Explanation, Term};
pub use explorer::{Answering, Assumed, Given, Source};
pub use fault::{Fault, Remedy};
pub use marked::{in_one_line, marked, marked_part};
pub use migration::{Migration, MigrationError, MigrationFate, MigrationNote};
pub use missing_roll::MissingRoll;
pub use order::{Order, Turn, TurnState};
pub use pool::Machines;
pub use profile::{Named, Number, Position, Profile, SheetRow};
pub use question::{Answer, Ask, Choice, Question, QuestionId, number_in_words};
pub use refusal::{Bound, Refusal, Stands};
pub use reload::ReloadReport;
pub use reply::retyped;
pub use roll_form::{Comparison, RollForm, RollNeed};
pub use ruleset::Ruleset;
pub use save::is_saved_game;
pub use seat::{Known, Seat, SeatEvent, Snapshot, SnapshotEntity};
pub use session::{FreeAct, Mark, Session, SessionError, StartError, Step, Undone};
pub use setup::{DiceSource, Driver, Scenario, Setup};
pub use taken_back::TakenBack;
pub use turn_notice::{TurnNotice, TurnNotices};
pub use typed::{read_typed, typed_form};
pub use view::View;
pub use viewer::Viewer;

#[doc(hidden)]
pub use advance::Halt;
#[doc(hidden)]
pub use answer_check::{AskKind, Limits, Misfit, Options, Places, Shape};
#[doc(hidden)]
pub use card_counts::CardCounts;
#[doc(hidden)]
pub use context::{ActionContext, Asked, Asking, DICE_RUN_OUT, Need, Phase, Sight, Stop, Taped, Untold};
#[doc(hidden)]
pub use explorer::{Budget, ChoicePoint, Edge, Explorer, Fingerprint, Fork, OffPlan};
#[doc(hidden)]
pub use game::Game;
#[doc(hidden)]
pub use headless::Headless;
#[doc(hidden)]
pub use inputs::{Answerer, fits_auto};
#[doc(hidden)]
pub use knowledge::Masked;
#[doc(hidden)]
pub use machine::{Call, Engine, Hits, Lines, Machine, PolicyAct};
#[doc(hidden)]
pub use memo::{Memo, Query, Traces};
pub use memo::{NewBranch, NotRecorded};
#[doc(hidden)]
pub use migration::Former;
#[doc(hidden)]
pub use operation::Op;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use packed::push_sparing;
#[doc(hidden)]
pub use packed::{Events, Packed};
#[doc(hidden)]
pub use pool::MACHINE_STACK;
#[doc(hidden)]
pub use prepared::Prepared;
#[doc(hidden)]
pub use profile::WorkedOut;
#[doc(hidden)]
pub use record::{Checkpoint, Place, Seating};
#[doc(hidden)]
pub use resume_point::KeepPlace;
#[cfg(feature = "continuations")]
#[doc(hidden)]
pub use resume_point::KeptPlace;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use save::saved_table;
#[doc(hidden)]
pub use state_bytes::write_whole_state;
#[doc(hidden)]
pub use tape::{By, DicePosition, Slot, Tape};
#[doc(hidden)]
pub use viewer::MASTER;
