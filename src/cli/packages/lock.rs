//! `riskbreaker.lock`: which rulesets were added, from where, and with which content.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::cli::file;

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Lock {
    /// The form of the file.
    format: u32,
    /// The rulesets by id.
    #[serde(default)]
    pub rulesets: BTreeMap<String, Locked>,
}

/// A ruleset that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    pub version: String,
    /// Where it came from, as `add` takes it.
    pub source: String,
    /// The commit, if it came from a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of its files.
    pub hash: String,
}

impl Lock {
    pub const FILE: &'static str = "riskbreaker.lock";

    /// Reads the file in a folder; an empty lock if there is none.
    pub fn read(path: &Path) -> Result<Lock> {
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).with_context(|| format!("{} cannot be read", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Lock { format: 1, ..Lock::default() }),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let head =
            "# Written by `riskbreaker add`. Keep it with your rulesets: `riskbreaker add --locked` restores them.\n";
        let text = format!("{head}{}", toml::to_string(self)?);
        file::replace(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
