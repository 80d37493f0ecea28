//! The two places where rulesets are added: the current folder, and the user's.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use riskbreaker::Library;

use super::lock::{Locked, PackageLock};
use super::package::Package;
use super::signature::AuthorKey;
use crate::cli::{call_error, data_folder};

/// A folder of rulesets with its lock.
#[derive(Debug)]
pub struct InstallRoot {
    /// Holds the folder of rulesets, the lock and the previous versions.
    root: PathBuf,
}

/// The user's folder of rulesets; `None` if the system names no folder for data.
pub fn user_folder() -> Option<PathBuf> {
    user_root().map(|root| root.join(Library::FOLDER))
}

fn user_root() -> Option<PathBuf> {
    data_folder().map(|data| data.join("riskbreaker"))
}

impl InstallRoot {
    pub fn find(user: bool) -> Result<InstallRoot> {
        let root = if user {
            user_root().ok_or_else(|| call_error("this system names no folder for your data"))?
        } else {
            PathBuf::new()
        };
        Ok(InstallRoot { root })
    }

    /// All places: the current folder, and the user's if there is one.
    pub fn all() -> Vec<InstallRoot> {
        [false, true].into_iter().filter_map(|user| InstallRoot::find(user).ok()).collect()
    }

    /// The folder of a ruleset, which may not exist.
    pub fn folder_of(&self, id: &str) -> PathBuf {
        self.rulesets().join(id)
    }

    pub fn rulesets(&self) -> PathBuf {
        self.root.join(Library::FOLDER)
    }

    /// The folder of rulesets as text for a message.
    pub fn told(&self) -> String {
        let folder = self.rulesets();
        if folder.is_relative() { format!("./{}", folder.display()) } else { folder.display().to_string() }
    }

    pub fn lock(&self) -> Result<PackageLock> {
        PackageLock::read(&self.lock_path())
    }

    pub fn lock_path(&self) -> PathBuf {
        self.root.join(PackageLock::FILE)
    }

    /// The folder of the version before an update.
    pub fn previous(&self, id: &str) -> PathBuf {
        self.root.join(".riskbreaker").join("previous").join(id)
    }

    /// The installed ruleset with its present files; `None` if it has no folder.
    pub fn present(&self, id: &str) -> Result<Option<Package>> {
        let folder = self.folder_of(id);
        if !folder.is_dir() {
            return Ok(None);
        }
        let names = self.lock()?.rulesets.remove(id).map(|locked| locked.names).unwrap_or_default();
        Ok(Some(Package { names, ..Package::of_folder(&folder, None)?.called(id)? }))
    }

    /// Installs a package by one rename, and writes the lock. Keeps an installed version as the previous one.
    pub fn put(&self, package: &Package, locked: Locked) -> Result<()> {
        let folder = self.folder_of(&package.id);
        let staging = self.root.join(".riskbreaker").join(format!("staging-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&staging);
        std::fs::create_dir_all(&staging).with_context(|| format!("cannot make the folder {}", staging.display()))?;
        let replaces = folder.exists();
        let put = (|| {
            let ready = staging.join(&package.id);
            package.write(&ready)?;
            std::fs::create_dir_all(self.rulesets())?;
            if replaces {
                keep(&folder, &self.previous(&package.id))?;
            }
            std::fs::rename(&ready, &folder).with_context(|| format!("cannot write {}", folder.display()))
        })();
        let _ = std::fs::remove_dir_all(&staging);
        // This fails and leaves the folder if it holds previous versions.
        let _ = std::fs::remove_dir(self.root.join(".riskbreaker"));
        put?;
        let mut lock = self.lock()?;
        match lock.rulesets.insert(package.id.clone(), locked).filter(|_| replaces) {
            Some(before) => drop(lock.previous.insert(package.id.clone(), before)),
            None => drop(lock.previous.remove(&package.id)),
        }
        lock.write(&self.lock_path())
    }

    /// Pins the key of an author: the ruleset must then be signed with it.
    pub fn pin(&self, id: &str, key: &AuthorKey) -> Result<()> {
        let mut lock = self.lock()?;
        lock.keys.insert(id.to_owned(), key.line());
        lock.write(&self.lock_path())
    }

    /// Removes a ruleset, keeping it as the previous version.
    pub fn take_away(&self, id: &str) -> Result<()> {
        let folder = self.folder_of(id);
        if folder.exists() {
            keep(&folder, &self.previous(id))?;
        }
        let mut lock = self.lock()?;
        if let Some(before) = lock.rulesets.remove(id) {
            lock.previous.insert(id.to_owned(), before);
        }
        lock.write(&self.lock_path())
    }
}

/// Moves a folder to the place of previous versions, replacing an older one.
fn keep(folder: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
    }
    std::fs::rename(folder, to).with_context(|| format!("cannot move {} to {}", folder.display(), to.display()))
}
