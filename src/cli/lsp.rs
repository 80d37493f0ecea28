use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::Library;

use super::{check, state_folder};

/// Serves an editor over standard input and output: the language server
#[derive(clap::Args)]
pub struct Args {
    /// Taken for editors that add it to the call of a server; this is always how it serves
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn lsp(_: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    // Standard output carries only messages.
    let open = move |around: &Path| -> Option<Library> { check::around(around, folder.as_deref()).ok() };
    let copies = state_folder().map(|folder| folder.join("riskbreaker").join("sources"));
    let asked = riskbreaker::lsp::serve(BufReader::new(io::stdin()), io::stdout(), open, copies)
        .context("serving an editor over standard input and output")?;
    Ok(if asked { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
