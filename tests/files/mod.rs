//! The files of rulesets, to be changed at will.

use std::collections::BTreeMap;
use std::path::Path;

/// Every file of some rulesets, by path from the folder of rulesets, `/` between its parts. Those of the tests come before
/// those that ship: of the games with both, the tests mean the slice.
pub fn of(ids: &[&str]) -> BTreeMap<String, String> {
    let (mut files, mut folders) = (BTreeMap::new(), Vec::new());
    for id in ids {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let of_tests = here.join("tests/rulesets");
        let root = if of_tests.join(id).is_dir() { of_tests } else { here.join("rulesets") };
        folders.push((root.clone(), root.join(id)));
    }
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
