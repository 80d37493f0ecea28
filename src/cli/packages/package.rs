//! The files of a ruleset from another place, in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use riskbreaker::Library;
use riskbreaker::ruleset::{Folder, Manifest, Source};
use sha2::{Digest as _, Sha256};
use toml::de::DeTable;

use crate::cli::call_error;
use crate::cli::row::harmless;

/// The most files and folders of a source, including those that are left out.
pub const MOST_ENTRIES: usize = 20_000;

/// A ruleset with all its files.
#[derive(Debug)]
pub struct Package {
    /// Its id here: that in its files, or an alias.
    pub id: String,
    /// The id in its own files.
    pub own_id: String,
    /// The ids in its files of rulesets that are here under an alias, with their ids here.
    pub names: BTreeMap<String, String>,
    /// Its files by their path inside the folder of the ruleset.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Other files of the source, which do not belong to a ruleset.
    pub left_out: Vec<String>,
}

/// True if a path is that of a packed file: one of a ruleset, or the text of a licence.
pub fn travels(path: &str) -> bool {
    let name = path.to_ascii_uppercase();
    let is_licence = ["LICENSE", "LICENCE", "COPYING"].iter().any(|start| name.starts_with(start));
    Folder::takes(path) || is_licence && !path.contains('/')
}

/// Refuses a path that would lead out of the folder of a package, or could not be written on every system.
pub fn refuse_path(path: &str) -> Result<(), String> {
    let shown = harmless(path);
    if path.is_empty() || path.len() > 300 {
        return Err(format!("a path in it has {} bytes; 1 to 300 are possible", path.len()));
    }
    if path.contains(['\\', ':']) || path.chars().any(char::is_control) {
        return Err(format!("the path `{shown}` has a character that is not the same on every system"));
    }
    for part in path.split('/') {
        let stem = part.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_device = matches!(&*stem, "con" | "prn" | "aux" | "nul")
            || ["com", "lpt"].iter().any(|port| {
                stem.strip_prefix(port).is_some_and(|n| n.len() == 1 && n.bytes().all(|n| n.is_ascii_digit()))
            });
        if part.is_empty() || part == "." || part == ".." {
            return Err(format!("the path `{shown}` leads out of its folder, or has an empty part"));
        }
        if is_device || part.ends_with(['.', ' ']) {
            return Err(format!("the path `{shown}` cannot be written on every system"));
        }
    }
    Ok(())
}

/// Gathers the files of one source, within the limits of a ruleset.
#[derive(Debug, Default)]
pub struct Gathered {
    pub files: BTreeMap<String, Vec<u8>>,
    pub left_out: Vec<String>,
    bytes: usize,
}

