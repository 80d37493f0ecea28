//! The rules in a saved game: their differences from a library, with each text stored once by its hash.
//!
//! A game that changed its rules also needs those with which it began. A library has most of their files, but maybe in
//! another version. So a file is left out only if the game knows one text of it; a file with several texts is saved
//! with all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::save::SavedGame;
use crate::game::Stacked;
use crate::model::{Patch, apply, patch_of_files};
use crate::{Cause, Ruleset, StartError};
use riskbreaker_ruleset::{ContentHash, Library};

type Files = BTreeMap<Arc<str>, Arc<str>>;

/// The rules with which a game began, if others took effect since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstChanges {
    /// The hash of these rules.
    pub hash: String,
    /// Their files that exist in several texts, by hash; `None` for a file that only other versions have.
    files: Patch,
}

/// The files with several texts in one game.
struct Varied {
    /// Paths by the folder of a ruleset.
    paths: BTreeMap<String, BTreeSet<Arc<str>>>,
}

impl Varied {
    /// Compares all versions of the rulesets that a game knows. A version counts only for the folders of which it has
    /// files.
    fn of(versions: &[Files]) -> Varied {
        /// The texts of one folder, by path.
        type Part<'f> = BTreeMap<&'f Arc<str>, &'f Arc<str>>;
        let mut folders: BTreeMap<&str, Vec<Part<'_>>> = BTreeMap::new();
        for files in versions {
            let mut parts: BTreeMap<&str, Part<'_>> = BTreeMap::new();
            for (path, text) in files {
                parts.entry(folder_of(path)).or_default().insert(path, text);
            }
            for (folder, part) in parts {
                let known = folders.entry(folder).or_default();
                if !known.contains(&part) {
                    known.push(part);
                }
            }
        }
        let mut paths: BTreeMap<String, BTreeSet<Arc<str>>> = BTreeMap::new();
        for (folder, versions) in folders {
            let all: BTreeSet<&Arc<str>> = versions.iter().flat_map(|version| version.keys().copied()).collect();
            let varies = |path: &&Arc<str>| versions.iter().any(|version| version.get(*path) != versions[0].get(*path));
            let varied: BTreeSet<Arc<str>> = all.into_iter().filter(varies).cloned().collect();
            if !varied.is_empty() {
                paths.insert(folder.to_owned(), varied);
            }
        }
        Varied { paths }
    }

    /// The files of a version of the rules that have to be saved.
    fn part_of(&self, files: &Files) -> Patch {
        let folders: BTreeSet<&str> = files.keys().map(|path| folder_of(path)).collect();
        let varied = folders.into_iter().filter_map(|folder| self.paths.get(folder)).flatten();
        varied.map(|path| (path.clone(), files.get(path).cloned())).collect()
    }
}

/// The folder of the ruleset that a file belongs to.
fn folder_of(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// Texts by their hash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sources {
    texts: BTreeMap<String, Arc<str>>,
}

impl Sources {
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Replaces the texts of a patch by their hashes.
    fn take(&mut self, patch: &mut Patch) {
        for text in patch.values_mut().flatten() {
            let hash = ContentHash::of(text.as_bytes()).to_string();
            let reference = Arc::from(&*hash);
            self.texts.insert(hash, std::mem::replace(text, reference));
        }
    }

    /// Replaces the hashes in a patch by their texts.
    fn put_back(&self, patch: &mut Patch) -> Result<(), StartError> {
        for text in patch.values_mut().flatten() {
            let found = self.texts.get(&**text);
            let missing = || StartError::Unreadable(format!("the file of rules with the hash {text} is missing in it"));
            *text = found.ok_or_else(missing)?.clone();
        }
        Ok(())
    }
}

impl SavedGame {
    /// Reduces the rule files to those that a library may not have. `now`: the rules in force; `first_hash`: the hash
    /// of those with which the game began.
    pub(crate) fn reduce_sources(&mut self, now: &Ruleset, first_hash: Option<String>) {
        let first = self.first.take().unwrap_or_else(|| now.files());
        // All versions of the rules that the game knows: the first, one after each change, and pending ones.
        let mut versions = vec![first.clone()];
        let mut files = first.clone();
        for patch in self.done.iter().filter_map(|done| done.cause.files()) {
            apply(&mut files, patch);
            versions.push(files.clone());
        }
        for rules in self.asked_before.iter().chain(&self.pending).filter_map(|asked| asked.rules.as_ref()) {
            let mut asked = files.clone();
            apply(&mut asked, &rules.files);
            versions.push(asked);
        }
        let varied = Varied::of(&versions);
        let mut sources = Sources::default();
        let mut reduced = |files: &Files| {
            let mut patch = varied.part_of(files);
            sources.take(&mut patch);
            patch
        };
        let mut versions = versions.iter();
        let changes = versions.next().map(&mut reduced).unwrap_or_default();
        if !changes.is_empty() || first_hash.is_some() {
            let hash = first_hash.unwrap_or_else(|| now.hash());
            self.first_changes = Some(FirstChanges { hash, files: changes });
        }
        for done in &mut self.done {
            let (Cause::Rules { files: patch, .. } | Cause::Reload { files: patch, .. }) = &mut done.cause else {
                continue;
            };
            *patch = versions.next().map(&mut reduced).unwrap_or_default();
        }
        for rules in self.asked_before.iter_mut().chain(&mut self.pending).filter_map(|asked| asked.rules.as_mut()) {
            rules.files = versions.next().map(&mut reduced).unwrap_or_default();
        }
        self.sources = sources;
    }

    /// Reverses [`SavedGame::reduce_sources`] with the files of a library.
    ///
    /// # Errors
    ///
    /// A ruleset cannot be loaded; a text is missing.
    pub(crate) fn complete_sources(&mut self, library: &Library) -> Result<(), StartError> {
        let base = |stacked: &Stacked| -> Result<Files, StartError> {
            let Stacked { ruleset, layers } = stacked;
            Ok(Ruleset::shared(library, ruleset, layers)?.files())
        };
        let sources = std::mem::take(&mut self.sources);
        let completed = |stacked: &Stacked, patch: &mut Patch| -> Result<Files, StartError> {
            let mut files = base(stacked)?;
            sources.put_back(patch)?;
            apply(&mut files, patch);
            Ok(files)
        };
        let began = self.began();
        let mut files = match &mut self.first_changes {
            Some(first) => {
                let files = completed(&began, &mut first.files)?;
                self.first = Some(files.clone());
                files
            }
            None => base(&began)?,
        };
        for done in &mut self.done {
            let (new, patch) = match &mut done.cause {
                Cause::Rules { ruleset, layers, files: patch, .. } => {
                    let stacked = Stacked { ruleset: ruleset.clone(), layers: layers.clone() };
                    (completed(&stacked, patch)?, patch)
                }
                Cause::Reload { files: patch, .. } => {
                    sources.put_back(patch)?;
                    let mut new = files.clone();
                    apply(&mut new, patch);
                    (new, patch)
                }
                _ => continue,
            };
            *patch = patch_of_files(std::mem::replace(&mut files, new.clone()), new);
        }
        for rules in self.asked_before.iter_mut().chain(&mut self.pending).filter_map(|asked| asked.rules.as_mut()) {
            let asked = completed(&rules.stacked, &mut rules.files)?;
            rules.files = patch_of_files(files.clone(), asked);
        }
        Ok(())
    }
}
