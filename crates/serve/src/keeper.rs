//! The campaign file of a table: each command is on disk before it is acknowledged.

use std::path::Path;

use super::error::Failure;
use riskbreaker_play::Session;
use riskbreaker_ruleset::Library;
use riskbreaker_store::{Campaign, HostChange, HostMemory, Store, StoreError, allowed_name};

/// The extension of a campaign file.
const ENDING: &str = ".rbsave";

/// True if a path names a campaign file; otherwise it is a saved game.
pub(super) fn is_campaign(path: &str) -> bool {
    path.ends_with(ENDING)
}

fn must_be_free(path: &str) -> Result<(), Failure> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Failure::File { message: format!("{path}: it is there already; `table.load` continues a campaign") })
}

/// The name of the campaign in a file, from the name of the file.
fn name_of(path: &str) -> String {
    allowed_name(&Path::new(path).file_stem().map_or("table".into(), |name| name.to_string_lossy()))
}

/// The campaign that stores a table's game.
pub struct Keeper {
    pub campaign: Campaign,
}

impl Keeper {
    /// Opens the campaign in a file, with its game in its last state.
    pub fn open(library: &Library, path: &str) -> Result<(Keeper, Session), Failure> {
        // Opening a missing file would create it.
        if !Path::new(path).is_file() {
            return Err(Failure::File { message: format!("{path}: there is no such campaign file") });
        }
        let store = Store::open(path, library)?;
        let campaign = store.first()?;
        let Some(mut campaign) = campaign.filter(Campaign::has_scene) else {
            return Err(Failure::File { message: format!("{path}: there is no game in it") });
        };
        let session = campaign.session()?;
        campaign.sit_down()?;
        Ok((Keeper { campaign }, session))
    }

    /// Creates a campaign file with the whole game.
    pub fn create(library: &Library, path: &str, session: &mut Session) -> Result<Keeper, Failure> {
        must_be_free(path)?;
        // The file is renamed once it is complete, so a host that is killed before leaves no broken campaign.
        let draft = format!("{path}-making");
        let _ = std::fs::remove_file(&draft);
        let made: Result<Campaign, StoreError> = (|| {
            let mut campaign = Store::open(&draft, library)?.create(&name_of(path))?;
            let title = session.ruleset().title().to_owned();
            campaign.adopt(session, &title)?;
            campaign.keep(session)?;
            campaign.save_as(Path::new(path), &name_of(path))
        })();
        let _ = std::fs::remove_file(&draft);
        Ok(Keeper { campaign: made? })
    }

    /// Copies the campaign, as it is in memory, to another file, which stores the game from now on.
    pub fn copied_to(&self, path: &str) -> Result<Keeper, Failure> {
        must_be_free(path)?;
        Ok(Keeper { campaign: self.campaign.save_as(Path::new(path), &name_of(path))? })
    }

    /// Reopens the campaign file after another program has changed it, and returns the game stored last. `None` if the
    /// file has not changed.
    pub fn retry(&mut self) -> Result<Option<Session>, Failure> {
        if self.campaign.must_be_unchanged().is_ok() {
            return Ok(None);
        }
        self.campaign.retry()?;
        Ok(Some(self.campaign.session()?))
    }

    /// Returns what an earlier host stored about the table, with at most `most` results.
    pub fn memory(&self, most: usize) -> Result<HostMemory, Failure> {
        Ok(self.campaign.host_memory(most)?)
    }

    /// Writes changes of the host's data, all or none.
    pub fn write(&mut self, changes: Vec<HostChange>) -> Result<(), Failure> {
        Ok(self.campaign.write_host_changes(changes)?)
    }

    /// Writes what the game did since the last call. If that fails, the game is reset to its state on disk, and the
    /// second value is true if the session was replaced.
    pub fn keep(&mut self, session: &mut Session) -> Result<(), (Failure, bool)> {
        let Err(error) = self.campaign.keep(session) else { return Ok(()) };
        let message = format!("this was not done, since it cannot be kept: {error}");
        match self.campaign.session() {
            Ok(kept) => *session = kept,
            Err(worse) => return Err((Failure::internal(format!("{message}; {worse}")), false)),
        }
        Err((Failure::File { message }, true))
    }

    /// The number before the first step of a table that continues the campaign. It is above all steps of earlier
    /// sittings, including those that left no entry in the file.
    pub fn seq(&self) -> u64 {
        self.campaign.records() << 20
    }

    /// The entry that an undo or a redo leads to, beyond the decisions in memory.
    pub fn next(&self, back: bool) -> Result<Option<u32>, StoreError> {
        if back { self.campaign.before() } else { self.campaign.after() }
    }
}
