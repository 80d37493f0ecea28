//! The entries of campaigns that were acknowledged on this machine, stored in the state folder. A file that lacks one
//! is an older copy, or a copy that was played elsewhere.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use riskbreaker::store::Campaign;

use super::state_folder;

/// The acknowledged entries of one campaign.
pub struct KnownEntries {
    path: PathBuf,
    /// The identity of the campaign.
    identity: String,
    /// The checksums of its entries, from entry 1 on.
    known: Vec<i64>,
    /// The list of an earlier version, if there is no current one. It has the checksums of rows.
    earlier: Option<PathBuf>,
}

fn read(path: &Path) -> Option<Vec<i64>> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().map_while(|line| u64::from_str_radix(line, 16).ok().map(u64::cast_signed)).collect())
}

impl KnownEntries {
    /// Reads the known entries of a campaign; `None` if it has no identity yet, or if there is no state folder.
    pub fn of(campaign: &Campaign) -> Option<KnownEntries> {
        let identity = campaign.identity()?.to_owned();
        if !identity.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let folder = state_folder()?.join("riskbreaker").join("entries");
        fs::create_dir_all(&folder).ok()?;
        let (path, earlier) = (folder.join(format!("{identity}-2")), folder.join(&identity));
        let (known, earlier) = match read(&path) {
            Some(known) => (known, None),
            None => match read(&earlier) {
                Some(known) => (known, Some(earlier)),
                None => (Vec::new(), None),
            },
        };
        Some(KnownEntries { path, identity, known, earlier })
    }

    pub fn is_of(&self, campaign: &Campaign) -> bool {
        campaign.identity() == Some(&self.identity)
    }

    /// The number of known entries.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// The number of known entries that the campaign lacks.
    pub fn missing(&self, campaign: &Campaign) -> usize {
        let there = if self.earlier.is_some() { campaign.row_sums(1) } else { campaign.entry_sums(1) };
        let lacks = |(at, sum): &(usize, &i64)| **sum != 0 && there.get(*at) != Some(*sum);
        self.known.iter().enumerate().filter(lacks).count()
    }

    /// Adds the new entries of the campaign, and replaces a list of an earlier version. Errors are ignored, since the
    /// list is not part of the game.
    pub fn note(&mut self, campaign: &Campaign) {
        if self.earlier.is_some() {
            return self.start_over(campaign);
        }
        let first = u32::try_from(self.known.len()).unwrap_or(u32::MAX).saturating_add(1);
        let new = campaign.entry_sums(first);
        if new.is_empty() {
            return;
        }
        let lines: String = new.iter().map(|sum| format!("{:016x}\n", sum.cast_unsigned())).collect();
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.path);
        if file.and_then(|mut file| file.write_all(lines.as_bytes())).is_ok() {
            self.known.extend(new);
        }
    }

    /// Forgets the entries that the campaign lacks, after the user has agreed to continue without them.
    pub fn start_over(&mut self, campaign: &Campaign) {
        for path in self.earlier.take().iter().chain([&self.path]) {
            let _ = fs::remove_file(path);
        }
        self.known.clear();
        self.note(campaign);
    }
}

/// Asks whether to continue with a file that lacks acknowledged entries, if it does. After a yes they are forgotten.
///
/// # Errors
///
/// The answer is not `yes`.
pub fn ask_about_missing(path: &Path, campaign: &Campaign) -> Result<()> {
    let Some(mut known) = KnownEntries::of(campaign) else { return Ok(()) };
    let missing = known.missing(campaign);
    if missing > 0 {
        agree_to_go_on(path, missing, known.count())?;
        known.start_over(campaign);
    }
    Ok(())
}

/// Asks whether to continue with a file that lacks entries.
///
/// # Errors
///
/// The answer is not `yes`.
fn agree_to_go_on(path: &Path, missing: usize, known: usize) -> Result<()> {
    let name = path.with_extension("");
    eprintln!(
        "{} lacks {missing} of the {known} entries that were stored here: it is an older copy, or one that was played on elsewhere. \
         If another copy has them, `riskbreaker import COPY.rbsave {}` adds them as a branch.\nType yes to continue without them:",
        path.display(),
        name.display()
    );
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    match line.trim().eq_ignore_ascii_case("yes") {
        true => Ok(()),
        false => Err(anyhow::anyhow!("{} is as it was; nothing was played", path.display())),
    }
}
