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
mod content;
mod date;
mod disk;
mod error;
mod file;
mod generation;
mod history;
#[allow(missing_docs)]
mod host;
mod lock;
mod log;
mod name;
mod notes;
mod pack;
mod pages;
mod recap;
mod recover;
mod replay;
mod roster;
mod rows;
mod text;
mod upgrade;
mod verify;
mod whole;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::Serialize;

pub use self::amend::{AmendReport, Amendment, LeftOutDecision};
use self::campaign::lock;
pub use self::campaign::{Campaign, Kept};
pub use self::error::StoreError;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use self::file::sync_folder;
use self::file::{Access, StoreFile};
pub use self::history::{CampaignScene, SceneLog};
#[cfg(feature = "serve")]
#[doc(hidden)]
pub use self::host::{HostChange, HostMemory, HostRow, KeptResult, KeptRole, KeptVote};
pub use self::lock::Holder;
pub use self::log::LogEntry;
pub use self::name::nearest_allowed as allowed_name;
pub use self::notes::CampaignNote;
pub use self::recap::{Recap, RecapParagraph, RecapScene};
pub use self::recover::{RecoveredCampaign, Recovery, recover};
pub use self::replay::{FirstDifference, ReplaySummary, Replayed};
pub use self::roster::{Character, Roster};
use self::rows::GameRow;
pub use self::verify::Verification;
use riskbreaker_ruleset::{Library, instead};

/// A file with any number of campaigns.
#[derive(Clone)]
pub struct Store {
    file: Arc<Mutex<StoreFile>>,
}

/// A campaign in a list of campaigns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CampaignInfo {
    /// The name of the campaign.
    pub name: String,
    /// The time of its creation, in UTC.
    pub made: String,
    /// The time of the last write, in UTC.
    pub played: String,
    /// The number of entries, including undone ones.
    pub entries: u32,
}

impl Store {
    /// Opens a file, or creates it. Nobody else can open it for playing until the store and its campaigns are dropped.
    ///
    /// # Errors
    ///
    /// [`StoreError::Held`] names the program that has it open.
    pub fn open(path: impl AsRef<Path>, library: &Library) -> Result<Store, StoreError> {
        Store::of(path.as_ref(), library, Access::Write, true)
    }

    /// Opens an existing file for reading: its current content, even while a program plays it. Needs no write access.
    /// If a program ended during a write, the write is rolled back first; in a copy, if the file cannot be written.
    ///
    /// # Errors
    ///
    /// There is no such file, it is damaged, or it is no store.
    pub fn read(path: impl AsRef<Path>, library: &Library) -> Result<Store, StoreError> {
        Store::of(path.as_ref(), library, Access::Read, false)
    }

    fn of(path: &Path, library: &Library, access: Access, create: bool) -> Result<Store, StoreError> {
        let file = StoreFile::open(path, library.clone(), access, create)?;
        Ok(Store::of_file(file))
    }

    pub(crate) fn of_file(file: StoreFile) -> Store {
        Store { file: Arc::new(Mutex::new(file)) }
    }

    /// The campaigns in the file, in the order of their creation.
    pub fn campaigns(&self) -> Result<Vec<CampaignInfo>, StoreError> {
        let file = lock(&self.file);
        file.games()?.into_iter().map(|id| file.game(id).map(info)).collect()
    }

    /// Creates a campaign. Its name has 1 to 200 printable characters, and is stored with single spaces and composed
    /// characters.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`]; or the name is not allowed.
    pub fn create(&self, name: &str) -> Result<Campaign, StoreError> {
        let name = &*name::normalized(name)?;
        let id = {
            let mut file = lock(&self.file);
            let last = file.connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM game WHERE name = ?1), (SELECT max(id) FROM game)",
                [name],
                |row| Ok((row.get::<_, bool>(0)?, row.get::<_, Option<u32>>(1)?)),
            );
            let id = match last.map_err(|error| file.failed(&error))? {
                (true, _) => return Err(StoreError::Exists(name.to_owned())),
                (false, last) => last.map_or(0, |last| last + 1),
            };
            let now = date::now();
            let mut row = GameRow { name: name.into(), made: now.clone(), played: now, ..GameRow::default() };
            row.have_identity();
            file.write(|to| {
                to.new_game(id, name)?;
                to.game(id, &row)
            })?;
            id
        };
        Campaign::open(&self.file, id)
    }

    /// Opens a campaign of the file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`].
    pub fn campaign(&self, name: &str) -> Result<Campaign, StoreError> {
        let find = |name: &str| {
            lock(&self.file).find("SELECT id FROM game WHERE name = ?1", [name], |row| row.get::<_, u32>(0))
        };
        // Names in files up to format 2 are not normalized.
        let found = match find(name)? {
            Some(id) => Some(id),
            None => find(&name::normalized(name)?)?,
        };
        match found {
            Some(id) => Campaign::open(&self.file, id),
            None => {
                let names: Vec<String> = self.campaigns()?.into_iter().map(|info| info.name).collect();
                let instead = instead(name, names.iter().map(String::as_str));
                Err(StoreError::Unknown { name: name.to_owned(), instead })
            }
        }
    }

    /// The first campaign of the file; a file made by the program has no others.
    pub fn first(&self) -> Result<Option<Campaign>, StoreError> {
        let first = lock(&self.file).games()?.first().copied();
        first.map(|id| Campaign::open(&self.file, id)).transpose()
    }
}

fn info(row: GameRow) -> CampaignInfo {
    CampaignInfo { name: row.name, made: row.made, played: row.played, entries: row.moments }
}

/// A random number from the system's seed of hash maps and the clock. It is almost certainly unique.
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
