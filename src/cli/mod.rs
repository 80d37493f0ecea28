//! The command line program: its commands, and the prompt for games.

mod call;
mod campaigns;
mod cards;
mod check;
mod compare;
mod dev;
mod edition;
mod explain;
mod export;
mod figures;
mod file;
mod games;
mod go_on;
mod interrupt;
mod known_entries;
mod library;
mod lsp;
mod merge;
mod meter;
mod migration;
mod new;
mod notify;
mod odds;
mod packages;
mod page;
mod pager;
mod play;
pub mod program;
mod recap;
mod reference;
mod repl;
mod replay;
mod report;
mod revision;
mod roll;
mod row;
mod rule_text;
mod rules;
mod ruleset_path;
mod run;
mod screen;
mod serve;
mod shard;
mod sim;
mod study;
mod swept;
mod table;
mod tallies;
mod test;
mod tune;
mod types;
mod unnamed;
mod verify;

use std::path::PathBuf;

/// A wrong call. The exit code is 2 instead of 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct CallError(String);

/// Creates a call error.
pub fn call_error(message: impl Into<String>) -> anyhow::Error {
    CallError(message.into()).into()
}

/// Parses a whole number of the command line.
fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let least = if "-1".parse::<T>().is_err() { " from 0 upwards" } else { "" };
    text.parse().map_err(|_| format!("write a whole number{least}"))
}

/// Parses a whole number above zero of the command line.
fn least_one(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a whole number from 1 upwards".to_owned())
}

/// The folder for private files of the program, such as the history of the prompt.
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", "state")
}

/// The folder for the user's data that other programs may read, such as added rulesets.
pub fn data_folder() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", "share")
}

/// A folder of the user: that of an environment variable, else the default below `~/.local`. `None` if the system names
/// none.
fn user_folder(variable: &str, below_local: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return folder("LOCALAPPDATA");
    }
    folder(variable).or_else(|| folder("HOME").map(|home| home.join(".local").join(below_local)))
}
