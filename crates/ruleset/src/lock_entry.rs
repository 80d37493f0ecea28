use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::document::Document;
use super::problem::Problem;
use super::quoted::system_message;
use super::source::Source;
use super::typed_text::read_toml;

/// The entry of an added ruleset in `riskbreaker.lock`: the hash of its files, and aliases. The files of a ruleset that
/// was added under another name stay unchanged; the host replaces the ids in its manifest by the aliases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockEntry {
    /// The ids in its files that differ here, with the ids here.
    names: BTreeMap<String, String>,
    /// The hash of the files that were added; `None` if the ruleset is not in the lock.
    hash: Option<String>,
}

/// An entry of the lock, with the keys that the host uses.
#[derive(Deserialize)]
struct Added {
    #[serde(default)]
    hash: Option<String>,
    /// The id in its own files, if it differs from the id here.
    #[serde(default)]
    id: Option<String>,
    /// The ids of other rulesets in its files, with their ids here.
    #[serde(default)]
    names: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    rulesets: BTreeMap<String, Added>,
}

impl LockEntry {
    /// The name of the lock: a file beside a folder of rulesets, which lists the added rulesets with their aliases.
    pub const LOCK: &'static str = "riskbreaker.lock";

    fn new(added: Added, id: &str) -> LockEntry {
        let own = added.id.filter(|own| *own != id).map(|own| (own, id.to_owned()));
        LockEntry { names: added.names.into_iter().chain(own).collect(), hash: added.hash }
    }

    /// True if both entries have a hash, and the hashes differ.
    pub fn is_update_of(&self, former: &LockEntry) -> bool {
        self.hash.is_some() && former.hash.is_some() && self.hash != former.hash
    }

    /// True if the ruleset was added.
    pub fn is_added(&self) -> bool {
        self.hash.is_some()
    }

    /// Reads the text of a lock, as far as a caller needs it.
    ///
    /// # Errors
    ///
    /// The text is not that of a lock: the place, the key, and what to do.
    pub fn read_lock<T: DeserializeOwned>(lock: &str) -> Result<T, Problem> {
        let cure = "restore it from version control, or delete it and add the rulesets again";
        read_toml(Self::LOCK, lock).map_err(|problem| problem.with_cure(cure))
    }

    /// Reads the entry of the ruleset in the folder `id` from the text of a lock; an empty entry if it has none.
    ///
    /// # Errors
    ///
    /// The text is not a valid lock.
    pub fn in_lock(lock: &str, id: &str) -> Result<LockEntry, Problem> {
        if lock.is_empty() {
            return Ok(LockEntry::default());
        }
        let mut lock: Lock = LockEntry::read_lock(lock)?;
        Ok(lock.rulesets.remove(id).map(|added| LockEntry::new(added, id)).unwrap_or_default())
    }

    /// Reads the entry of the ruleset `id` from the lock beside a folder of rulesets; an empty entry if there is no
    /// lock.
    ///
    /// # Errors
    ///
    /// The lock cannot be read.
    pub fn beside(rulesets: &Path, id: &str) -> Result<LockEntry, Problem> {
        // The parent of `rulesets` is the current folder.
        match fs::read_to_string(rulesets.parent().unwrap_or(rulesets).join(Self::LOCK)) {
            Ok(lock) => LockEntry::in_lock(&lock, id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LockEntry::default()),
            Err(error) => Err(Problem::new(Self::LOCK, format!("cannot be read: {}", system_message(&error)))),
        }
    }

