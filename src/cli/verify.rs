//! The commands `verify` and `recover`: check whether a file is complete, and save what can be read of a damaged one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::store::{Store, StoreError, recover as recover_file};
use serde_json::json;

use super::figures::counted;
use super::row::Row;
use super::screen::Screen;
use super::{call_error, campaigns, library};

/// Reads the whole file of a campaign and tells what is damaged
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// The campaign (NAME or NAME.rbsave)
    file: String,

    /// Writes one JSON object
    #[arg(long)]
    json: bool,
}

/// Saves what can be read of the damaged file of a campaign; the damaged file is kept
#[derive(clap::Args)]
pub struct RecoverArgs {
    /// The campaign (NAME or NAME.rbsave)
    file: String,
}

pub fn verify(args: &VerifyArgs, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let path = campaigns::file_of(&args.file);
    if let Some(wrong) = campaigns::no_file(&path) {
        return Err(call_error(format!("{}: {wrong}", path.display())));
    }
    let mut screen = Screen::stdout(args.json);
    let found = match Store::read(&path, &library).and_then(|store| store.verify()) {
        Ok(found) => found,
        Err(StoreError::Damaged { what }) => {
            riskbreaker::store::Verification { problems: vec![what], ..Default::default() }
        }
        Err(other) => return Err(other.into()),
    };
    if args.json {
        screen.event("verified", &json!({ "found": found }))?;
    } else if found.problems.is_empty() {
        screen.row(&Row::at(0).plain(format!(
            "{} is whole: {}, {}, {}, {}.",
            path.display(),
            counted(found.entries, "entry", "entries"),
            counted(found.actions, "action", "actions"),
            counted(found.checkpoints, "checkpoint", "checkpoints"),
            counted(found.rules, "state of the rules", "states of the rules")
        )))?;
    }
    if found.problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let told: Vec<&str> = found.problems.iter().map(String::as_str).take(10).collect();
    Err(anyhow::anyhow!(
        "{} is damaged: {}; `riskbreaker recover {}` saves what can be read",
        path.display(),
        told.join("; "),
        args.file
    ))
}

pub fn recover(args: &RecoverArgs, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let path = campaigns::file_of(&args.file);
    if let Some(wrong) = campaigns::no_file(&path) {
        return Err(call_error(format!("{}: {wrong}", path.display())));
    }
    let is_whole =
        Store::read(&path, &library).and_then(|store| store.verify()).is_ok_and(|found| found.problems.is_empty());
    let recovered = recover_file(&path, &library)?;
    let mut screen = Screen::stdout(false);
    for campaign in &recovered.campaigns {
        let of =
            campaign.had.filter(|had| *had >= campaign.entries).map_or_else(String::new, |had| format!(" of {had}"));
        let stood = match campaign.stood {
            Some(stood) if stood == campaign.head => String::new(),
            Some(stood) => format!(" (it stood at {stood})"),
            None => String::new(),
        };
        screen.row(&Row::at(0).plain(format!(
            "{}: {}{of} entries saved; it stands at entry {}{stood}.",
            campaign.name, campaign.entries, campaign.head
        )))?;
    }
    for lost in &recovered.lost {
        screen.row(&Row::at(2).plain(format!("lost: {lost}")))?;
    }
    let kept = recovered.damaged.display();
    screen.row(&Row::at(0).plain(match is_whole && recovered.lost.is_empty() {
        true => format!("{} was whole: nothing was lost. The old file is kept as {kept}.", path.display()),
        false => format!("The damaged file is kept as {kept}."),
    }))?;
    Ok(ExitCode::SUCCESS)
}
