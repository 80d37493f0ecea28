//! Campaigns on the disk: where they are, the one that was played last, and their list.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::Library;
use riskbreaker::store::{Campaign, Store, StoreError, allowed_name};
use serde_json::json;

use super::figures::counted;
use super::row::{Row, Span};
use super::screen::Screen;
use super::{call_error, library, state_folder, unnamed};

/// The extension of a campaign file.
pub const ENDING: &str = "rbsave";

/// The number of recent campaigns that are remembered.
const MOST_REMEMBERED: usize = 20;

/// Lists campaigns: those in this folder, and those that were played last
#[derive(clap::Args)]
pub struct Args {
    /// Writes one JSON object per campaign
    #[arg(long)]
    json: bool,
}

/// Returns the campaign file that a name means: `evening` is `evening.rbsave` in the current folder.
pub fn file_of(name: &str) -> PathBuf {
    let path = Path::new(name);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(ENDING) => path.to_path_buf(),
        _ => PathBuf::from(format!("{name}.{ENDING}")),
    }
}

/// Returns the name of a campaign from its file.
pub fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Opens the campaign in a file, creating it if there is none.
pub fn open(path: &Path, library: &Library) -> Result<Campaign, StoreError> {
    let store = Store::open(path, library)?;
    match store.first()? {
        Some(campaign) => Ok(campaign),
        None => store.create(&allowed_name(&name_of(path))),
    }
}

/// Names the kind of a path that is not a file, such as a folder; `None` for a file.
pub fn no_file(path: &Path) -> Option<&'static str> {
    match (path.metadata(), path.is_symlink()) {
        (Ok(found), _) if found.is_file() => None,
        (Ok(found), _) if found.is_dir() => Some("it is a folder, not the file of a campaign"),
        (Ok(_), _) => Some("it is no regular file"),
        (Err(_), true) => Some("it is a link that leads nowhere"),
        (Err(_), false) => Some("there is no such file"),
    }
}

/// Opens the campaign in a file for reading.
pub fn read(path: &Path, library: &Library) -> Result<Campaign> {
    if let Some(wrong) = no_file(path) {
        return Err(call_error(format!("{}: {wrong}; `riskbreaker campaigns` lists campaigns", path.display())));
    }
    let store = Store::read(path, library)?;
    store.first()?.ok_or_else(|| anyhow::anyhow!("{} holds no campaign", path.display()))
}

/// Records a campaign as the last one played.
pub fn remember(path: &Path) {
    if unnamed::is_unnamed(path) {
        return;
    }
    let Ok(path) = fs::canonicalize(path) else { return };
    let Some(list) = list_file() else { return };
    let mut paths = remembered();
    paths.retain(|known| *known != path);
    paths.insert(0, path);
    paths.truncate(MOST_REMEMBERED);
    let lines: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    // The list is a convenience, so errors are ignored.
    let _ = super::file::replace(&list, lines);
}

/// Returns the recent campaigns whose files still exist, the last one first.
pub fn remembered() -> Vec<PathBuf> {
    let text = list_file().and_then(|list| fs::read_to_string(list).ok()).unwrap_or_default();
    text.lines().map(PathBuf::from).filter(|path| path.is_file()).collect()
}

fn list_file() -> Option<PathBuf> {
    let folder = state_folder()?.join("riskbreaker");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("campaigns"))
}

/// Returns the campaign files in the current folder, by name.
pub fn here() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(".").into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            paths.push(path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path));
        }
    }
    paths.sort();
    paths
}

pub fn campaigns(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let mut paths = here();
    let here: Vec<PathBuf> = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    paths.extend(remembered().into_iter().filter(|path| !here.contains(path)));
    let mut screen = Screen::stdout(args.json);
    if paths.is_empty() && !args.json {
        screen.row(&Row::at(0).faint("There are no campaigns here. `riskbreaker play NAME` begins one."))?;
    }
    let mut cells = Vec::new();
    for path in paths {
        let found = Store::read(&path, &library).and_then(|store| store.campaigns());
        match found {
            Ok(infos) => {
                for info in infos {
                    if args.json {
                        screen.event("campaign", &json!({ "file": path.display().to_string(), "campaign": info }))?;
                    }
                    cells.push(vec![
                        Span::strong(path.display().to_string()),
                        Span::plain(counted(info.entries, "entry", "entries")),
                        Span::plain(format!("played {} UTC", info.played.get(..16).unwrap_or(&info.played))),
                    ]);
                }
            }
            Err(error) => {
                let said = match &error {
                    StoreError::Held { holder, .. } => format!("is being played by {holder}"),
                    other => other.to_string(),
                };
                if args.json {
                    screen.event("campaign", &json!({ "file": path.display().to_string(), "error": said }))?;
                }
                cells.push(vec![Span::strong(path.display().to_string()), Span::plain(said), Span::plain("")]);
            }
        }
    }
    if !args.json {
        screen.columns(0, cells)?;
    }
    Ok(ExitCode::SUCCESS)
}