    /// True if the files have ids that differ here.
    pub fn has_aliases(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the id here of the ruleset that the files name `id`.
    pub fn id_here<'a>(&'a self, id: &'a str) -> &'a str {
        self.names.get(id).map_or(id, String::as_str)
    }

    /// Replaces the ids in a manifest by those here. A manifest that is not TOML stays unchanged, and is refused later.
    pub fn in_manifest(&self, manifest: Source) -> Source {
        if !self.has_aliases() {
            return manifest;
        }
        let places = Document::read(&manifest, |document| Ok(self.places(document.root())));
        let Ok(mut places) = places else { return manifest };
        places.sort_by_key(|(span, _)| span.start);
        let mut text = manifest.text.to_string();
        for (span, id) in places.into_iter().rev() {
            text.replace_range(span, &format!("\"{id}\""));
        }
        // The text was valid before, and only ids differ.
        Source::read(manifest.path.clone(), text.as_bytes()).unwrap_or(manifest)
    }

    /// Finds the ids in a manifest that differ here, with their places and the ids here.
    fn places(&self, root: &DeTable<'_>) -> Vec<(Range<usize>, String)> {
        let mut places = Vec::new();
        let mut note =
            |span: Range<usize>, id: &str| places.extend(self.names.get(id).map(|here| (span, here.clone())));
        for (key, value) in root {
            match (&**key.get_ref(), value.get_ref()) {
                ("id" | "extends", DeValue::String(id)) => note(value.span(), id),
                ("layers" | "after" | "over" | "conflicts", DeValue::Array(ids)) => {
                    for one in ids.iter() {
                        if let DeValue::String(id) = one.get_ref() {
                            note(one.span(), id);
                        }
                    }
                }
                ("requires", DeValue::Table(ranges)) => {
                    ranges.keys().for_each(|key| note(key.span(), key.get_ref()));
                }
                _ => {}
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use crate::scratch::Scratch;

    const LOCK: &str = "format = 1\n[rulesets.mine]\nversion = \"1\"\nhash = \"a\"\nid = \"theirs\"\n[rulesets.mine.names]\nbase = \"base-2\"\n";

    #[test]
    fn a_manifest_is_read_with_aliases() {
        let aliases = LockEntry::in_lock(LOCK, "mine").unwrap();
        let text = "id = 'theirs' # theirs\ntitle = \"theirs\"\nversion = \"1\"\nover = [\"base\", \"other\"]\n[requires]\nbase = \"*\"\n";
        let manifest = aliases.in_manifest(Source::read("mine/ruleset.toml", text.as_bytes()).unwrap());
        assert_eq!(
            &*manifest.text,
            "id = \"mine\" # theirs\ntitle = \"theirs\"\nversion = \"1\"\nover = [\"base-2\", \"other\"]\n[requires]\n\"base-2\" = \"*\"\n"
        );
        assert_eq!((aliases.id_here("theirs"), aliases.id_here("x")), ("mine", "x"));
        assert_eq!(LockEntry::in_lock(LOCK, "other").unwrap(), LockEntry::default());
        let updated = LockEntry::in_lock(&LOCK.replace("\"a\"", "\"b\""), "mine").unwrap();
        assert!(updated.is_update_of(&aliases) && !aliases.is_update_of(&aliases));
        assert!(!updated.is_update_of(&LockEntry::default()));
        let told = LockEntry::in_lock("rulesets = 3", "mine").unwrap_err().to_string();
        assert!(told.starts_with("riskbreaker.lock:1:12: cannot be read: `rulesets`: invalid type"), "{told}");
        let told = LockEntry::in_lock("[rulesets.mine]\nhash = 3\n", "mine").unwrap_err().to_string();
        assert!(told.starts_with("riskbreaker.lock:2:8: cannot be read: `rulesets.mine.hash`: invalid type"), "{told}");
    }

    #[test]
    fn a_folder_beside_a_lock_has_the_id_of_its_folder() {
        let scratch = Scratch::new();
        scratch.write("rulesets/mine/ruleset.toml", "id = \"theirs\"\ntitle = \"T\"\nversion = \"1\"\n");
        let library = Library::open(scratch.0.join("rulesets")).unwrap();
        assert!(library.read("mine").is_err(), "without a lock the id is another one than the folder's");
        scratch.write("riskbreaker.lock", LOCK);
        let folder = library.read("mine").unwrap();
        assert_eq!((&*folder.manifest.id, folder.lock_entry.id_here("theirs")), ("mine", "mine"));
        assert!(library.origin_of("mine").is_none(), "its files alone do not say what it holds");
        scratch.write("riskbreaker.lock", "broken");
        assert!(library.read("mine").unwrap_err().to_string().contains("riskbreaker.lock:1:7: cannot be read"));
    }
}
