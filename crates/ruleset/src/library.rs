use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cure::Cure;
use super::folder::{Folder, Intake};
use super::lock_entry::LockEntry;
use super::manifest::{ID_RULE, Manifest, is_ruleset_id};
use super::nearest::instead;
use super::origin::Origin;
use super::problem::{LoadError, Problem};
use super::quoted::{printable, quoted};
use super::read_folder::read_folder;
use super::source::{SCRIPT_FILES, SCRIPT_FOLDERS, SourceKind, is_litter};

/// A collection of rulesets: a folder on disk, the built-in ones, files in memory, or a combination of these.
#[derive(Debug, Clone)]
pub struct Library(LibraryShelf);

#[derive(Debug, Clone)]
enum LibraryShelf {
    Embedded,
    Disk(PathBuf),
    Memory(Arc<BTreeMap<String, Vec<u8>>>),
    Overlay(Box<Library>, Box<Library>),
    /// The second has rulesets that the first refers to but does not have; it is not listed.
    Backed(Box<Library>, Box<Library>),
    /// Replaces the contents of some files, by paths with the ruleset's id.
    Edited(Box<Library>, Arc<BTreeMap<String, Vec<u8>>>),
}

impl Library {
    /// The folder in the working directory that [`Library::locate`] looks for.
    pub const FOLDER: &'static str = "rulesets";

    /// The built-in rulesets. Empty without the feature `bundled`.
    pub fn embedded() -> Self {
        Library(LibraryShelf::Embedded)
    }

