//! `export` and `import`: a campaign as text, and a campaign from text.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::Library;
use riskbreaker::ruleset::system_message;
use riskbreaker::store::Store;

use super::figures::counted;
use super::known_entries::KnownEntries;
use super::report::unwritable;
use super::row::harmless;
use super::{call_error, campaigns, file, library};

/// Writes a campaign as readable text, or as lines of JSON that `import` reads
#[derive(clap::Args)]
pub struct ExportArgs {
    /// The campaign (NAME or NAME.rbsave)
    file: String,

    /// Writes lines of JSON, with everything that the campaign holds
    #[arg(long)]
    json: bool,

    /// Writes to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Makes a campaign of the lines of JSON that `export --json` wrote, or adds what another copy of a campaign has
#[derive(clap::Args)]
pub struct ImportArgs {
    /// The file with the lines, or a copy of the campaign (COPY.rbsave) that was played on elsewhere
    from: PathBuf,

    /// The new campaign (NAME or NAME.rbsave), or the one that gets the entries of the copy as branches
    file: String,
}

pub fn export(args: &ExportArgs, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let mut campaign = campaigns::read(&campaigns::file_of(&args.file), &library)?;
    let mut write = |to: &mut dyn Write| if args.json { campaign.export(to) } else { campaign.story(to) };
    match &args.out {
        Some(path) if path.extension().is_some_and(|ending| ending == campaigns::ENDING) => {
            return Err(call_error(format!(
                "{} would be text with the name of a campaign; give `--out` another name",
                path.display()
            )));
        }
        // The file is written whole or not at all, even if the program is stopped.
        Some(path) => {
            let mut text = Vec::new();
            write(&mut text)?;
            file::replace(path, text).map_err(|error| unwritable(path, &error))?;
        }
        None if args.json => {
            let mut to = BufWriter::new(std::io::stdout().lock());
            write(&mut to)?;
            to.flush()?;
        }
        None => {
            let mut text = Vec::new();
            write(&mut text)?;
            let mut to = BufWriter::new(std::io::stdout().lock());
            for line in String::from_utf8_lossy(&text).lines() {
                writeln!(to, "{}", harmless(line))?;
            }
            to.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn import(args: &ImportArgs, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let path = campaigns::file_of(&args.file);
    if args.from.extension().is_some_and(|ending| ending == campaigns::ENDING) {
        return import_copy(&args.from, &path, &library);
    }
    if path.exists() {
        return Err(call_error(format!("{} exists already", path.display())));
    }
    let from = File::open(&args.from)
        .map_err(|error| call_error(format!("{}: {}", args.from.display(), system_message(&error))))?;
    // The file is renamed when it is complete, so that an interrupted import leaves no campaign.
    let beside = |ending: &str| {
        let mut name = path.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let part = beside("-importing");
    for left in [part.clone(), beside("-importing-journal")] {
        let _ = std::fs::remove_file(left);
    }
    let entries = Store::open(&part, &library)?.import(BufReader::new(from)).map(|campaign| campaign.entries());
    match entries {
        Ok(entries) => {
            std::fs::rename(&part, &path)
                .map_err(|error| call_error(format!("{}: {}", path.display(), system_message(&error))))?;
            println!("{} has {entries} entries; `riskbreaker play {}` continues it", path.display(), args.file);
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            let _ = std::fs::remove_file(&part);
            Err(anyhow::anyhow!("{}: {error}", args.from.display()))
        }
    }
}

/// Adds the entries of a copy to a campaign, as branches.
fn import_copy(from: &Path, path: &Path, library: &Library) -> Result<ExitCode> {
    let copy = campaigns::read(from, library)?;
    if let Some(wrong) = campaigns::no_file(path) {
        return Err(call_error(format!("{}: {wrong}; copy {} there to play it", path.display(), from.display())));
    }
    let mut campaign = campaigns::open(path, library)?;
    let added = campaign.add_branches_of(&copy).with_context(|| from.display().to_string())?;
    // The entries of the copy have other numbers here, so the known ones are recorded anew from this file.
    if let Some(mut known) = KnownEntries::of(&campaign) {
        known.start_over(&campaign);
    }
    let name = path.with_extension("");
    let added = counted(added, "entry", "entries");
    println!("{} has {added} more; `log --all` in `riskbreaker play {}` lists them", path.display(), name.display());
    Ok(ExitCode::SUCCESS)
}
