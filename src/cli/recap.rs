//! `recap`: the last session of a campaign as prose.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::Viewer;

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

    /// For whom: the players, or the game master (with notes, manual edits and secrets)
    #[arg(long = "for", value_name = "WHO", default_value = "players")]
    reader: Reader,
}

/// Who reads a recap.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Reader {
    /// What everybody may know
    Players,
    /// Everything
    Gm,
}

pub fn recap(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let campaign = campaigns::read(&campaigns::file_of(&args.file), &library)?;
    let mut screen = Screen::stdout(false);
    let viewer = match args.reader {
        Reader::Players => Viewer::watcher(),
        Reader::Gm => Viewer::master(),
    };
    for paragraph in if args.all { campaign.recap_all(&viewer)? } else { campaign.recap(&viewer)? } {
        screen.row(&Row::prose(0).plain(paragraph))?;
    }
    Ok(ExitCode::SUCCESS)
}
