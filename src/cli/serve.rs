use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::play::Machines;
use riskbreaker::ruleset::system_message;
use riskbreaker::serve::{Host, schema, stdio};

use super::{call_error, library};

/// Serves games to programs in any language
#[derive(clap::Args)]
pub struct Args {
    /// Serves over standard input and output: JSON-RPC 2.0, one message per line
    #[arg(long)]
    stdio: bool,

    /// The only folder in which clients may read and write files; paths in requests are relative to it
    #[arg(long, value_name = "FOLDER", conflicts_with = "schema")]
    saves: Option<PathBuf>,

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
    let library = library::open(folder.as_deref())?;
    let host = match &args.saves {
        None => Host::on(Machines::CallersThread, library),
        Some(saves) => Host::with_saves(Machines::CallersThread, library, saves)
            .map_err(|error| call_error(format!("{}: {}", saves.display(), system_message(&error))))?,
    };
    stdio::serve(&host, io::stdin().lock(), io::stdout()).context("serving over standard input and output")?;
    Ok(ExitCode::SUCCESS)
}
