//! Unnamed games: at a terminal, each game is a campaign in the state folder from its first line.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use riskbreaker::store::{Campaign, Store, StoreError};
use riskbreaker::{Library, Session};

use super::campaigns::ENDING;
use super::figures::counted;
use super::state_folder;

/// The number of unnamed games that are kept, the newest ones.
const MOST_KEPT: usize = 20;

/// The name of an unnamed game in its campaign file.
const NAME: &str = "unnamed";

/// The extension of a copy of an unsaved game by versions up to 0.1.
const COPY: &str = "json";

/// An unnamed game.
pub struct UnnamedGame {
    pub path: PathBuf,
    /// The rules, the scene and the position, or the reason why it cannot be continued.
    about: String,
    /// The time of its last line.
    left: SystemTime,
}

/// The folder of the unnamed games; `None` if the system names no state folder.
fn folder() -> Option<PathBuf> {
    Some(state_folder()?.join("riskbreaker").join("games"))
}

/// True if a file is that of an unnamed game.
pub fn is_unnamed(path: &Path) -> bool {
    folder().is_some_and(|folder| path.parent() == Some(&folder))
}

/// Stores a game that was just started or loaded as an unnamed campaign. Removes the oldest games.
///
/// # Errors
///
/// Why it is not stored, for a person.
pub fn begin(library: &Library, session: &mut Session, title: &str) -> Result<(Campaign, PathBuf), String> {
    let folder = folder().ok_or("the system names no folder for it")?;
    fs::create_dir_all(&folder).map_err(|error| riskbreaker::ruleset::system_message(&error))?;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let named = |number: u32| folder.join(format!("{since}-{}-{number}.{ENDING}", std::process::id()));
    let path = (0..).map(named).find(|path| !path.exists()).ok_or("its folder is full")?;
    let kept = (|| {
        let mut campaign = Store::open(&path, library)?.create(NAME)?;
        campaign.adopt(session, title)?;
        campaign.keep(session)?;
        Ok(campaign)
    })();
    let campaign = kept.map_err(|error: StoreError| {
        remove(&path);
        error.to_string()
    })?;
    prune(library);
    Ok((campaign, path))
}

/// Removes an unnamed game.
pub fn remove(path: &Path) {
    for beside in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

/// The files of all unnamed games, the last played first.
pub fn files() -> Vec<PathBuf> {
    let copies = state_folder().map(|folder| folder.join("riskbreaker").join("unsaved"));
    let of = |folder: Option<PathBuf>, ending: &'static str| {
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(move |path| path.extension().is_some_and(|own| own == ending))
    };
    let mut files: Vec<(SystemTime, PathBuf)> =
        of(folder(), ENDING).chain(of(copies, COPY)).map(|path| (left(&path), path)).collect();
    files.sort_by(|one, other| other.cmp(one));
    files.into_iter().map(|(_, path)| path).collect()
}

/// True if it is a copy by an earlier version.
pub fn is_copy(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == COPY)
}

/// The time of the last write to a file.
pub fn left(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The unnamed games, the last played first.
pub fn games(library: &Library) -> Vec<UnnamedGame> {
    let described = |path: PathBuf| UnnamedGame { about: about(&path, library), left: left(&path), path };
    files().into_iter().map(described).collect()
}

fn about(path: &Path, library: &Library) -> String {
    if is_copy(path) {
        return "a copy that an earlier version kept".into();
    }
    let found = Store::read(path, library).and_then(|store| store.first()).and_then(|campaign| {
        let Some(mut campaign) = campaign.filter(Campaign::has_scene) else { return Ok("nothing was played".into()) };
        let title = campaign.scene_title()?;
        let mut session = campaign.session()?;
        let parts = [session.ruleset().name(), title, session.prompt()];
        Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))
    });
    found.unwrap_or_else(|error: StoreError| match error {
        StoreError::Held { holder, .. } => format!("is being played by {holder}"),
        error => error.to_string(),
    })
}

/// Removes the oldest games, except those that are being played.
fn prune(library: &Library) {
    let games: Vec<PathBuf> = files().into_iter().filter(|path| !is_copy(path)).collect();
    for old in games.iter().skip(MOST_KEPT) {
        match Store::open(old, library) {
            Err(StoreError::Held { .. }) => {}
            opened => {
                drop(opened);
                remove(old);
            }
        }
    }
}

/// The time since a moment, in words.
pub fn ago(moment: SystemTime) -> String {
    let minutes = moment.elapsed().unwrap_or(Duration::ZERO).as_secs() / 60;
    match minutes {
        0 => "a moment ago".into(),
        1..60 => format!("{} ago", counted(minutes, "minute", "minutes")),
        60..2880 => format!("{} ago", counted(minutes / 60, "hour", "hours")),
        _ => format!("{} ago", counted(minutes / 1440, "day", "days")),
    }
}

impl fmt::Display for UnnamedGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", self.about, ago(self.left))
    }
}
