use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::check::derived_types;
use riskbreaker::script::{reference_page, ruleset_reference};

use super::screen::Screen;
use super::{call_error, check, library};

/// Prints the reference of a ruleset in Markdown: its verbs with their parameters, kinds, house rules and names
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder; without one, the reference of the vocabulary `rb` is printed
    ruleset: Option<PathBuf>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,
}

pub fn reference(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let text = match args.ruleset {
        None => reference_page(),
        Some(ruleset) => {
            let (library, ids) = check::chosen(Some(ruleset), folder)?;
            let [id] = ids.as_slice() else {
                return Err(call_error(format!("name one ruleset; there are {}", ids.join(", "))));
            };
            let rules = library::load(&library, &library.ways_to_play(id)[0], &args.layers)?;
            ruleset_reference(&rules, &derived_types(&rules))
        }
    };
    Screen::stdout(false).verbatim(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
