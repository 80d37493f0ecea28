use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use include_dir::{Dir, include_dir};
use riskbreaker::check::derived_types;
use riskbreaker::script::type_module;
use riskbreaker::{Library, Ruleset};

use super::part::{NewPart, Written};
use super::scaffold::Scaffold;
use super::titles::{rule_prefix, title_of};
use crate::cli::{call_error, library, types};

static TEMPLATE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/templates/ruleset");

/// Writes a ruleset.
pub fn ruleset(name: &str, extends: Option<&str>, over: &[String], folder: Option<&Path>) -> Result<Written> {
    let proper = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    if !proper || name.ends_with(['-', '.']) || name.contains("..") {
        let text =
            format!("`{name}` cannot be an id: use small letters, digits, `-`, `_` and `.`, and begin with a letter");
        return Err(call_error(text));
    }
    let root = folder.map_or_else(|| PathBuf::from(Library::FOLDER), Path::to_path_buf);
    let target = root.join(name);
    if target.exists() {
        return Err(call_error(format!("{} exists already", target.display())));
    }
    let around = if root.is_dir() { library::open(Some(&root))? } else { Library::embedded() };
    let below = |id: &str| {
        library::known(&around, id)?;
        library::load(&around, id, &[])
    };
    let mut files = match (extends, over) {
        (None, []) => filled(name),
        (Some(parent), _) => house(name, &format!("extends = \"{parent}\""), &[below(parent)?]),
        (None, bases) => {
            let rules = bases.iter().map(|id| below(id)).collect::<Result<Vec<_>>>()?;
            house(name, &format!("over = {bases:?}"), &rules)
        }
    };
    files.extend(types::settings());
    let written = write_all(&target, &files)?;
    let library = library::open(Some(&root))?;
    let way = library.ways_to_play(name).remove(0);
    let rules = library::load(&library, &way, &[])?;
    types::write_inside(&target, types::DEFINITION, &type_module(&rules, &derived_types(&rules)))?;
    if extends.is_some() || !over.is_empty() {
        // A house rule with its spec, for the rulesets that it extends.
        let part = NewPart { name: "first_house_rule".into(), ruleset: Some(name.to_owned()) };
        let more = Scaffold::open(part, Some(root))?.hook()?;
        let mut files = written;
        files.extend(more.files.into_iter().filter(|path| !path.ends_with("RULES.md")));
        return Ok(Written { files, then: next_steps(name, &way), well: more.well });
    }
    Ok(Written { files: written, then: next_steps(name, &way), well: true })
}

fn next_steps(name: &str, way: &str) -> Vec<String> {
    vec![
        format!("Play it: riskbreaker play --rules {way}   (a saved file takes effect at once)"),
        format!("Check and test it at every save: riskbreaker dev {name}"),
    ]
}

/// Returns the files of the template with its names filled in.
fn filled(id: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![&TEMPLATE];
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        for file in folder.files() {
            let text = file.contents_utf8().unwrap_or_default();
            let text = text.replace("{id}", id).replace("{title}", &title_of(id)).replace("{RULE}", &rule_prefix(id));
            files.insert(file.path().to_string_lossy().replace('\\', "/"), text);
        }
    }
    files
}

/// Returns the files of a ruleset that only changes others.
fn house(id: &str, below: &str, parents: &[Arc<Ruleset>]) -> BTreeMap<String, String> {
    let title = title_of(id);
    let on = parents.iter().map(|parent| parent.title()).collect::<Vec<_>>().join(" and ");
    let manifest = format!(
        "id = \"{id}\"\ntitle = \"{title}\"\nversion = \"0.1.0\"\nengine = \"0.1\"\n{below}\nsummary = \"House rules for {on}.\"\n",
    );
    let rules = format!("# {title}\n\nHouse rules for {on}. All other rules stay in force.\n");
    BTreeMap::from([("ruleset.toml".to_owned(), manifest), ("RULES.md".to_owned(), rules)])
}

fn write_all(target: &Path, files: &BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
    files.iter().map(|(path, text)| types::write_inside(target, path, text)).collect()
}
