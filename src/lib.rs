//! A rules host for tabletop games: dice, state and the order of play in Rust, every rule in a Lua file.

#[cfg(feature = "check")]
mod check;
mod dice;
mod lab;
mod play;
mod ruleset;
mod script;
mod spec;
mod state;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "watch")]
mod watch;

#[cfg(feature = "check")]
pub use crate::check::{Checker, findings};
pub use crate::dice::{Dice, DiceRng, Distribution, Face, FacesError, Fate, NotationError, Roll, TooWide};
pub use crate::lab::{
    Advice, CardOdds, CardUse, Effect, Estimate, FieldOdds, Findings, GameLimits, GameOdds, LeftOut, Limits,
    MemoReport, MemoUse, Odds, OddsQuery, Outcome, Place, Plan, PlannedVariant, Position, Progress, Rate, Shard,
    Simulation, SimulationError, Sum, Tally, Variant, compare_cards, game_odds,
};
pub use crate::play::{
    Answer, Answering, Ask, Bound, Cause, Choice, DiceSource, Driver, Edit, Event, Explanation, Fault, FreeAct, Given,
    Happening, Migration, MigrationError, MigrationFate, MigrationNote, Question, QuestionId, Refusal, ReloadReport,
    Remedy, Ruleset, Scenario, Session, SessionError, Setup, StartError, Step, Term, Undone, View,
};
pub use crate::ruleset::{
    Breach, Card, Contrast, ContrastSection, Differing, Fact, FreeName, Library, LibraryError, LoadError, Manifest,
    Problem, Rulebook, Switch, SwitchKind, SwitchRefusal, SwitchValue, changes_between,
};
pub use crate::script::{Evaluated, Table, reference_page, type_module};
pub use crate::spec::{
    Coverage, FileLines, LineCoverage, RuleLine, SpecFailure, SpecReport, SpecResult, SpecSource,
    Standing as RuleStanding, measure_specs, run_specs, spec_of_fault,
};
pub use crate::state::{Converted, EntityId, Entry, EntryId, Field, Kind, Schema, Type, Value};
#[cfg(feature = "store")]
pub use crate::store::{
    Campaign, CampaignInfo, Difference, Holder, Kept, LogEntry, Note, RecoveredCampaign, Recovery, ReplaySummary,
    Replayed, Store, StoreError, Verification, recover,
};
#[cfg(feature = "watch")]
pub use crate::watch::{Watched, Watcher};

/// The Rust of the book, which is tested as it stands there.
#[cfg(all(doctest, feature = "watch"))]
#[doc = include_str!("../docs/embedding.md")]
struct Book;
