//! Differences between the files of two rulesets.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Changed files: their new contents by path, `None` for a deleted file.
pub type Patch = BTreeMap<Arc<str>, Option<Arc<str>>>;

/// The patch that turns the files `old` into `new`.
pub(crate) fn patch_of_files(old: BTreeMap<Arc<str>, Arc<str>>, mut new: BTreeMap<Arc<str>, Arc<str>>) -> Patch {
    let mut patch = Patch::new();
    for (path, text) in old {
        match new.remove(&path) {
            Some(now) if now == text => {}
            now => {
                patch.insert(path, now);
            }
        }
    }
    patch.extend(new.into_iter().map(|(path, text)| (path, Some(text))));
    patch
}

/// Applies a patch to files.
pub(crate) fn apply(files: &mut BTreeMap<Arc<str>, Arc<str>>, patch: &Patch) {
    for (path, text) in patch {
        match text {
            Some(text) => files.insert(path.clone(), text.clone()),
            None => files.remove(path),
        };
    }
}
