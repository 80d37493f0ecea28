//! How a game moves: entries leave the agenda, run as actions over a tape, and stop where somebody must decide.

mod action;
mod desk;
mod edit;
mod event;
mod explanation;
mod explorer;
mod fault;
mod game;
mod going_over;
mod onward;
mod possible;
mod question;
mod reload;
mod reply;
mod rote;
mod save;
mod session;
mod setup;
mod situation;
mod tape;
mod transfer;
mod transfer_notes;
mod turning_back;
mod view;

pub use action::Cause;
pub use edit::Edit;
pub use event::{Event, Happening};
pub use explanation::{Explanation, Term};
pub use explorer::{Answering, Given};
pub use fault::{Fault, Remedy};
pub use question::{Answer, Ask, Choice, Question, QuestionId, Refusal};
pub use reload::ReloadReport;
pub use session::{FreeAct, Session, SessionError, StartError, Step, Undone};
pub use setup::{DiceSource, Driver, Scenario, Setup};
pub use transfer::{Transfer, TransferError, TransferFate, TransferNote};
pub use view::View;

pub(crate) use desk::{Asked, Asking, DICE_RUN_OUT, Desk, Need, Phase, Sight, Stop, Throw, fits_auto};
pub(crate) use explorer::{Budget, ChoicePoint, Edge, Explorer, Fingerprint, Fork, OffPlan, write_whole_state};
pub(crate) use game::{Game, Standing};
pub(crate) use onward::Onward;
pub(crate) use rote::{Played, Rote};
pub(crate) use session::Prepared;
pub(crate) use tape::{By, DicePosition, Slot, Tape};
