//! The campaign file of a table: a line is on the disk before it is acknowledged.

use std::path::Path;

use super::error::Failure;
use crate::play::Session;
use crate::ruleset::Library;
use crate::store::{Campaign, Store, StoreError, allowed_name};

/// How the name of a campaign file ends.
const ENDING: &str = ".rbsave";

/// Whether a path names a campaign file; otherwise it is a saved game.
pub(super) fn is_campaign(path: &str) -> bool {
    path.ends_with(ENDING)
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

    /// Makes a campaign file for a game; all of the game is in it then. `whole` has all of it where the session has only the
    /// last part in memory.
    pub fn create(
        library: &Library,
        path: &str,
        session: &mut Session,
        whole: Option<Session>,
    ) -> Result<Keeper, Failure> {
        if std::fs::symlink_metadata(path).is_ok() {
            let message = format!("{path}: it is there already; `table.load` goes on with a campaign");
            return Err(Failure::File { message });
        }
        let store = Store::open(path, library)?;
        let name = Path::new(path).file_stem().map_or("table".into(), |name| name.to_string_lossy());
        let mut campaign = store.create(&allowed_name(&name))?;
        let title = session.ruleset().title().to_owned();
        match whole {
            Some(whole) => campaign.adopt_whole(whole, session, &title)?,
            None => {
                campaign.adopt(session, &title)?;
                campaign.keep(session)?;
            }
        }
        Ok(Keeper { campaign })
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
