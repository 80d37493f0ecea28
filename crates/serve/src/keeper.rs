//! The campaign file of a table: a line is on the disk before it is acknowledged.

use std::path::Path;

use super::error::Failure;
use riskbreaker_play::Session;
use riskbreaker_ruleset::Library;
use riskbreaker_store::{Campaign, HostChange, HostMemory, Store, StoreError, allowed_name};

/// How the name of a campaign file ends.
const ENDING: &str = ".rbsave";

/// Whether a path names a campaign file; otherwise it is a saved game.
pub(super) fn is_campaign(path: &str) -> bool {
    path.ends_with(ENDING)
}

fn must_be_free(path: &str) -> Result<(), Failure> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Failure::File { message: format!("{path}: it is there already; `table.load` continues a campaign") })
}

/// The name of the campaign in a file.
fn name_of(path: &str) -> String {
    allowed_name(&Path::new(path).file_stem().map_or("table".into(), |name| name.to_string_lossy()))
}

/// The campaign that keeps a table's game.
pub struct Keeper {
    pub campaign: Campaign,
}

impl Keeper {
    /// Opens the campaign of a file, with its game as it stood.
    pub fn open(library: &Library, path: &str) -> Result<(Keeper, Session), Failure> {
        // To open a file is to make it, where there is none.
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

    /// Makes a campaign file for a game; all of the game is in it then.
    pub fn create(library: &Library, path: &str, session: &mut Session) -> Result<Keeper, Failure> {
        must_be_free(path)?;
        // The file gets its name once all is in it: a host that is killed before leaves no file that cannot be loaded.
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

    /// Copies the campaign, as it is in memory, into another file, which keeps the game from now on.
    pub fn copied_to(&self, path: &str) -> Result<Keeper, Failure> {
        must_be_free(path)?;
        Ok(Keeper { campaign: self.campaign.save_as(Path::new(path), &name_of(path))? })
    }

    /// Continues with the campaign file after another program has changed it; gives the game that was kept last. `None` if
    /// nobody has changed the file.
    pub fn retry(&mut self) -> Result<Option<Session>, Failure> {
        if self.campaign.must_be_unchanged().is_ok() {
            return Ok(None);
        }
        self.campaign.retry()?;
        Ok(Some(self.campaign.session()?))
    }

    /// What the last host remembered of the table, with at most `most` results.
    pub fn memory(&self, most: usize) -> Result<HostMemory, Failure> {
        Ok(self.campaign.host_memory(most)?)
    }

    /// Writes changes of what the host remembers, all or none.
    pub fn write(&mut self, changes: Vec<HostChange>) -> Result<(), Failure> {
        Ok(self.campaign.write_host_changes(changes)?)
    }

    /// Writes what the game did since the last call. Where that fails, the game is again as it is on the disk: the second
    /// value says that it is another session.
    pub fn keep(&mut self, session: &mut Session) -> Result<(), (Failure, bool)> {
        let Err(error) = self.campaign.keep(session) else { return Ok(()) };
        let message = format!("this was not done, since it cannot be kept: {error}");
        match self.campaign.session() {
            Ok(kept) => *session = kept,
            Err(worse) => return Err((Failure::internal(format!("{message}; {worse}")), false)),
        }
        Err((Failure::File { message }, true))
    }

    /// The number before the first step of a table that goes on with the campaign. It is above all steps of earlier sittings,
    /// also those that left no entry in the file.
    pub fn seq(&self) -> u64 {
        self.campaign.records() << 20
    }

    /// The entry that an undo or a redo leads to, beyond what the game has in memory.
    pub fn next(&self, back: bool) -> Result<Option<u32>, StoreError> {
        if back { self.campaign.before() } else { self.campaign.after() }
    }
}
