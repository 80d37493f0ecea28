//! `recap`: the last session of a campaign as prose.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::row::Row;
use super::screen::Screen;
use super::{campaigns, library};

/// Tells the last session of a campaign
#[derive(clap::Args)]
pub struct Args {
    /// The campaign (NAME or NAME.rbsave)
    file: String,

    /// Tells the whole campaign
    #[arg(long)]
    all: bool,
}

pub fn recap(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let campaign = campaigns::read(&campaigns::file_of(&args.file), &library)?;
    let mut screen = Screen::stdout(false);
    for paragraph in if args.all { campaign.recap_all()? } else { campaign.recap()? } {
        screen.row(&Row::prose(0).plain(paragraph))?;
    }
    Ok(ExitCode::SUCCESS)
}
