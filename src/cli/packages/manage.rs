use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::add::may_go_on;
use super::agrees;
use super::install_root::InstallRoot;
use super::lock::Locked;
use super::names::with_names;
use super::package::Package;
use super::preview::{Preview, obstacles};
use super::source::{Fetched, PackageSource};
use crate::cli::row::{Row, Tone};
use crate::cli::screen::Screen;
use crate::cli::{call_error, library};

/// Lists the rulesets that were added
#[derive(clap::Args)]
pub struct ListArgs {
    /// Those for all folders of this user
    #[arg(long)]
    user: bool,

    /// Writes one JSON object per ruleset
    #[arg(long)]
    json: bool,
}

/// Brings added rulesets up to date, after showing what changes
#[derive(clap::Args)]
pub struct UpdateArgs {
    /// Only this one
    id: Option<String>,

    /// Takes it from another place than before: a file, a folder or a git repository
    #[arg(long, value_name = "SOURCE", requires = "id")]
    from: Option<String>,

    /// Agrees without being asked, for scripts
    #[arg(long)]
    yes: bool,

    /// Those for all folders of this user
    #[arg(long)]
    user: bool,

    /// Updates it although `check` or its specs found something, or although its files were changed here
    #[arg(long)]
    force: bool,
}

/// Takes an added ruleset away; `rollback` brings it back
#[derive(clap::Args)]
pub struct RemoveArgs {
    /// The ruleset
    id: String,

    /// One for all folders of this user
    #[arg(long)]
    user: bool,
}

/// Brings back the version of a ruleset before its last update or removal
#[derive(clap::Args)]
pub struct RollbackArgs {
    /// The ruleset
    id: String,

    /// One for all folders of this user
    #[arg(long)]
    user: bool,
}

