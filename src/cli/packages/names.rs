//! Resolves the rulesets that a package names if they were added here under aliases.

use anyhow::Result;
use riskbreaker::Library;
use riskbreaker::ruleset::{Manifest, Requirement};

use super::install_root::InstallRoot;
use super::package::Package;

/// Sets the ids here of the rulesets that a package names. A ruleset with that id is used if its version fits;
/// otherwise the one that was added under an alias and has that id in its own files. Names that the package already has
/// are kept.
///
/// # Errors
///
/// A lock cannot be read.
pub fn with_names(mut package: Package, library: &Library) -> Result<Package> {
    // A manifest with faults is reported when the package is examined.
    let Ok(manifest) = package.before(library.clone())?.manifest(&package.id) else { return Ok(package) };
    let added: Vec<(String, String)> = InstallRoot::all()
        .iter()
        .map(InstallRoot::lock)
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flat_map(|lock| lock.rulesets)
        .filter_map(|(alias, locked)| Some((locked.id?, alias)))
        .filter(|(_, alias)| *alias != package.id && library.contains(alias))
        .collect();
    for id in mentioned(&manifest) {
        let wanted = manifest.requires.iter().find(|needed| needed.ruleset.id == id);
        let is_wanted = |here: &str| wanted.is_none_or(|wanted| has_version(library, here, wanted));
        if library.contains(&id) && is_wanted(&id) || package.names.contains_key(&id) {
            continue;
        }
        let mut aliases = added.iter().filter(|(own, _)| *own == id).map(|(_, alias)| alias);
        let first = aliases.clone().next().filter(|_| !library.contains(&id));
        if let Some(alias) = aliases.find(|alias| is_wanted(alias)).or(first) {
            package.names.insert(id, alias.clone());
        }
    }
    Ok(package)
}

fn has_version(library: &Library, id: &str, wanted: &Requirement) -> bool {
    library.manifest(id).is_ok_and(|manifest| wanted.admits(&manifest.version))
}

/// The ids of the rulesets that a manifest names.
fn mentioned(manifest: &Manifest) -> Vec<String> {
    let Manifest { extends, layers, after, over, requires, conflicts, .. } = manifest;
    let below = extends.iter().chain(layers).chain(after).chain(over).chain(conflicts);
    below.chain(requires.iter().map(|needed| &needed.ruleset)).map(|mention| mention.id.clone()).collect()
}
