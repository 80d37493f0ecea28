use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use riskbreaker::ruleset::Manifest;

use super::archive::{self, Label};
use super::package::Package;
use super::preview::Preview;
use super::signature;
use crate::cli::row::{Row, Tone};
use crate::cli::screen::Screen;
use crate::cli::{call_error, file, library};

/// Packs rulesets, each into one file that `add` takes
#[derive(clap::Args)]
pub struct PackArgs {
    /// Folders of rulesets
    #[arg(required_unless_present = "make_key")]
    folders: Vec<PathBuf>,

    /// The folder for the files
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// Also writes an index of them, for `riskbreaker search`
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,

    /// Makes a pair of keys for `--sign`: KEY is the secret one, KEY.pub the public one that others pin with `add --key`
    #[arg(long, value_name = "KEY", conflicts_with_all = ["folders", "sign"])]
    make_key: Option<PathBuf>,

    /// Signs each file with a secret key, in the format of minisign: writes FILE.zip.minisig beside it
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,

    /// Packs a ruleset although `check` or its specs found something, and marks it so
    #[arg(long)]
    force: bool,
}

pub fn pack(args: &PackArgs, rulesets: Option<PathBuf>) -> Result<ExitCode> {
    let mut screen = Screen::stdout(false);
    if let Some(path) = &args.make_key {
        let (public, key) = signature::make_keys(path)?;
        for (path, note) in [(path, "  keep it secret".to_owned()), (&public, format!("  {}", key.line()))] {
            screen.row(&Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()).faint(note))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut labels = Vec::new();
    for folder in &args.folders {
        let Some((label, path)) = pack_one(folder, args, rulesets.as_deref(), &mut screen)? else {
            return Ok(ExitCode::FAILURE);
        };
        screen.row(
            &Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()).faint(format!("  {}", label.hash)),
        )?;
        labels.push(super::search::Listed::new(label, &path));
    }
    if let Some(index) = &args.index {
        labels.sort_by(|one, other| one.label.id.cmp(&other.label.id));
        let text = format!("{}\n", serde_json::to_string_pretty(&labels)?);
        file::replace(index, text).with_context(|| format!("cannot write {}", index.display()))?;
        screen.row(&Row::at(0).with("new  ", Tone::Good).plain(index.display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn pack_one(
    folder: &Path,
    args: &PackArgs,
    rulesets: Option<&Path>,
    screen: &mut Screen,
) -> Result<Option<(Label, PathBuf)>> {
    if !folder.join(Manifest::FILE).is_file() {
        return Err(call_error(format!("{} is no ruleset: it has no {}", folder.display(), Manifest::FILE)));
    }
    let package = Package::of_folder(folder, None)?;
    // The rulesets that it extends may be in the same folder.
    let around = folder.canonicalize()?;
    let beside = library::open(around.parent())?;
    let library = riskbreaker::Library::overlay(beside, library::open(rulesets)?);
    let preview = Preview::of(&package, &library, None)?;
    let faulty = !preview.obstacles.is_empty() || !preview.faults.is_empty();
    if faulty {
        preview.print(screen)?;
        if !args.force {
            eprintln!("Nothing was written, since {} has faults. With --force it is packed and marked.", package.id);
            return Ok(None);
        }
    }
    let Manifest { title, version, engine, license, summary, over, extends, requires, switches, .. } = preview.manifest;
    let mut parents: std::collections::BTreeMap<String, String> =
        over.into_iter().chain(extends).map(|base| (base.id, "*".to_owned())).collect();
    parents.extend(requires.into_iter().map(|needed| (needed.ruleset.id, needed.range.to_string())));
    let label = Label {
        format: 1,
        id: package.id.clone(),
        title,
        version,
        engine,
        license,
        summary,
        parents,
        switches: switches.into_iter().map(|switch| switch.name).collect(),
        hash: package.hash(),
        faulty,
    };
    let path = args.out.join(format!("{}-{}.zip", label.id, label.version));
    std::fs::create_dir_all(&args.out)?;
    let bytes = archive::write(&package, &label)?;
    let is_new = std::fs::read(&path).ok().is_none_or(|old| old != bytes);
    file::replace(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    if let Some(key) = &args.sign {
        let (signature, key) = signature::sign(&path, &bytes, key, &package)?;
        let told = format!("  for `add --key {}`", key.line());
        screen.row(&Row::at(0).with("new  ", Tone::Good).plain(signature.display().to_string()).faint(told))?;
    } else if let Some(stale) = Some(signature::path_for(&path)).filter(|old| is_new && old.exists()) {
        // It would not match the new file.
        std::fs::remove_file(&stale).with_context(|| format!("cannot remove {}", stale.display()))?;
    }
    if !package.left_out.is_empty() {
        screen.row(
            &Row::prose(2).faint(format!("left out, since no ruleset is made of it: {}", package.left_out.join(", "))),
        )?;
    }
    Ok(Some((label, path)))
}
