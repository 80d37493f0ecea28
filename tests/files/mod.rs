//! The files of rulesets, for tests that change them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the files of some rulesets, by path from the folder of rulesets, with `/` as separator. Rulesets of the
/// tests are preferred to shipped ones of the same name.
#[allow(dead_code)]
pub fn of(ids: &[&str]) -> BTreeMap<String, String> {
    let of_tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let root = |id: &&str| if of_tests.join(id).is_dir() { of_tests.clone() } else { shipped.clone() };
    read(ids.iter().map(|id| (root(id), root(id).join(id))).collect())
}

/// Returns the files of some shipped rulesets.
#[allow(dead_code)]
pub fn shipped(ids: &[&str]) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    read(ids.iter().map(|id| (root.clone(), root.join(id))).collect())
}

/// Reads the files in some folders, each with the folder from which paths are counted.
fn read(mut folders: Vec<(PathBuf, PathBuf)>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    while let Some((root, folder)) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push((root.clone(), path));
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"), text);
            }
        }
    }
    files
}