impl Gathered {
    /// True if a file of this size is wanted; otherwise it is recorded as left out.
    pub fn wants(&mut self, path: &str, size: u64) -> Result<bool> {
        if self.files.len() + self.left_out.len() >= MOST_ENTRIES {
            anyhow::bail!("it has more than {MOST_ENTRIES} files");
        }
        // Such a path is never an accident, so it is refused even if the file would be left out.
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            refuse_path(path).map_err(call_error)?;
        }
        // Files outside of the ruleset's folder are dropped by `package`, once that folder is known.
        let wanted =
            path.split('/').all(|part| !part.starts_with('.')) && travels(path.rsplit('/').next().unwrap_or(path));
        if !wanted {
            self.left_out.push(path.to_owned());
            return Ok(false);
        }
        refuse_path(path).map_err(call_error)?;
        if size > Source::MAX_BYTES as u64 {
            anyhow::bail!(
                "`{}` has {size} bytes; a file of a ruleset has at most {}",
                harmless(path),
                Source::MAX_BYTES
            );
        }
        self.bytes = self.bytes.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
        if self.bytes > Folder::MAX_BYTES || self.files.len() >= Folder::MAX_FILES {
            anyhow::bail!(
                "it has more than {} files, or more than {} MiB of them",
                Folder::MAX_FILES,
                Folder::MAX_BYTES >> 20
            );
        }
        Ok(true)
    }

    /// Returns the ruleset in the folder `inside`; without it, the only ruleset in the source.
    pub fn package(self, inside: Option<&str>) -> Result<Package> {
        let roots: Vec<String> = self
            .files
            .keys()
            .filter(|path| path.rsplit('/').next() == Some(Manifest::FILE))
            .map(|path| path[..path.len() - Manifest::FILE.len()].to_owned())
            .collect();
        let wanted = inside.map(|inside| format!("{}/", inside.trim_matches('/')));
        let root = match &wanted {
            Some(wanted) if roots.contains(wanted) => wanted.clone(),
            Some(wanted) => {
                return Err(call_error(format!(
                    "there is no ruleset in its folder `{wanted}`; {}",
                    rulesets_in(&roots)
                )));
            }
            None => match roots.as_slice() {
                [only] => only.clone(),
                // A ruleset may have a folder of examples.
                several if several.iter().any(String::is_empty) => String::new(),
                [] => return Err(call_error(format!("it holds no ruleset: there is no {} in it", Manifest::FILE))),
                several => return Err(call_error(format!("it holds several rulesets; {}", rulesets_in(several)))),
            },
        };
        let mut files = BTreeMap::new();
        let mut left_out = self.left_out;
        for (path, bytes) in self.files {
            match path.strip_prefix(&root) {
                Some(own) if travels(own) => drop(files.insert(own.to_owned(), bytes)),
                _ => left_out.push(path),
            }
        }
        left_out.retain(|path| path.starts_with(&root));
        let mut folders = files.keys().flat_map(|path| path.match_indices('/').map(move |(at, _)| &path[..at]));
        if let Some(both) = folders.find(|folder| files.contains_key(*folder)) {
            anyhow::bail!("`{}` is a file and a folder in it", harmless(both));
        }
        let manifest = files.get(Manifest::FILE).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let id = id_in(&manifest.unwrap_or_default())?;
        Ok(Package { own_id: id.clone(), id, names: BTreeMap::new(), files, left_out })
    }
}

fn rulesets_in(roots: &[String]) -> String {
    let names: Vec<String> = roots.iter().map(|root| format!("`#{}`", root.trim_end_matches('/'))).collect();
    if names.is_empty() { "it holds none".into() } else { format!("name one of them after it: {}", names.join(", ")) }
}

/// Reads the id in the text of a manifest. The rest of the manifest is checked when it is loaded.
fn id_in(manifest: &str) -> Result<String> {
    let table =
        DeTable::parse(manifest).map_err(|error| anyhow::anyhow!("its {} is not TOML: {error}", Manifest::FILE))?;
    let id = table.get_ref().get("id").and_then(|id| id.get_ref().as_str().map(str::to_owned));
    let id = id.with_context(|| format!("its {} has no id", Manifest::FILE))?;
    if !is_id(&id) {
        anyhow::bail!("`{}` is no id of a ruleset", harmless(&id));
    }
    Ok(id)
}

/// True for a text that can be the id of a ruleset, and the name of its folder on every system.
pub fn is_id(text: &str) -> bool {
    refuse_path(text).is_ok() && Library::from_files([(format!("{text}/{}", Manifest::FILE), "")]).contains(text)
}

impl Package {
    /// The hash of its content: equal for the same files on every machine.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, bytes) in &self.files {
            for part in [path.as_bytes(), bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digits}")
    }

    /// Returns the package under another id.
    ///
    /// # Errors
    ///
    /// The name is not a valid id.
    pub fn called(self, id: &str) -> Result<Package> {
        if !is_id(id) {
            return Err(call_error(format!(
                "`{}` is no id: it has small letters, digits, `.`, `_` and `-`, and begins with a letter or digit",
                harmless(id)
            )));
        }
        Ok(Package { id: id.to_owned(), ..self })
    }

    /// Reads a folder on disk. Links are never followed.
    pub fn of_folder(folder: &Path, inside: Option<&str>) -> Result<Package> {
        let mut gathered = Gathered::default();
        take_folder(folder, "", 0, &mut gathered)?;
        gathered.package(inside).with_context(|| format!("cannot take the folder {}", folder.display()))
    }

    /// Writes all files into a folder that does not exist yet.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (path, bytes) in &self.files {
            crate::cli::file::replace_inside(folder, path, bytes)
                .with_context(|| format!("cannot write {}", folder.join(path).display()))?;
        }
        Ok(())
    }
}

