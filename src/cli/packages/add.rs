use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::Library;

use super::agrees;
use super::install_root::InstallRoot;
use super::lock::{Lock, Locked};
use super::preview::Preview;
use super::source::PackageSource;
use crate::cli::row::{Row, Tone};
use crate::cli::screen::Screen;
use crate::cli::{call_error, library};

/// Adds a ruleset from a file, a folder or a git repository, after showing what it changes
#[derive(clap::Args)]
pub struct AddArgs {
    /// A file such as house-1.2.0.zip, a folder, or a git repository with an optional tag and folder: `ADDRESS@TAG#FOLDER`
    #[arg(required_unless_present = "locked")]
    source: Option<String>,

    /// Agrees without being asked, for scripts
    #[arg(long)]
    yes: bool,

    /// For all folders of this user, instead of the current one
    #[arg(long)]
    user: bool,

    /// Restores what `riskbreaker.lock` lists, and refuses any other content
    #[arg(long, conflicts_with = "source")]
    locked: bool,

    /// Adds it although `check` or its specs found something
    #[arg(long)]
    force: bool,
}

/// What a package can and cannot do, printed before the question.
const SAFETY: &str = "Its scripts run in a sandbox: they see the game and its dice, but no files, no network and no other programs, \
                      and their time and memory are limited. A ruleset can still be unfair or wrong.";

pub fn add(args: &AddArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let mut screen = Screen::stdout(false);
    let Some(source) = &args.source else { return restore(&place, &mut screen) };
    let source = PackageSource::read(source)?;
    let (package, commit) = source.fetch()?;
    let library = library::open(None)?;
    if let Some(there) = where_it_is(&package.id, &library, &place)? {
        return Err(call_error(there));
    }
    let preview = Preview::of(&package, &library, None)?;
    preview.print(&mut screen)?;
    if !may_go_on(&preview, args.force) {
        return Ok(ExitCode::FAILURE);
    }
    screen.row(&Row::prose(2).faint(SAFETY))?;
    if !args.yes && !agrees(&format!("Add it to {}?", place.told()))? {
        return Ok(ExitCode::FAILURE);
    }
    let version = preview.manifest.version.clone();
    place.put(&package, Locked { version, source: source.told(), commit, hash: package.hash() })?;
    let ways = library::open(None)?.ways_to_play(&package.id);
    screen.row(&Row::at(0).with("new  ", Tone::Good).plain(place.folder_of(&package.id).display().to_string()))?;
    screen.row(
        &Row::at(2).faint(format!("play it: riskbreaker play --rules {}", ways.first().map_or("", String::as_str))),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// True if a package may be installed: it has no obstacles, and no faults unless `force` is given. Prints why not.
pub fn may_go_on(preview: &Preview, force: bool) -> bool {
    if !preview.obstacles.is_empty() {
        eprintln!("Nothing was written.");
        return false;
    }
    if !preview.faults.is_empty() && !force {
        eprintln!("Nothing was written, since it has faults. With --force it is taken as it is.");
        return false;
    }
    true
}

/// Why an id is taken, if it is.
fn where_it_is(id: &str, library: &Library, place: &InstallRoot) -> Result<Option<String>> {
    let folder = place.folder_of(id);
    Ok(if place.lock()?.rulesets.contains_key(id) && folder.exists() {
        Some(format!(
            "{id} is here already: `riskbreaker update {id}` brings a newer version, `riskbreaker remove {id}` takes it away"
        ))
    } else if folder.exists() {
        Some(format!(
            "there is a ruleset {id} in {} that was not added: move or rename its folder first",
            folder.display()
        ))
    } else if let Some(other) = library.folder_of(id) {
        Some(format!("{id} is in {} already; take it away there first", other.display()))
    } else if library.contains(id) {
        Some(format!(
            "{id} is one of the rulesets of the program, which a stranger's cannot replace: ask its author for another id"
        ))
    } else {
        None
    })
}

/// Installs what the lock lists and is missing. Fails where content differs from the lock.
fn restore(place: &InstallRoot, screen: &mut Screen) -> Result<ExitCode> {
    let lock = place.lock()?;
    if lock.rulesets.is_empty() {
        return Err(call_error(format!("{} lists no ruleset", place.lock_path().display())));
    }
    let mut is_whole = true;
    for (id, locked) in &lock.rulesets {
        let told = match place.present(id)? {
            Some(present) if present.hash() == locked.hash => Ok("is as it was locked"),
            Some(_) => Err("differs from what was locked: move its folder away, and repeat the call".to_owned()),
            None => bring_back(id, locked, place).map(|()| "was brought back").map_err(|error| format!("{error:#}")),
        };
        is_whole &= told.is_ok();
        let row = Row::at(0).strong(id).plain(format!(" {} ", locked.version));
        screen.row(&match told {
            Ok(text) => row.with(text, Tone::Good),
            Err(text) => row.with(text, Tone::Bad),
        })?;
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn bring_back(id: &str, locked: &Locked, place: &InstallRoot) -> Result<()> {
    let (package, _) = PackageSource::read(&locked.source)?.fetch()?;
    let hash = package.hash();
    if package.id != *id || hash != locked.hash {
        anyhow::bail!("{} has other content now: {hash} instead of {} ({})", locked.source, locked.hash, Lock::FILE);
    }
    place.put(&package, locked.clone()).context("nothing was changed")
}
