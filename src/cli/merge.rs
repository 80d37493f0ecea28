use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::shard::ReportForm;
use super::study::part;
use super::{call_error, sim};
use riskbreaker::lab::{Findings, SimulationError};

/// Puts the shards of a simulation or of a study together
#[derive(clap::Args)]
pub struct Args {
    /// What `sim --shard I/N --save FILE` or `study` has written: every trial once, also from different splits
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<PathBuf>,

    /// Shows what is known although trials are missing
    #[arg(long)]
    partial: bool,

    #[command(flatten)]
    output: ReportForm,
}

pub fn merge(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if args.files.iter().any(|path| part::is_part(path)) {
        return part::merge(&args.files, args.partial, &args.output, folder.as_deref());
    }
    let (mut parts, mut played_from) = (Vec::new(), None);
    for path in &args.files {
        let (part, folder) = sim::read(path)?;
        played_from = played_from.or(folder);
        parts.push((path.display().to_string(), part));
    }
    let folder = folder.or(played_from);
    let refused = |error: SimulationError| call_error(error.to_string());
    if !args.partial {
        let whole = Findings::merge(parts).map_err(refused)?;
        return sim::show(&whole, &args.output, folder.as_deref());
    }
    let (known, missing) = Findings::merge_known(parts).map_err(refused)?;
    let code = sim::show(&known, &args.output, folder.as_deref())?;
    if let Some(trials) = missing {
        eprintln!("missing: trials {trials}");
    }
    Ok(code)
}
