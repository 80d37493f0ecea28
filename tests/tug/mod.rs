//! The files of the smallest game, to be changed at will.

use std::collections::BTreeMap;
use std::path::Path;

/// By path from the folder of rulesets, `/` between its parts.
pub fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.join("tug")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    files
}