    /// The rulesets in a folder, one folder each. They are read again each time.
    ///
    /// # Errors
    ///
    /// There is no such folder, it is a file, or it cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, LibraryError> {
        let path = folder.as_ref().to_owned();
        match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => return Err(LibraryError::NotAFolder { path }),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LibraryError::Missing { path });
            }
            Err(source) => return Err(LibraryError::Unreadable { path, source }),
        }
        match fs::read_dir(&path) {
            Ok(_) => Ok(Library(LibraryShelf::Disk(path))),
            Err(source) => Err(LibraryError::Unreadable { path, source }),
        }
    }

    /// The given folder; else `rulesets` in the working directory, if it exists; else the built-in rulesets.
    ///
    /// # Errors
    ///
    /// As for [`Library::open`]. A `rulesets` that exists but is no readable folder is an error, too, since using the
    /// built-in ones would hide that.
    pub fn locate(explicit: Option<&Path>) -> Result<Self, LibraryError> {
        match explicit {
            Some(folder) => Library::open(folder),
            None => match Library::open(Self::FOLDER) {
                Err(LibraryError::Missing { .. }) => Ok(Library::embedded()),
                found => found,
            },
        }
    }

    /// Creates a library in memory, from pairs of path and content: `("my-game/ruleset.toml", "id = ...")`. A file
    /// `riskbreaker.lock` has the aliases of the rulesets.
    pub fn from_files<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Self
    where
        P: Into<String>,
        C: Into<Vec<u8>>,
    {
        let files = files.into_iter().map(|(path, content)| (path.into(), content.into())).collect();
        Library(LibraryShelf::Memory(Arc::new(files)))
    }

    /// The rulesets of both; of those in both, the one in front.
    #[must_use]
    pub fn overlay(front: Library, back: Library) -> Self {
        Library(LibraryShelf::Overlay(Box::new(front), Box::new(back)))
    }

    /// The rulesets of this library. Their parents and layers may be in `other`, whose own rulesets are not listed.
    #[must_use]
    pub fn backed_by(self, other: Library) -> Self {
        Library(LibraryShelf::Backed(Box::new(self), Box::new(other)))
    }

    /// Replaces the contents of some files, given as pairs of path and content, as in [`Library::from_files`]: unsaved
    /// edits. A new file is added to its ruleset, if that is a folder on disk or in memory.
    #[must_use]
    pub fn with_texts<P, C>(self, texts: impl IntoIterator<Item = (P, C)>) -> Self
    where
        P: Into<String>,
        C: Into<Vec<u8>>,
    {
        let texts = texts.into_iter().map(|(path, content)| (path.into(), content.into())).collect();
        Library(LibraryShelf::Edited(Box::new(self), Arc::new(texts)))
    }

    /// Describes the place of the rulesets in a phrase.
    pub fn describe(&self) -> String {
        match &self.0 {
            LibraryShelf::Embedded => "the built-in rulesets".to_owned(),
            LibraryShelf::Disk(path) => format!("the folder {}", quoted_path(path)),
            LibraryShelf::Memory(_) => "rulesets held in memory".to_owned(),
            LibraryShelf::Backed(front, _) | LibraryShelf::Edited(front, _) => front.describe(),
            LibraryShelf::Overlay(front, back) => {
                format!("{}, then {}", front.describe(), back.describe())
            }
        }
    }

    /// The ids of all rulesets, sorted: of all folders with a manifest, even an unreadable one. Empty if the library
    /// itself cannot be read any more; reading a ruleset reports the reason.
    pub fn ids(&self) -> Vec<String> {
        let ids: BTreeSet<String> = match &self.0 {
            LibraryShelf::Embedded => bundled::ids(),
            LibraryShelf::Disk(path) => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                entries
                    .filter(|entry| has_manifest(&entry.path()))
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .collect()
            }
            LibraryShelf::Memory(files) => {
                let folder = |path: &String| match path.split_once('/') {
                    Some((id, Manifest::FILE)) => Some(id.to_owned()),
                    _ => None,
                };
                files.keys().filter_map(folder).collect()
            }
            LibraryShelf::Backed(front, _) | LibraryShelf::Edited(front, _) => front.ids().into_iter().collect(),
            LibraryShelf::Overlay(front, back) => front.ids().into_iter().chain(back.ids()).collect(),
        };
        ids.into_iter().filter(|id| is_ruleset_id(id) && !is_litter(id)).collect()
    }

    /// Folders on disk that contain files of a ruleset but are not among [`Library::ids`], each with the reason. The
    /// path of a problem begins with the name of the folder.
    pub fn left_out(&self) -> Vec<Problem> {
        match &self.0 {
            LibraryShelf::Disk(path) => {
                let entries = fs::read_dir(path).into_iter().flatten().flatten();
                let mut problems: Vec<Problem> = entries.filter_map(|entry| why_left_out(&entry)).collect();
                problems.sort();
                problems
            }
            LibraryShelf::Backed(front, _) | LibraryShelf::Edited(front, _) => front.left_out(),
            LibraryShelf::Overlay(front, back) => front.left_out().into_iter().chain(back.left_out()).collect(),
            LibraryShelf::Embedded | LibraryShelf::Memory(_) => Vec::new(),
        }
    }

    /// The default ruleset: the first by id that has a scenario, or else the first.
    pub fn default_id(&self) -> Option<String> {
        let ids = self.ids();
        let plays = |id: &&String| self.manifest(id).is_ok_and(|manifest| manifest.scenario.is_some());
        ids.iter().find(plays).or(ids.first()).cloned()
    }

    /// The names under which a ruleset can be played. A ruleset has its own name; a layer has one name, such as
    /// `game+house`, for each existing ruleset that it can be put on. Layers that it lies on or requires are between.
    pub fn ways_to_play(&self, id: &str) -> Vec<String> {
        let ways = self.ways_of_layer(id, &[]);
        if ways.is_empty() { vec![id.to_owned()] } else { ways }
    }

    /// The same for a layer; empty if it is none. `above`: the layers for which this is asked, so that a circle ends.
    fn ways_of_layer(&self, id: &str, above: &[&str]) -> Vec<String> {
        let Ok(manifest) = self.manifest(id) else { return Vec::new() };
        let above = [above, &[id]].concat();
        let is_layer = |id: &str| self.manifest(id).is_ok_and(|manifest| !manifest.over.is_empty());
        let can_be_below = |id: &&str| self.contains(id) && !above.contains(id);
        let required = manifest.requires.iter().map(|needed| &*needed.ruleset.id);
        let required: Vec<&str> = required.filter(can_be_below).filter(|id| is_layer(id)).collect();
        let mut ways = Vec::new();
        for base in manifest.over.iter().map(|base| &*base.id).filter(can_be_below) {
            let below = if is_layer(base) { self.ways_of_layer(base, &above) } else { vec![base.to_owned()] };
            for mut way in below {
                for part in required.iter().copied().chain([id]) {
                    if way.split('+').all(|known| known != part) {
                        way = format!("{way}+{part}");
                    }
                }
                ways.push(way);
            }
        }
        ways
    }

    /// True if there is a folder of that name, even an invalid one.
    pub fn contains(&self, id: &str) -> bool {
        is_ruleset_id(id)
            && match &self.0 {
                LibraryShelf::Embedded => bundled::contains(id),
                LibraryShelf::Disk(path) => path.join(id).is_dir(),
                LibraryShelf::Memory(files) => files_under(files, id).next().is_some(),
                LibraryShelf::Overlay(front, back) | LibraryShelf::Backed(front, back) => {
                    front.contains(id) || back.contains(id)
                }
                LibraryShelf::Edited(library, _) => library.contains(id),
            }
    }

    /// The part of a combined library that contains a ruleset; the last part if none does.
    fn holder(&self, id: &str) -> &Library {
        match &self.0 {
            LibraryShelf::Overlay(front, back) | LibraryShelf::Backed(front, back) => {
                if front.contains(id) { front } else { back }.holder(id)
            }
            LibraryShelf::Edited(library, _) => library.holder(id),
            LibraryShelf::Embedded | LibraryShelf::Disk(_) | LibraryShelf::Memory(_) => self,
        }
    }

    /// The folder of a ruleset on disk, for watching it. `None` if it is not on disk.
    pub fn folder_of(&self, id: &str) -> Option<PathBuf> {
        match &self.holder(id).0 {
            LibraryShelf::Disk(path) if self.contains(id) => Some(path.join(id)),
            _ => None,
        }
    }

    /// The file stamps of a ruleset. `None` if they cannot show all changes.
    #[doc(hidden)]
    pub fn origin_of(&self, id: &str) -> Option<Origin> {
        match &self.holder(id).0 {
            _ if !self.contains(id) || self.texts_of(id).next().is_some() => None,
            // With aliases the content depends on the lock as well, not only on the files.
            LibraryShelf::Disk(path) if LockEntry::beside(path, id).is_ok_and(|entry| !entry.has_aliases()) => {
                Origin::of_folder(&path.join(id))
            }
            LibraryShelf::Disk(_) => None,
            LibraryShelf::Memory(files) => Some(Origin::Memory(files.clone())),
            _ => Some(Origin::Embedded),
        }
    }

    /// The folders on disk that are searched for rulesets.
    #[doc(hidden)]
    pub fn folders(&self) -> Vec<PathBuf> {
        match &self.0 {
            LibraryShelf::Disk(path) => vec![path.clone()],
            LibraryShelf::Overlay(front, back) | LibraryShelf::Backed(front, back) => {
                front.folders().into_iter().chain(back.folders()).collect()
            }
            LibraryShelf::Edited(library, _) => library.folders(),
            LibraryShelf::Embedded | LibraryShelf::Memory(_) => Vec::new(),
        }
    }

    /// Reads a ruleset's folder.
    ///
    /// # Errors
    ///
    /// There is no such ruleset (names the most similar id, or lists all), or all problems of its files.
    pub fn read(&self, id: &str) -> Result<Folder, LoadError> {
        if !self.contains(id) {
            return Err(LoadError::new(id, vec![self.unknown(id)]));
        }
        let mut intake = Intake::new(id);
        let texts: BTreeMap<&str, &[u8]> = self.texts_of(id).collect();
        match &self.holder(id).0 {
            LibraryShelf::Disk(path) => return read_folder(id, &path.join(id), &texts),
            LibraryShelf::Memory(held) => {
                let lock = held.get(LockEntry::LOCK).map(|lock| String::from_utf8_lossy(lock)).unwrap_or_default();
                intake = intake.with_lock_entry(LockEntry::in_lock(&lock, id));
                let files: BTreeMap<&str, &[u8]> = files_under(held, id).chain(texts).collect();
                files.into_iter().for_each(|(path, content)| intake.take(path, content));
            }
            _ => bundled::take(id, &mut intake),
        }
        intake.finish()
    }

    /// The files of a ruleset with replaced contents. Outer replacements hide inner ones.
    fn texts_of(&self, id: &str) -> Box<dyn Iterator<Item = (&str, &[u8])> + '_> {
        match &self.0 {
            LibraryShelf::Edited(library, texts) => {
                let outer: Vec<(&str, &[u8])> = files_under(texts, id).collect();
                Box::new(library.texts_of(id).chain(outer))
            }
            LibraryShelf::Overlay(front, back) | LibraryShelf::Backed(front, back) => {
                if front.contains(id) { front } else { back }.texts_of(id)
            }
            LibraryShelf::Embedded | LibraryShelf::Disk(_) | LibraryShelf::Memory(_) => Box::new(std::iter::empty()),
        }
    }

    /// Reads the manifest of a ruleset. Of a built-in one, only this file is read.
    ///
    /// # Errors
    ///
    /// As [`Library::read`].
    pub fn manifest(&self, id: &str) -> Result<Manifest, LoadError> {
        match &self.holder(id).0 {
            LibraryShelf::Embedded if self.contains(id) => {
                let mut intake = Intake::new(id);
                bundled::take_manifest(id, &mut intake);
                intake.finish().map(|folder| folder.manifest)
            }
            _ => self.read(id).map(|folder| folder.manifest),
        }
    }

    /// The problem of an unknown id.
    #[doc(hidden)]
    pub fn unknown(&self, id: &str) -> Problem {
        let problem = Problem::new(id, format!("there is no ruleset {} in {}", quoted(id), self.describe()));
        problem.with_cure(self.instead_of(id))
    }

    /// The correction of an unknown id: the most similar id, or the list, and the rule for ids if it is invalid.
    pub fn instead_of(&self, id: &str) -> Cure {
        let known = instead(id, self.known_ids().iter().map(String::as_str));
        if is_ruleset_id(id) { known } else { format!("{known}; {ID_RULE}").into() }
    }

    /// The ids of all rulesets that can be named, including those of backing libraries.
    fn known_ids(&self) -> Vec<String> {
        match &self.0 {
            LibraryShelf::Edited(library, _) => library.known_ids(),
            LibraryShelf::Overlay(front, back) | LibraryShelf::Backed(front, back) => {
                let ids: BTreeSet<String> = front.known_ids().into_iter().chain(back.known_ids()).collect();
                ids.into_iter().collect()
            }
            _ => self.ids(),
        }
    }
}

