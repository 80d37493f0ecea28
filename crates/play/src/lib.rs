//! Runs games: entries leave the agenda, run as actions over a tape, and stop where a person must decide.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

#[allow(missing_docs)]
mod context;
#[allow(missing_docs)]
mod explorer;
#[allow(missing_docs)]
mod game;
#[allow(missing_docs)]
mod machine;
#[allow(missing_docs)]
mod memo;
#[allow(missing_docs)]
mod migration;
mod model;
mod session;

#[doc(hidden)]
pub use context::{
    ActionContext, Answerer, Asked, Asking, CardCounts, DICE_RUN_OUT, Headless, Masked, Op, PathInput, Phase, Sought,
    Stop, Taped, Untold, fits_auto,
};
pub use context::{View, read_typed, typed_form};
pub use explorer::{Answering, Assumed, Given};
#[doc(hidden)]
pub use explorer::{Budget, ChoicePoint, Edge, Explorer, Fork, OffPlan, SeenState, write_whole_state};
#[doc(hidden)]
pub use game::{Done, Game, Halt, Prepared};
pub use game::{ReloadReport, TakenBack};
#[doc(hidden)]
pub use machine::{Call, Engine, Fingerprint, Hits, KeepPlace, KeptPlace, Lines, MACHINE_STACK, Machine, PolicyAct};
pub use machine::{Machines, Ruleset};
#[doc(hidden)]
pub use memo::{Memo, Query, Traces};
pub use memo::{NewBranch, NotRecorded};
#[doc(hidden)]
pub use migration::renames;
pub use migration::{Migration, MigrationError};
pub use model::AnswerSource as Source;
#[doc(hidden)]
pub use model::Former;
#[doc(hidden)]
pub use model::push_sparing;
pub use model::{
    Answer, Ask, Bound, Cause, Choice, Comparison, DecisionCount, DiceSource, Driver, Edit, Event, Explanation, Fault,
    FaultKind, FreeAct, Happening, MigrationFate, MigrationNote, MissingRoll, Named, Number, Order, Position, Profile,
    Question, QuestionId, Refusal, Remedy, RollForm, RollLine, RollNeed, Scenario, SessionError, Setup, SheetRow,
    Stands, StartError, Term, Turn, TurnState, Viewer, event_lines, in_one_line, marked, marked_part, number_in_words,
    retyped,
};
#[doc(hidden)]
pub use model::{
    AskKind, By, DicePosition, Events, Limits, MASTER, Misfit, Need, Options, Packed, Places, Shape, Sight, SightForm,
    Slot, Tape, WorkedOut, without_parts,
};
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use session::saved_table;
pub use session::{
    BuiltSheet, Known, Mark, Seat, SeatEvent, Session, Snapshot, SnapshotEntity, Step, TurnNotice, TurnNotices, Undone,
    is_saved_game,
};
#[doc(hidden)]
pub use session::{Checkpoint, Place, Seating};
#[doc(hidden)]
pub use session::{plain, recorded};
