use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::lab::Findings;

use super::{call_error, sim};

/// Puts the shards of a simulation together
#[derive(clap::Args)]
pub struct Args {
    /// What `sim --shard I/N --save FILE` has written: every shard once
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    output: sim::Output,
}

pub fn merge(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let (mut parts, mut played_from) = (Vec::new(), None);
    for path in &args.files {
        let (part, folder) = sim::read(path)?;
        played_from = played_from.or(folder);
        parts.push((path.display().to_string(), part));
    }
    let folder = folder.or(played_from);
    let whole = Findings::merge(parts).map_err(|error| call_error(error.to_string()))?;
    sim::show(&whole, &args.output, folder.as_deref())
}
