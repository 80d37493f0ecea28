//! How a game moves: entries leave the agenda, run as actions over a tape, and stop where somebody must decide.

mod action;
mod advance;
mod answer_check;
mod answer_space;
mod answer_value;
mod card_counts;
mod checkpoint;
mod context;
mod creation;
mod decide;
mod decision_count;
mod early;
mod edit;
mod event;
mod explanation;
mod explorer;
mod fault;
mod fault_context;
mod game;
mod headless;
mod history;
mod inputs;
mod knowledge;
mod machine;
mod marked;
mod memo;
mod migration;
mod missing_roll;
mod numbering;
mod observers;
mod operation;
mod packed;
pub(crate) mod plain;
mod pool;
mod prepared;
mod question;
#[cfg(feature = "store")]
mod record;
mod refusal;
mod reload;
mod reply;
mod resume_point;
mod ruleset;
mod save;
mod seat;
mod session;
mod setup;
mod state_bytes;
mod stream;
mod tape;
mod typed;
mod undo;
mod view;
mod viewer;

pub use action::Cause;
#[cfg(feature = "store")]
pub(crate) use action::Done;
pub use creation::BuiltSheet;
pub use decision_count::DecisionCount;
pub use edit::Edit;
pub use event::{Event, Happening};
pub use explanation::{Explanation, Term};
pub use explorer::{Answering, Given};
pub use fault::{Fault, Remedy};
pub use marked::{in_one_line, marked};
pub use migration::{Migration, MigrationError, MigrationFate, MigrationNote};
pub use missing_roll::MissingRoll;
pub use pool::Machines;
pub use question::{Answer, Ask, Choice, Question, QuestionId};
pub use refusal::{Bound, Refusal};
pub use reload::ReloadReport;
pub use ruleset::Ruleset;
pub use seat::{Known, Seat, SeatEvent, Snapshot, SnapshotEntity};
pub use session::{FreeAct, Session, SessionError, StartError, Step, Undone};
pub use setup::{DiceSource, Driver, Scenario, Setup};
pub use typed::{read_typed, typed_form};
pub use view::View;
pub use viewer::Viewer;

pub(crate) use advance::Halt;
pub(crate) use answer_check::{AskKind, Limits, Misfit, Options, Places, Shape};
pub(crate) use card_counts::CardCounts;
pub(crate) use context::{ActionContext, Asked, Asking, DICE_RUN_OUT, Need, Phase, Sight, Stop, Taped, Untold};
pub(crate) use explorer::{Budget, ChoicePoint, Edge, Explorer, Fingerprint, Fork, OffPlan};
pub(crate) use game::Game;
pub(crate) use headless::Headless;
pub(crate) use inputs::{Answerer, fits_auto};
pub(crate) use knowledge::Masked;
pub(crate) use machine::{Call, Engine, Hits, Lines, Machine, PolicyAct};
pub(crate) use memo::{Memo, Query, Traces};
pub use memo::{NewBranch, NotRecorded};
pub(crate) use migration::Former;
pub(crate) use operation::Op;
#[cfg(feature = "serve")]
pub(crate) use packed::push_sparing;
pub(crate) use packed::{Events, Packed};
pub(crate) use pool::MACHINE_STACK;
pub(crate) use prepared::Prepared;
#[cfg(feature = "store")]
pub(crate) use record::{Checkpoint, Place, Seating};
pub(crate) use resume_point::KeepPlace;
#[cfg(feature = "continuations")]
pub(crate) use resume_point::KeptPlace;
pub(crate) use save::Reading;
#[cfg(feature = "serve")]
pub(crate) use save::saved_table;
pub(crate) use state_bytes::write_whole_state;
pub(crate) use tape::{By, DicePosition, Slot, Tape};
#[cfg(feature = "store")]
pub(crate) use undo::told;
pub(crate) use viewer::MASTER;
