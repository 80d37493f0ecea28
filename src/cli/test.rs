use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

/// Runs the specs of rulesets
#[derive(clap::Args)]
pub struct Args {
    /// The ruleset; all that are found if none is named
    ruleset: Option<String>,
}

pub fn test(_: Args, _: Option<PathBuf>) -> Result<ExitCode> {
    anyhow::bail!("not there yet")
}