fn take_folder(root: &Path, inside: &str, depth: usize, gathered: &mut Gathered) -> Result<()> {
    let folder = root.join(inside);
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut names: Vec<_> = entries.take(MOST_ENTRIES + 1).collect::<std::io::Result<Vec<_>>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && depth <= Folder::MAX_DEPTH + 2 {
            take_folder(root, &path, depth + 1, gathered)?;
        } else if kind.is_file() {
            if gathered.wants(&path, entry.metadata()?.len())? {
                gathered.files.insert(path.clone(), fs::read(entry.path())?);
            }
        } else if kind.is_symlink() && travels(&name) {
            anyhow::bail!("`{}` is a link; a ruleset has only files of its own", harmless(&path));
        } else {
            gathered.left_out.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_folder_or_invalid_on_some_systems_are_refused() {
        for bad in [
            "",
            "/a.md",
            "a//b.md",
            "../a.md",
            "a/../b.md",
            "./a.md",
            "a\\b.md",
            "C:a.md",
            "con.md",
            "a/COM1.luau",
            "a./b.md",
            "a\n.md",
        ] {
            assert!(refuse_path(bad).is_err(), "{bad}");
        }
        for good in ["RULES.md", "maneuvers/feint.luau", "cast/common.toml", "com10.md", "console.md"] {
            assert_eq!(refuse_path(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn files_that_editors_execute_are_not_packed() {
        for path in [".nvim.lua", ".vscode/settings.toml", "art/map.png", "lib/LICENSE", "a.luau~"] {
            assert!(!travels(path), "{path}");
        }
        for path in ["RULES.md", "LICENSE-MIT", "licence", "specs/a.luau", "ruleset.toml"] {
            assert!(travels(path), "{path}");
        }
    }

    fn gathered(files: &[(&str, &str)]) -> Gathered {
        let mut all = Gathered::default();
        for (path, text) in files {
            if all.wants(path, text.len() as u64).unwrap() {
                all.files.insert((*path).to_owned(), text.as_bytes().to_vec());
            }
        }
        all
    }

    #[test]
    fn a_package_finds_its_only_ruleset_or_needs_a_folder() {
        let one = gathered(&[
            ("top/ruleset.toml", "id = \"a\""),
            ("top/RULES.md", "x"),
            ("top/.nvim.lua", "x"),
            ("readme.txt", ""),
        ]);
        let package = one.package(None).unwrap();
        assert_eq!((&*package.id, package.files.len()), ("a", 2));
        assert_eq!(package.left_out, ["top/.nvim.lua"]);
        let two = || gathered(&[("x/ruleset.toml", "id = \"x\""), ("y/ruleset.toml", "id = \"y\"")]);
        let told = two().package(None).unwrap_err().to_string();
        assert_eq!(told, "it holds several rulesets; name one of them after it: `#x`, `#y`");
        assert_eq!(two().package(Some("y")).unwrap().id, "y");
        assert!(two().package(Some("z")).is_err());
        for (text, why) in [("id = \"../x\"", "no id"), ("id = 3", "has no id"), ("id =", "not TOML")] {
            let told = gathered(&[("ruleset.toml", text)]).package(None).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn the_hash_depends_on_paths_and_contents_alone() {
        let hash = |files: &[(&str, &str)]| gathered(files).package(None).unwrap().hash();
        let own = ("ruleset.toml", "id = \"a\"");
        let one = hash(&[own, ("a.md", "b"), ("c.md", "d")]);
        assert_eq!(one, hash(&[("c.md", "d"), own, ("a.md", "b")]));
        assert_ne!(one, hash(&[own, ("a.md", "b"), ("c.md", "")]));
        assert!(one.starts_with("sha256:") && one.len() == 71);
    }
}
