//! Stores campaigns in a file: the progress of a session is on disk before anybody sees the result.
//!
//! How data moves:
//!
//! ```text
//!  session ── tape · place · state hash ──> Campaign::keep ──> one transaction ──> NAME.rbsave
//!                                                                                     │
//!  session <── replay of the tape from a checkpoint, compared with the hash <── session, go_to
//! ```
//!
//! The file is a database in which rows are only added:
//!
//! - `action` is the tape: each action with its rolls and answers, and the action before it;
//! - `moment` holds decisions: a tree of entries, each with its last action and the position after it. Undo goes to an
//!   earlier entry, another decision adds a branch, and a repeated entry is found and not written again;
//! - `checkpoint` holds the whole state after some actions, so that opening a long campaign replays little;
//! - `piece` holds the beginnings of scenes, the drivers of seats, and the characters; `note` the notes of people, with
//!   dates;
//! - `label` is the text of each entry's decision, for the log of a long campaign;
//! - `generation` and `source` hold every version of the rules that was in force, by hash;
//! - `request` and `host` hold the data of a host of clients: results by key, invitations, the pause;
//! - `game` holds the current entry of each campaign, and is the only row that changes.
//!
//! Each row has a checksum of its content and of the rows that it builds on. So damage is noticed when a row is read. The state
//! that the rules make of the tape is compared with the hash of the state that was stored.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Tests play games, for which the engine is linked.
#[cfg(test)]
use riskbreaker_script as _;

// Missing documentation is allowed in modules whose items other modules of the host use, but no embedder.

mod amend;
mod branch;
mod campaign;
mod checksum;
mod content;
mod date;
mod disk;
mod error;
mod file;
mod generation;
mod history;
#[allow(missing_docs)]
mod host;
#[cfg(feature = "serve")]
mod host_memory;
mod label;
mod lock;
mod log;
mod name;
mod notes;
mod opening;
mod pack;
mod pages;
mod random;
mod recap;
mod recover;
mod replay;
mod roster;
mod rows;
mod store;
mod text;
mod upgrade;
mod verify;
mod whole;
mod writer;

pub use self::amend::{AmendReport, Amendment, LeftOutDecision};
pub use self::campaign::{Campaign, Kept};
pub use self::error::StoreError;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use self::file::sync_folder;
pub use self::history::{CampaignScene, SceneLog};
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use self::host::{HostChange, HostRow, KeptResult, KeptRole, KeptVote};
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use self::host_memory::HostMemory;
pub use self::lock::Holder;
pub use self::log::LogEntry;
pub use self::name::nearest_allowed as allowed_name;
pub use self::notes::CampaignNote;
pub use self::random::random_number;
pub use self::recap::{Recap, RecapParagraph, RecapScene};
pub use self::recover::{RecoveredCampaign, Recovery, recover};
pub use self::replay::{FirstDifference, ReplaySummary, Replayed};
pub use self::roster::{Character, Roster};
pub use self::store::{CampaignInfo, Store};
pub use self::verify::Verification;
