//! The file `riskbreaker.lock`: which rulesets were added, from where, and with which content.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use riskbreaker::ruleset::LockEntry;
use serde::{Deserialize, Serialize};

use super::package::{Package, is_id};
use super::signature::AuthorKey;
use crate::cli::file;
use crate::cli::row::harmless;

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PackageLock {
    /// The version of the format.
    format: u32,
    /// The public keys of authors, by the id of the ruleset that must be signed with each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, String>,
    /// The rulesets by id.
    #[serde(default)]
    pub rulesets: BTreeMap<String, Locked>,
    /// The entries before the last update or removal, for `rollback`, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub previous: BTreeMap<String, Locked>,
}

/// A ruleset that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    pub version: String,
    /// Its source, in the form that `add` takes.
    pub source: String,
    /// The commit, if it came from a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of its files.
    pub hash: String,
    /// The id in its own files, if it was added under another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The ids in its files of rulesets that were added under other names, with their ids here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
}

impl Locked {
    /// Creates the entry of a package, with the version in its manifest.
    pub fn of(package: &Package, version: &str, source: String, commit: Option<String>) -> Locked {
        let id = (package.own_id != package.id).then(|| package.own_id.clone());
        Locked { version: version.to_owned(), source, commit, hash: package.hash(), id, names: package.names.clone() }
    }

    /// The id in its own files.
    pub fn own_id<'a>(&'a self, id: &'a str) -> &'a str {
        self.id.as_deref().unwrap_or(id)
    }
}

impl PackageLock {
    pub const FILE: &'static str = LockEntry::LOCK;

    /// Reads a lock file; an empty lock if there is none.
    pub fn read(path: &Path) -> Result<PackageLock> {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let lock: PackageLock = LockEntry::read_lock(&text).map_err(|problem| anyhow::anyhow!("{problem}"))?;
                let mut ids = lock.rulesets.keys().chain(lock.previous.keys()).chain(lock.keys.keys());
                match ids.find(|id| !is_id(id)) {
                    Some(other) => {
                        anyhow::bail!(
                            "{}: `{}` is no id of a ruleset; delete its entry",
                            path.display(),
                            harmless(other)
                        )
                    }
                    None => Ok(lock),
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(PackageLock { format: 1, ..PackageLock::default() })
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// The key that a ruleset must be signed with, if one is pinned.
    ///
    /// # Errors
    ///
    /// The entry is no key.
    pub fn key_of(&self, id: &str) -> Result<Option<AuthorKey>> {
        let key = self.keys.get(id).map(|key| AuthorKey::read(key));
        key.transpose().with_context(|| format!("the key of {id} in {} cannot be read", PackageLock::FILE))
    }

    /// A lock with one ruleset, used only for its names.
    pub fn of_names(package: &Package) -> Result<String> {
        let rulesets = [(package.id.clone(), Locked::of(package, "", String::new(), None))].into();
        Ok(toml::to_string(&PackageLock { format: 1, rulesets, ..PackageLock::default() })?)
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let head =
            "# Written by `riskbreaker add`. Keep it with your rulesets: `riskbreaker add --locked` restores them.\n";
        let text = format!("{head}{}", toml::to_string(self)?);
        file::replace(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
