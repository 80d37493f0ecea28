//! The rules of a saved game: what they differ in from those of a library, each text once and by its hash.
//!
//! A game that changed its rules needs those that it began by, too. A library has most of their files. So each version of a ruleset
//! is saved as its difference from the last version that the game knows of the same ruleset, which is the one on the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Saved, Stacked, apply};
use crate::play::action::Cause;
use crate::play::reload::{Patch, patch_of_files};
use crate::play::{Engine, Machines, Ruleset, StartError};
use crate::ruleset::{ContentHash, Library};

type Files = BTreeMap<Arc<str>, Arc<str>>;

/// The rules that a game began by, where others came into force since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FirstChanges {
    /// The hash of these rules.
    pub hash: String,
    /// Their difference from the last version of the same ruleset, with hashes for texts.
    files: Patch,
}

/// Texts by their hash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Sources {
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

impl Saved {
    /// Reduces the files of rules to what a library may not have. `now` are the rules in force, `first_hash` is the hash of those
    /// that the game began by.
    pub(super) fn reduce_sources(&mut self, now: &Ruleset, first_hash: Option<String>) {
        // The last version of each ruleset, and the files behind each change of rules.
        let mut latest: Vec<(Stacked, Files)> = Vec::new();
        let mut know = |stacked: &Stacked, files: &Files| match latest.iter_mut().find(|(known, _)| known == stacked) {
            Some((_, last)) => last.clone_from(files),
            None => latest.push((stacked.clone(), files.clone())),
        };
        let mut stacked = self.began();
        let mut files = self.first.clone().unwrap_or_else(|| now.files());
        know(&stacked, &files);
        for done in &self.done {
            let Some(patch) = done.cause.files() else { continue };
            apply(&mut files, patch);
            if let Cause::Rules { ruleset, layers, .. } = &done.cause {
                stacked = Stacked { ruleset: ruleset.clone(), layers: layers.clone() };
            }
            know(&stacked, &files);
        }
        let in_force = files;
        for rules in self.asked_before.iter().chain(&self.pending).filter_map(|asked| asked.rules.as_ref()) {
            let mut files = in_force.clone();
            apply(&mut files, &rules.files);
            // What waits is no newer than what is in force of the same ruleset.
            if rules.stacked != stacked {
                know(&rules.stacked, &files);
            }
        }
        let base = |stacked: &Stacked| {
            latest.iter().find(|(known, _)| known == stacked).map(|(_, files)| files.clone()).unwrap_or_default()
        };
        let mut sources = Sources::default();
        let reduced = |sources: &mut Sources, stacked: &Stacked, files: &Files| {
            let mut patch = patch_of_files(base(stacked), files.clone());
            sources.take(&mut patch);
            patch
        };
        let began = self.began();
        let mut files = match self.first.take() {
            Some(first) => {
                let hash = first_hash.unwrap_or_default();
                self.first_changes = Some(FirstChanges { hash, files: reduced(&mut sources, &began, &first) });
                first
            }
            None => now.files(),
        };
        for rules in self.asked_before.iter_mut().chain(&mut self.pending).filter_map(|asked| asked.rules.as_mut()) {
            let mut asked = in_force.clone();
            apply(&mut asked, &rules.files);
            rules.files = reduced(&mut sources, &rules.stacked, &asked);
        }
        for done in &mut self.done {
            match &mut done.cause {
                Cause::Rules { ruleset, layers, files: patch, .. } => {
                    apply(&mut files, patch);
                    *patch =
                        reduced(&mut sources, &Stacked { ruleset: ruleset.clone(), layers: layers.clone() }, &files);
                }
                Cause::Reload { files: patch, .. } => {
                    apply(&mut files, patch);
                    sources.take(patch);
                }
                _ => {}
            }
        }
        self.sources = sources;
    }

    /// Reverses [`Saved::reduce_sources`] with the files of a library.
    ///
    /// # Errors
    ///
    /// A ruleset cannot be loaded; a text is missing.
    pub(super) fn complete_sources(
        &mut self,
        engine: &'static dyn Engine,
        library: &Library,
    ) -> Result<(), StartError> {
        let base = |stacked: &Stacked| -> Result<Files, StartError> {
            let Stacked { ruleset, layers } = stacked;
            Ok(Ruleset::find_or_load(engine, Machines::default(), library, ruleset, layers)?.files())
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
            match &mut done.cause {
                Cause::Rules { ruleset, layers, files: patch, .. } => {
                    let new = completed(&Stacked { ruleset: ruleset.clone(), layers: layers.clone() }, patch)?;
                    *patch = patch_of_files(std::mem::replace(&mut files, new.clone()), new);
                }
                Cause::Reload { files: patch, .. } => {
                    sources.put_back(patch)?;
                    apply(&mut files, patch);
                }
                _ => {}
            }
        }
        for rules in self.asked_before.iter_mut().chain(&mut self.pending).filter_map(|asked| asked.rules.as_mut()) {
            let asked = completed(&rules.stacked, &mut rules.files)?;
            rules.files = patch_of_files(files.clone(), asked);
        }
        Ok(())
    }
}
