use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::Library;

use super::agrees;
use super::install_root::InstallRoot;
use super::lock::{Locked, PackageLock};
use super::names::with_names;
use super::package::Package;
use super::preview::Preview;
use super::signature::{AuthorKey, PackedFile};
use super::source::{Fetched, PackageSource};
use crate::cli::row::{Row, Tone, harmless};
use crate::cli::screen::Screen;
use crate::cli::{call_error, library};

/// Adds a ruleset from a file, a folder or a git repository, after showing what it changes
#[derive(clap::Args)]
pub struct AddArgs {
    /// A file such as house-1.2.0.zip, a folder, or a git repository with an optional tag and folder: `ADDRESS@TAG#FOLDER`
    #[arg(required_unless_present = "locked")]
    source: Option<String>,

    /// The name of the ruleset here, instead of the id in its files; the files stay unchanged
    #[arg(long = "as", value_name = "NAME", conflicts_with = "locked")]
    alias: Option<String>,

    /// The public key of its author: takes it only with a signature by this key, now and at each update
    #[arg(long, value_name = "PUBKEY", conflicts_with = "locked")]
    key: Option<String>,

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

/// The statement about the safety of packages, printed before the question.
const SAFETY: &str = "Its scripts run in a sandbox: they see the game and its dice, but no files, no network and no other programs, \
                      and their time and memory are limited. A ruleset can still be unfair or wrong.";

pub fn add(args: &AddArgs) -> Result<ExitCode> {
    let place = InstallRoot::find(args.user)?;
    let mut screen = Screen::stdout(false);
    let Some(source) = &args.source else { return restore(&place, &mut screen) };
    let source = PackageSource::read(source)?;
    let Fetched { package, commit, packed } = source.fetch()?;
    let library = library::open(None)?;
    let package = match &args.alias {
        Some(alias) => package.called(alias)?,
        None => package,
    };
    if let Some(why) = why_taken(&package, &source, &library, &place)? {
        return Err(call_error(why));
    }
    let key = author_key(args.key.as_deref(), &package, &place)?;
    if let Some(key) = &key {
        key.must_have_signed(packed.as_ref(), &source.told(), &package.id)?;
    }
    let package = with_names(package, &library)?;
    let preview = Preview::of(&package, &library, None)?;
    preview.print(&mut screen)?;
    if let Some(note) = signature_note(key.as_ref(), packed.as_ref()) {
        screen.row(&Row::prose(2).plain(note))?;
    }
    if !may_go_on(&preview, args.force) {
        return Ok(ExitCode::FAILURE);
    }
    screen.row(&Row::prose(2).faint(SAFETY))?;
    if !args.yes && !agrees(&format!("Add it to {}?", place.told()))? {
        return Ok(ExitCode::FAILURE);
    }
    place.put(&package, Locked::of(&package, &preview.manifest.version, source.told(), commit))?;
    if let Some(key) = &key {
        place.pin(&package.id, key)?;
    }
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

/// The key that a package must be signed with: the named one, or the one that the lock pins.
fn author_key(named: Option<&str>, package: &Package, place: &InstallRoot) -> Result<Option<AuthorKey>> {
    let pinned = place.lock()?.key_of(&package.id)?;
    let named = named.map(AuthorKey::read).transpose()?;
    match (named, pinned) {
        (Some(named), Some(pinned)) if named.line() != pinned.line() => Err(call_error(format!(
            "{} pins another key for {}: {}. If its author has a new key, delete that line under `[keys]` first",
            PackageLock::FILE,
            package.id,
            pinned.line()
        ))),
        (named, pinned) => Ok(named.or(pinned)),
    }
}

/// The note about the signature of a package; `None` if there is nothing to say.
fn signature_note(key: Option<&AuthorKey>, packed: Option<&PackedFile>) -> Option<String> {
    match key {
        Some(key) => Some(format!("Signed with the key {}, which is pinned from now on.", key.line())),
        None => packed.is_some_and(PackedFile::has_signature).then(|| {
            "It has a signature, which nobody has checked: `--key` with the key of its author does.".to_owned()
        }),
    }
}

/// Why the id of a package is taken, with advice; `None` if it is free. For a clash, both rulesets are named.
fn why_taken(
    package: &Package,
    source: &PackageSource,
    library: &Library,
    place: &InstallRoot,
) -> Result<Option<String>> {
    let id = &package.id;
    if !place.folder_of(id).exists() && !library.contains(id) {
        return Ok(None);
    }
    let locked = place.lock()?.rulesets.remove(id).filter(|_| place.folder_of(id).exists());
    if locked.as_ref().is_some_and(|locked| locked.own_id(id) == package.own_id && locked.source == source.told()) {
        return Ok(Some(format!(
            "{id} is here already: `riskbreaker update {id}` brings a newer version, `riskbreaker remove {id}` takes it away"
        )));
    }
    let there = match library.manifest(id) {
        Ok(manifest) => harmless(&format!("{id} {} ({})", manifest.version, manifest.title)),
        Err(_) => id.clone(),
    };
    let folder = library.folder_of(id).map_or_else(|| "in the program".to_owned(), |at| format!("in {}", at.display()));
    let mut text = format!(
        "the name {id} is taken: {there} is {folder} already, and {} is {}. Give this one another name here: \
         `riskbreaker add {} --as NAME`",
        source.told(),
        package.description(),
        source.told(),
    );
    if locked.is_some_and(|locked| locked.own_id(id) == package.own_id) {
        text.push_str(&format!(
            "; if it is a newer version of the same rules, `riskbreaker update {id} --from {}`",
            source.told()
        ));
    }
    Ok(Some(text))
}

/// Installs the missing rulesets of the lock. Fails if content differs from the lock.
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
    let package = PackageSource::read(&locked.source)?.fetch()?.package;
    let hash = package.hash();
    if package.own_id != locked.own_id(id) || hash != locked.hash {
        anyhow::bail!(
            "{} has other content now: {hash} instead of {} ({})",
            locked.source,
            locked.hash,
            PackageLock::FILE
        );
    }
    let package = Package { names: locked.names.clone(), ..package.called(id)? };
    place.put(&package, locked.clone()).context("nothing was changed")
}