/// The error of a place for rulesets that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// It does not exist.
    #[error("there is no folder {}", quoted_path(path))]
    Missing {
        /// The given path.
        path: PathBuf,
    },
    /// It is a file.
    #[error("{} is a file, not a folder of rulesets", quoted_path(path))]
    NotAFolder {
        /// The given path.
        path: PathBuf,
    },
    /// The system refuses to read it.
    #[error("the folder {} cannot be read", quoted_path(path))]
    Unreadable {
        /// The given path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// True if a folder has a manifest, even one that is a broken link.
fn has_manifest(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(Manifest::FILE)).is_ok()
}

/// The reason why a folder with files of a ruleset is no ruleset. `None` for a ruleset and for other folders.
fn why_left_out(entry: &fs::DirEntry) -> Option<Problem> {
    let (folder, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
    if is_litter(&name) {
        return None;
    }
    if has_manifest(&folder) {
        return (!is_ruleset_id(&name)).then(|| {
            let problem = Problem::new(name, "is left out: the name of the folder is no id");
            problem.with_cure(format!("rename it: {ID_RULE}"))
        });
    }
    if let Some(manifest) = files_in(&folder).iter().find(|file| file.eq_ignore_ascii_case(Manifest::FILE)) {
        let message = format!("is not read, and the folder is left out: the file must be called `{}`", Manifest::FILE);
        return Some(Problem::new(format!("{name}/{manifest}"), message).with_cure("rename it"));
    }
    let is_script = |file: &String| !is_litter(file) && SourceKind::of(file) == Some(SourceKind::Script);
    let stem = |file: &str| file.trim_end_matches(".luau").trim_end_matches(".lua").to_owned();
    let is_declared = |file: &String| is_script(file) && SCRIPT_FILES.contains(&stem(file.as_str()).as_str());
    // Other scripts may be tools. A folder of rulesets is not a ruleset.
    let holds_scripts = files_in(&folder).iter().any(is_declared)
        || SCRIPT_FOLDERS.iter().chain(SCRIPT_FILES).any(|place| {
            let place = folder.join(place);
            !has_manifest(&place) && files_in(&place).iter().any(is_script)
        });
    holds_scripts.then(|| {
        let message = "is missing: the folder holds the scripts of a ruleset and is left out";
        let cure = "write one with an id, a title and a version";
        Problem::new(format!("{name}/{}", Manifest::FILE), message).with_cure(cure)
    })
}

/// The names of the files in a folder.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn quoted_path(path: &Path) -> String {
    format!("`{}`", printable(&path.display().to_string()))
}

