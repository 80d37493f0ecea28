//! The rulesets of a folder as they were in a git revision.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use riskbreaker::Library;

use super::call_error;

/// A copy of the rulesets in a temporary folder, which is removed on drop.
pub struct Revision {
    copy: PathBuf,
}

impl Revision {
    /// Extracts the rulesets of `folder` from a revision. `None` if `folder` is in no git repository, or if the
    /// repository has no such revision.
    pub fn find(folder: &Path, revision: &str) -> Result<Option<Revision>> {
        let commit = format!("{revision}^{{commit}}");
        if revision.starts_with('-') || git(folder, &["rev-parse", "--verify", "--quiet", &commit], None).is_err() {
            return Ok(None);
        }
        let top = git(folder, &["rev-parse", "--show-toplevel"], None)?;
        let inside = git(folder, &["rev-parse", "--show-prefix"], None)?;
        let inside = inside.trim_end_matches('/');
        let number = std::process::id();
        let copy = std::env::temp_dir().join(format!("riskbreaker-{number}-{}", revision.replace(['/', '\\'], "-")));
        std::fs::create_dir_all(&copy).with_context(|| format!("cannot write to {}", copy.display()))?;
        let made = Revision { copy };
        let index = made.copy.join("index");
        let tree = format!("{revision}:{inside}");
        git(Path::new(&top), &["read-tree", &tree], Some(&index))
            .map_err(|_| call_error(format!("the revision `{revision}` has no folder `{inside}`")))?;
        let target = format!("{}/", made.folder().display());
        git(Path::new(&top), &["checkout-index", "--all", "--force", &format!("--prefix={target}")], Some(&index))?;
        Ok(Some(made))
    }

    /// The folder that holds the rulesets.
    pub fn folder(&self) -> PathBuf {
        self.copy.join(Library::FOLDER)
    }
}

impl Drop for Revision {
    fn drop(&mut self) {
        // A leftover temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.copy);
    }
}

/// Runs git in a folder and returns the first line of its output.
fn git(folder: &Path, args: &[&str], index: Option<&Path>) -> Result<String> {
    let mut call = Command::new("git");
    call.arg("-C").arg(folder).args(args);
    if let Some(index) = index {
        call.env("GIT_INDEX_FILE", index);
    }
    let output = call.output().context("cannot run git")?;
    if !output.status.success() {
        anyhow::bail!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
