//! Writes games without an end as failing specs: `study --specs DIR`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use riskbreaker::lab::Study;
use riskbreaker::spec::spec_of_unended;

use super::super::report::unwritable;
use super::super::{call_error, file};
use super::job::StudyJob;
use super::parts::StudyFindings;

/// Most specs that one call writes.
const MOST: usize = 20;
/// A spec plays an endless game as far as this, in actions.
const LONGEST: u64 = 500;

/// Writes a spec for each endless and each stuck game, in the order of the trials. Returns the files.
///
/// # Errors
///
/// A folder that cannot be made, a file that cannot be written, or a game that cannot be played again.
pub fn write(asked: &StudyJob, found: &StudyFindings, folder: &Path) -> Result<Vec<PathBuf>> {
    let figures = &found.figures;
    let longest = LONGEST.min(asked.study.actions);
    let endless =
        figures.endless.iter().map(|trial| (*trial, "endless", format!("has not ended after {longest} actions")));
    let stuck =
        figures.stuck.iter().map(|trial| (*trial, "stuck", "stops at a question without an open answer".to_owned()));
    let mut wanted: Vec<(u64, &str, String)> = endless.chain(stuck).collect();
    wanted.sort_unstable();
    wanted.truncate(MOST);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut files = Vec::new();
    for (trial, kind, what) in wanted {
        let study = Study { actions: longest, ..asked.study.clone() };
        let played = study.session(trial).map_err(|error| call_error(error.to_string()))?;
        let name = format!("{}: trial {trial} of seed {} {what}", asked.scenario, asked.study.seed);
        let path = folder.join(format!("{kind}_{trial}.luau"));
        file::replace(&path, spec_of_unended(&played, &name).as_bytes()).map_err(|error| unwritable(&path, &error))?;
        files.push(path);
    }
    Ok(files)
}