fn files_under<'f>(files: &'f BTreeMap<String, Vec<u8>>, id: &str) -> impl Iterator<Item = (&'f str, &'f [u8])> {
    let folder = format!("{id}/");
    let from = files.range(folder.clone()..);
    from.map_while(move |(path, content)| path.strip_prefix(&folder).map(|inside| (inside, &**content)))
}

/// The folders of the built-in rulesets. Another crate adds them with `linkme`, so that a changed rule does not
/// recompile this crate.
#[linkme::distributed_slice]
pub static EMBEDDED: [include_dir::Dir<'static>];

/// The built-in rulesets.
mod bundled {
    use std::collections::BTreeSet;

    use include_dir::{Dir, DirEntry, File};

    use super::{EMBEDDED, Intake, Manifest};

    pub fn ids() -> BTreeSet<String> {
        let whole = all().filter(|dir| manifest_in(dir).is_some());
        whole.filter_map(|dir| Some(dir.path().file_name()?.to_str()?.to_owned())).collect()
    }

    pub fn contains(id: &str) -> bool {
        folder(id).is_some()
    }

    pub fn take(id: &str, intake: &mut Intake) {
        if let Some(dir) = folder(id) {
            take_all(dir, "", intake);
        }
    }

    pub fn take_manifest(id: &str, intake: &mut Intake) {
        if let Some(file) = folder(id).and_then(manifest_in) {
            intake.take(Manifest::FILE, file.contents());
        }
    }

    fn all() -> impl Iterator<Item = &'static Dir<'static>> {
        EMBEDDED.iter().flat_map(|rulesets| rulesets.dirs())
    }

    fn folder(id: &str) -> Option<&'static Dir<'static>> {
        all().find(|dir| dir.path().as_os_str() == id)
    }

    fn manifest_in(dir: &'static Dir<'static>) -> Option<&'static File<'static>> {
        dir.files().find(|file| file.path().file_name().is_some_and(|name| name == Manifest::FILE))
    }

    fn take_all(dir: &Dir<'_>, inside: &str, intake: &mut Intake) {
        for entry in dir.entries() {
            let Some(name) = entry.path().file_name().and_then(|name| name.to_str()) else { continue };
            let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
            match entry {
                DirEntry::Dir(dir) => take_all(dir, &path, intake),
                DirEntry::File(file) => intake.take(&path, file.contents()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn manifest(id: &str) -> String {
        format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\n")
    }

    fn library(ids: &[&str]) -> Library {
        Library::from_files(ids.iter().map(|id| (format!("{id}/ruleset.toml"), manifest(id))))
    }

    #[test]
    fn an_unknown_id_is_answered_with_the_nearest_or_the_list() {
        let library = library(&["duel", "duel-2"]);
        assert_eq!(library.ids(), ["duel", "duel-2"]);
        assert_eq!(
            library.read("dule").unwrap_err().to_string(),
            "cannot load ruleset `dule`:\n  dule: there is no ruleset `dule` in rulesets held in memory (did you mean `duel`?)"
        );
        assert!(library.read("siege").unwrap_err().to_string().ends_with("(known: duel, duel-2)"));
        for id in ["", ".", "..", "../duel", "duel/", "Duel", "duel\0", "/"] {
            assert!(!library.contains(id) && library.read(id).is_err(), "{id}");
        }
    }

    #[test]
    fn the_first_library_hides_equal_ids_of_the_second() {
        let front = Library::from_files([("b/ruleset.toml", manifest("b")), ("b/x.luau", "return 1".to_owned())]);
        let both = Library::overlay(front, library(&["a", "b"]));
        assert_eq!(both.ids(), ["a", "b"]);
        assert_eq!(both.read("b").unwrap().files.len(), 2);
        assert_eq!(both.read("a").unwrap().files.len(), 1);
        assert_eq!(both.describe(), "rulesets held in memory, then rulesets held in memory");
        assert_eq!(both.folder_of("a"), None);
    }

    #[test]
    fn suggestions_include_the_second_library() {
        let backed = library(&["own"]).backed_by(library(&["duel"]));
        assert_eq!(backed.ids(), ["own"]);
        assert_eq!(backed.instead_of("dule"), "did you mean `duel`?");
        assert_eq!(backed.instead_of("siege"), "known: duel, own");
    }

    #[test]
    fn a_folder_on_the_disk_is_read_like_files_in_memory() {
        let scratch = Scratch::new();
        scratch.write("b/ruleset.toml", manifest("b"));
        scratch.write("b/maneuvers/x.luau", "return 1");
        scratch.write("a/ruleset.toml", manifest("a"));
        scratch.write(".git/ruleset.toml", manifest("git"));
        scratch.write("notes/todo.md", "");
        scratch.write("readme.md", "");
        let on_disk = Library::open(&scratch.0).unwrap();
        let in_memory =
            Library::from_files([("b/ruleset.toml", manifest("b")), ("b/maneuvers/x.luau", "return 1".to_owned())]);
        assert_eq!(on_disk.ids(), ["a", "b"]);
        assert_eq!(on_disk.read("b").unwrap(), in_memory.read("b").unwrap());
        assert_eq!(on_disk.folder_of("b"), Some(scratch.0.join("b")));
        let error = on_disk.read("notes").unwrap_err();
        assert_eq!((&*error.problems[0].path, &*error.problems[0].message), ("notes/ruleset.toml", "is missing"));
    }

    #[test]
    fn unsaved_texts_replace_and_add_files() {
        let scratch = Scratch::new();
        scratch.write("a/ruleset.toml", manifest("a"));
        scratch.write("a/lib/x.luau", "return 1");
        let library = || Library::open(&scratch.0).unwrap();
        let texts = [("a/lib/x.luau", "return 2"), ("a/lib/y.luau", "return 3"), ("b/lib/x.luau", "return 4")];
        let edited = library().with_texts(texts);
        let folder = edited.read("a").unwrap();
        assert_eq!((&*folder.files["lib/x.luau"].text, &*folder.files["lib/y.luau"].text), ("return 2", "return 3"));
        assert_eq!((edited.ids(), edited.folder_of("a")), (vec!["a".to_owned()], Some(scratch.0.join("a"))));
        assert!(edited.origin_of("a").is_none(), "it does not look like that on the disk");
        let again = edited.with_texts([("a/lib/x.luau", "return 5")]);
        assert_eq!(&*again.read("a").unwrap().files["lib/x.luau"].text, "return 5");
        assert_eq!(&*library().read("a").unwrap().files["lib/x.luau"].text, "return 1");
        // The editor repairs a manifest that is invalid on disk.
        scratch.write("a/ruleset.toml", "id =");
        assert!(library().read("a").is_err());
        assert!(library().with_texts([("a/ruleset.toml", manifest("a"))]).read("a").is_ok());
        let in_memory = library_of_one().with_texts([("a/x.luau", "return 1")]);
        assert_eq!(in_memory.read("a").unwrap().files.len(), 2);
    }

    fn library_of_one() -> Library {
        library(&["a"])
    }

    #[test]
    fn a_skipped_folder_is_reported_with_the_reason() {
        let scratch = Scratch::new();
        scratch.write("a/ruleset.toml", manifest("a"));
        scratch.write("My House/ruleset.toml", manifest("My House"));
        scratch.write("capital/Ruleset.TOML", manifest("capital"));
        scratch.write("cards/maneuvers/x.luau", "return 1");
        scratch.write(".git/x.luau", "return 1");
        scratch.write("gone/.riskbreaker/riskbreaker.luau", "return 1");
        scratch.write("notes/todo.md", "");
        scratch.write("tools/lint.luau", "return 1");
        scratch.write("examples/scripts/x.luau", "return 1");
        scratch.write("rulesets/b/kinds.luau", "return 1");
        scratch.write("rulesets/b/ruleset.toml", manifest("b"));
        fs::create_dir_all(scratch.0.join("odd/ruleset.toml")).unwrap();
        let library = Library::open(&scratch.0).unwrap().backed_by(Library::embedded());
        assert_eq!(library.ids(), ["a", "odd"], "by its id, a broken one tells what is wrong");
        let told: Vec<String> = library.left_out().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "My House: is left out: the name of the folder is no id (rename it: an id has small letters, digits, `.`, `_` \
                 and `-`, and begins with a letter or digit)",
                "capital/Ruleset.TOML: is not read, and the folder is left out: the file must be called `ruleset.toml` \
                 (rename it)",
                "cards/ruleset.toml: is missing: the folder holds the scripts of a ruleset and is left out (write one with \
                 an id, a title and a version)",
            ]
        );
    }

    #[test]
    fn a_path_that_is_no_folder_is_reported_in_one_sentence() {
        let scratch = Scratch::new();
        scratch.write("file", "");
        let missing = Library::open(scratch.0.join("none")).unwrap_err().to_string();
        assert!(missing.starts_with("there is no folder `") && missing.ends_with("none`"), "{missing}");
        let file = Library::locate(Some(&scratch.0.join("file"))).unwrap_err().to_string();
        assert!(file.ends_with("file` is a file, not a folder of rulesets"), "{file}");
    }
}
