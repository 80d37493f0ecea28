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
mod answers_in_words;
#[allow(missing_docs)]
mod arguments;
#[allow(missing_docs)]
mod bounds;
#[allow(missing_docs)]
mod card_counts;
#[allow(missing_docs)]
mod cause;
mod checkpoint;
#[allow(missing_docs)]
mod checksum;
#[allow(missing_docs)]
mod context;
mod creation;
mod decide;
mod decision_count;
mod early;
mod edit;
#[allow(missing_docs)]
mod edit_kind;
mod event;
mod explanation;
#[allow(missing_docs)]
mod explorer;
mod fault;
mod fault_context;
#[allow(missing_docs)]
mod field_history;
#[allow(missing_docs)]
mod fingerprint;
#[allow(missing_docs)]
mod first_rules;
#[allow(missing_docs)]
mod free_act;
#[allow(missing_docs)]
mod game;
#[allow(missing_docs)]
mod halt;
#[allow(missing_docs)]
mod headless;
#[allow(missing_docs)]
mod headless_loop;
mod history;
#[allow(missing_docs)]
mod inputs;
#[allow(missing_docs)]
mod kept_place;
#[allow(missing_docs)]
mod knowing;
#[allow(missing_docs)]
mod knowledge;
#[allow(missing_docs)]
mod known_names;
#[allow(missing_docs)]
mod machine;
mod marked;
#[allow(missing_docs)]
mod memo;
#[allow(missing_docs)]
mod migration;
#[allow(missing_docs)]
mod migration_note;
mod missing_roll;
mod numbering;
#[allow(missing_docs)]
mod observers;
#[allow(missing_docs)]
mod op;
#[allow(missing_docs)]
mod open;
#[allow(missing_docs)]
mod operation;
mod order;
#[allow(missing_docs)]
mod order_reading;
#[allow(missing_docs)]
mod packed;
#[allow(missing_docs)]
mod patch;
mod peek;
#[allow(missing_docs)]
mod pending;
#[doc(hidden)]
pub mod plain;
mod pool;
#[allow(missing_docs)]
mod prepared;
mod profile;
#[allow(missing_docs)]
mod progress;
mod question;
#[allow(missing_docs)]
mod question_id;
mod record;
#[doc(hidden)]
pub mod recorded;
mod refusal;
mod reload;
#[allow(missing_docs)]
mod replay;
mod reply;
mod resume_point;
#[allow(missing_docs)]
mod revision_note;
mod roll_form;
#[allow(missing_docs)]
mod roll_label;
mod ruleset;
mod save;
#[allow(missing_docs)]
mod saved_open;
mod seat;
#[allow(missing_docs)]
mod seat_profile;
mod session;
#[allow(missing_docs)]
mod session_counts;
#[allow(missing_docs)]
mod session_error;
#[allow(missing_docs)]
mod session_migration;
#[allow(missing_docs)]
mod session_numbering;
#[allow(missing_docs)]
mod session_reload;
#[allow(missing_docs)]
mod session_reply;
#[allow(missing_docs)]
mod session_taken_back;
mod setup;
#[allow(missing_docs)]
mod stacked;
#[allow(missing_docs)]
mod start_error;
mod state_bytes;
#[allow(missing_docs)]
mod step;
mod stream;
#[allow(missing_docs)]
mod swap;
mod taken_back;
#[allow(missing_docs)]
mod tape;
#[allow(missing_docs)]
mod telling;
#[allow(missing_docs)]
mod term;
mod turn_notice;
mod typed;
#[allow(missing_docs)]
mod undo;
#[allow(missing_docs)]
mod undo_op;
#[allow(missing_docs)]
mod undo_report;
#[allow(missing_docs)]
mod undone;
#[allow(missing_docs)]
mod unplayed;
mod view;
#[allow(missing_docs)]
mod view_profile;
mod viewer;

#[doc(hidden)]
pub use action::Done;
#[doc(hidden)]
pub use answer_check::{AskKind, Limits, Misfit, Options, Places, Shape};
#[doc(hidden)]
pub use card_counts::CardCounts;
pub use cause::Cause;
#[doc(hidden)]
pub use context::{
    ActionContext, Answerer, Asked, Asking, DICE_RUN_OUT, Masked, Need, Phase, Sight, Stop, Taped, Untold,
};
pub use creation::BuiltSheet;
pub use decision_count::DecisionCount;
pub use edit_kind::Edit;
pub use event::{Event, Happening, event_lines};
pub use explanation::Explanation;
pub use explorer::{Answering, Assumed, Given, Source};
#[doc(hidden)]
pub use explorer::{Budget, ChoicePoint, Edge, Explorer, Fork, OffPlan};
pub use fault::{Fault, Remedy};
#[doc(hidden)]
pub use fingerprint::Fingerprint;
pub use free_act::FreeAct;
#[doc(hidden)]
pub use game::Game;
#[doc(hidden)]
pub use halt::Halt;
#[doc(hidden)]
pub use headless::Headless;
#[doc(hidden)]
pub use inputs::fits_auto;
#[doc(hidden)]
pub use kept_place::KeepPlace;
#[cfg(feature = "continuations")]
#[doc(hidden)]
pub use kept_place::KeptPlace;
#[doc(hidden)]
pub use machine::{Call, Engine, Hits, Lines, Machine, PolicyAct};
pub use marked::{in_one_line, marked, marked_part};
#[doc(hidden)]
pub use memo::{Memo, Query, Traces};
pub use memo::{NewBranch, NotRecorded};
#[doc(hidden)]
pub use migration::Former;
pub use migration::{Migration, MigrationError};
pub use migration_note::{MigrationFate, MigrationNote};
pub use missing_roll::MissingRoll;
#[doc(hidden)]
pub use op::Op;
pub use order::{Order, Turn, TurnState};
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use packed::push_sparing;
#[doc(hidden)]
pub use packed::{Events, Packed};
#[doc(hidden)]
pub use pool::MACHINE_STACK;
pub use pool::Machines;
#[doc(hidden)]
pub use prepared::Prepared;
#[doc(hidden)]
pub use profile::WorkedOut;
pub use profile::{Named, Number, Position, Profile, SheetRow};
pub use question::{Answer, Ask, Choice, Question, number_in_words};
pub use question_id::QuestionId;
#[doc(hidden)]
pub use record::{Checkpoint, Place, Seating};
pub use refusal::{Bound, Refusal, Stands};
pub use reload::ReloadReport;
pub use reply::retyped;
pub use roll_form::{Comparison, RollForm, RollNeed};
pub use ruleset::Ruleset;
pub use save::is_saved_game;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use save::saved_table;
pub use seat::{Known, Seat, SeatEvent, Snapshot, SnapshotEntity};
pub use session::{Mark, Session};
pub use session_error::SessionError;
pub use setup::{DiceSource, Driver, Scenario, Setup};
pub use start_error::StartError;
#[doc(hidden)]
pub use state_bytes::write_whole_state;
pub use step::Step;
pub use taken_back::TakenBack;
#[doc(hidden)]
pub use tape::{By, DicePosition, Slot, Tape};
pub use term::Term;
#[doc(hidden)]
pub use term::without_parts;
pub use turn_notice::{TurnNotice, TurnNotices};
pub use typed::{read_typed, typed_form};
pub use undone::Undone;
pub use view::View;
#[doc(hidden)]
pub use viewer::MASTER;
pub use viewer::Viewer;
