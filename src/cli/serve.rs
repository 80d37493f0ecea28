use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::play::Machines;
use riskbreaker::serve::{Host, schema, stdio};

use super::{call_error, library};

/// Serves games to programs in any language
#[derive(clap::Args)]
pub struct Args {
    /// Serves over standard input and output: JSON-RPC 2.0, one message per line
    #[arg(long)]
    stdio: bool,

    /// Prints the JSON schema of the messages
    #[arg(long, conflicts_with = "stdio")]
    schema: bool,
}

pub fn serve(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if args.schema {
        let text = serde_json::to_string_pretty(&schema())?;
        writeln!(io::stdout(), "{text}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.stdio {
        return Err(call_error(
            "Give `--stdio` to serve over standard input and output, or `--schema` to print the messages.",
        ));
    }
    let host = Host::on(Machines::CallersThread, library::open(folder.as_deref())?);
    stdio::serve(&host, io::stdin().lock(), io::stdout()).context("serving over standard input and output")?;
    Ok(ExitCode::SUCCESS)
}