pub fn list(args: &ListArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let mut screen = Screen::stdout(args.json);
    let lock = place.lock()?;
    let mut rows = Vec::new();
    for (id, locked) in &lock.rulesets {
        let state = match place.present(id)? {
            None => "missing",
            Some(present) if present.hash() == locked.hash => "as added",
            Some(_) => "changed here",
        };
        if args.json {
            screen.object(&json!({ "id": id, "own_id": locked.own_id(id), "version": locked.version, "source": locked.source, "commit": locked.commit, "hash": locked.hash, "state": state }))?;
        }
        let source = match &locked.id {
            Some(own) => format!("{own} from {}", locked.source),
            None => locked.source.clone(),
        };
        rows.push(vec![id.clone(), locked.version.clone(), state.to_owned(), source]);
    }
    if args.json {
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        screen.row(
            &Row::at(0).plain(format!("No ruleset was added to {}. `riskbreaker add SOURCE` adds one.", place.told())),
        )?;
    } else {
        screen.table(&["ruleset", "version", "state", "source"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The rulesets that a call means, with their lock entries.
fn meant(place: &InstallRoot, id: Option<&str>) -> Result<Vec<(String, Locked)>> {
    let lock = place.lock()?;
    match id {
        None => Ok(lock.rulesets.into_iter().collect()),
        Some(id) => match lock.rulesets.get(id) {
            Some(locked) => Ok(vec![(id.to_owned(), locked.clone())]),
            None => {
                Err(call_error(format!("{id} was not added to {}; `riskbreaker list` shows what was", place.told())))
            }
        },
    }
}

pub fn update(args: &UpdateArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let mut screen = Screen::stdout(false);
    let mut all_well = true;
    for (id, locked) in meant(&place, args.id.as_deref())? {
        all_well &= update_one(&id, &locked, &place, args, &mut screen)?;
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn update_one(id: &str, locked: &Locked, place: &InstallRoot, args: &UpdateArgs, screen: &mut Screen) -> Result<bool> {
    let source = PackageSource::read(args.from.as_ref().unwrap_or(&locked.source))?;
    let Fetched { package, commit, packed } = source.fetch()?;
    let own_id = locked.own_id(id);
    if package.own_id != own_id {
        anyhow::bail!("{} holds {}, and not {own_id}", source.told(), package.own_id);
    }
    if let Some(key) = place.lock()?.key_of(id)? {
        key.must_have_signed(packed.as_ref(), &source.told(), id)?;
    }
    let library = library::open(None)?;
    let package = with_names(Package { names: locked.names.clone(), ..package.called(id)? }, &library)?;
    let Some(present) = place.present(id)? else {
        return Err(call_error(format!("the folder of {id} is missing; `riskbreaker add --locked` brings it back")));
    };
    if package.hash() == present.hash() {
        screen.row(&Row::at(0).strong(id).plain(format!(" {} is up to date", locked.version)))?;
        return Ok(true);
    }
    let preview = Preview::of(&package, &library, Some(&present))?;
    preview.print(screen)?;
    if present.hash() != locked.hash && !args.force {
        eprintln!(
            "Nothing was written: files of {id} were changed here. `--force` replaces them, and `rollback` brings them back."
        );
        return Ok(false);
    }
    if !may_go_on(&preview, args.force) {
        return Ok(false);
    }
    let question = format!("Update {id} from {} to {}?", locked.version, preview.manifest.version);
    if !args.yes && !agrees(&question)? {
        return Ok(false);
    }
    place.put(&package, Locked::of(&package, &preview.manifest.version, source.told(), commit))?;
    screen.row(
        &Row::at(0)
            .with("new  ", Tone::Good)
            .plain(format!("{} · `riskbreaker rollback {id}` goes back", place.folder_of(id).display())),
    )?;
    Ok(true)
}

pub fn remove(args: &RemoveArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let id = &args.id;
    meant(&place, Some(id))?;
    let library = library::open(None)?;
    let needs = |other: &String| {
        let manifest = library.manifest(other).ok()?;
        let bases = manifest.over.iter().filter(|base| library.contains(&base.id));
        let only_base = if bases.clone().count() == 1 { bases.collect() } else { Vec::new() };
        let below = manifest.extends.iter().chain(&manifest.layers).chain(only_base);
        let named = below.chain(manifest.requires.iter().map(|needed| &needed.ruleset)).any(|base| base.id == *id);
        named.then(|| other.clone())
    };
    let others: Vec<String> = library.ids().iter().filter(|other| *other != id).filter_map(needs).collect();
    if !others.is_empty() {
        return Err(call_error(format!("{} needs {id}; remove it first", others.join(", "))));
    }
    place.take_away(id)?;
    println!("{id} was taken away; `riskbreaker rollback {id}` brings it back");
    Ok(ExitCode::SUCCESS)
}

pub fn rollback(args: &RollbackArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let id = &args.id;
    let previous = place.previous(id);
    if !previous.is_dir() {
        return Err(call_error(format!("no previous version of {id} is kept in {}", place.told())));
    }
    let library = library::open(None)?;
    let mut lock = place.lock()?;
    let before = lock.previous.remove(id);
    let names = before.as_ref().or(lock.rulesets.get(id)).map(|locked| locked.names.clone()).unwrap_or_default();
    let package = with_names(Package { names, ..Package::of_folder(&previous, None)?.called(id)? }, &library)?;
    let manifest = package.before(library.clone())?.manifest(id).map_err(|error| anyhow::anyhow!("{error}"))?;
    let obstacles = obstacles(&package, &manifest, &library);
    if !obstacles.is_empty() {
        return Err(call_error(format!("the previous version of {id} does not fit here. {}", obstacles.join(" "))));
    }
    let version = manifest.version;
    let (source, commit) = match before.or_else(|| lock.rulesets.remove(id)) {
        Some(locked) => (locked.source, locked.commit),
        None => (previous.display().to_string(), None),
    };
    place.put(&package, Locked::of(&package, &version, source, commit))?;
    println!("{id} is at version {version} again; `riskbreaker rollback {id}` goes forward");
    Ok(ExitCode::SUCCESS)
}
