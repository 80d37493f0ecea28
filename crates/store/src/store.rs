//! A store: the campaigns of a file.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::{StoreFile, lock};
use super::opening::Access;
use super::rows::GameRow;
use super::verify::Verification;
use super::{date, name};
use riskbreaker_ruleset::{Library, instead};
/// A file with any number of campaigns.
#[derive(Clone)]
pub struct Store {
    pub(super) file: Arc<Mutex<StoreFile>>,
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

    fn of_file(file: StoreFile) -> Store {
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
                let instead = instead(name, names.iter().map(String::as_str)).to_string();
                Err(StoreError::Unknown { name: name.to_owned(), instead })
            }
        }
    }

    /// The first campaign of the file; a file made by the program has no others.
    pub fn first(&self) -> Result<Option<Campaign>, StoreError> {
        let first = lock(&self.file).games()?.first().copied();
        first.map(|id| Campaign::open(&self.file, id)).transpose()
    }
    /// Reads every row of the file on disk, verifies its checksum, and replays every entry of every campaign, including
    /// branches.
    ///
    /// # Errors
    ///
    /// The file cannot be read at all.
    pub fn verify(&self) -> Result<Verification, StoreError> {
        let (path, library) = {
            let file = lock(&self.file);
            (file.path.clone(), file.library.clone())
        };
        Verification::of(&mut StoreFile::read_unlocked(&path, library)?, true)
    }
}

fn info(row: GameRow) -> CampaignInfo {
    CampaignInfo { name: row.name, made: row.made, played: row.played, entries: row.moments }
}
