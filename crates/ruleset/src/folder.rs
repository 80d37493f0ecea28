use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use super::lock_entry::LockEntry;
use super::manifest::Manifest;
use super::problem::{LoadError, Problem};
use super::quoted::{quoted, turns_direction};
use super::source::{Source, SourceKind, is_conflict_copy, is_litter};

/// A ruleset's folder: its manifest and the text of every file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The id, which is the folder's name.
    pub id: String,
    /// The content of `ruleset.toml`.
    pub manifest: Manifest,
    /// Every script, data file and text by its path inside the folder (`maneuvers/feint.luau`), including the manifest.
    pub files: BTreeMap<String, Source>,
    /// The paths of ignored files whose ending looks like a misspelt one of a script or a data file.
    #[doc(hidden)]
    pub misnamed: Vec<String>,
    /// The entry of the ruleset in the lock; an empty one if it was not added.
    #[doc(hidden)]
    pub lock_entry: LockEntry,
    /// The paths of conflict copies, which a program for synchronization makes of files that were changed in two
    /// places. They are not read.
    pub conflict_copies: Vec<String>,
}

impl Folder {
    /// The most files of a ruleset.
    pub const MAX_FILES: usize = 10_000;
    /// The most bytes of all files of a ruleset together.
    pub const MAX_BYTES: usize = 16 * 1024 * 1024;
    /// The deepest nesting of folders in a ruleset; `maneuvers/feint.luau` has depth one.
    pub const MAX_DEPTH: usize = 8;

    /// True if a file with this path is part of a ruleset: its ending is known, and it is no temporary file of an
    /// editor or of version control.
    pub fn takes(path: &str) -> bool {
        Intake::wants(path)
    }

    /// Finds a file by its path inside the folder. A path without `.luau` or `.lua`, as in `require`, finds the script
    /// with this name.
    pub fn file(&self, path: &str) -> Option<&Source> {
        self.files
            .get(path)
            .or_else(|| ["luau", "lua"].iter().find_map(|ending| self.files.get(&format!("{path}.{ending}"))))
    }
}

/// Builds a folder: takes its files one by one and checks them.
pub struct Intake {
    id: String,
    files: BTreeMap<String, Source>,
    /// Paths in lower case, to find those that are one file on some systems and two on others.
    small: BTreeMap<String, String>,
    taken: usize,
    bytes: usize,
    problems: Vec<Problem>,
    misnamed: Vec<String>,
    lock_entry: LockEntry,
    conflict_copies: Vec<String>,
}

impl Intake {
    pub fn new(id: &str) -> Self {
        let (files, small) = (BTreeMap::new(), BTreeMap::new());
        let (problems, misnamed) = (Vec::new(), Vec::new());
        let (lock_entry, conflict_copies) = (LockEntry::default(), Vec::new());
        Intake { id: id.to_owned(), files, small, taken: 0, bytes: 0, problems, misnamed, lock_entry, conflict_copies }
    }

    /// Sets the lock entry, whose aliases replace ids in the manifest. A lock that cannot be read is a problem of the
    /// ruleset.
    pub fn with_lock_entry(mut self, entry: Result<LockEntry, Problem>) -> Self {
        match entry {
            Ok(entry) => self.lock_entry = entry,
            Err(problem) => self.problems.push(problem),
        }
        self
    }

    /// True if a file with this path is part of a ruleset: its extension is known, and it is neither a temporary file
    /// nor a conflict copy.
    pub fn wants(path: &str) -> bool {
        let is_other = |name: &str| is_litter(name) || is_conflict_copy(name);
        SourceKind::of(&path.to_ascii_lowercase()).is_some() && !path.split('/').any(is_other)
    }

    /// Ignores a file that is not part of the ruleset. Records it if its ending looks misspelt.
    pub fn leave_out(&mut self, path: &str) {
        let is_litter = path.split('/').any(is_litter);
        if path.split('/').any(is_conflict_copy) {
            if !is_litter && self.conflict_copies.len() < Folder::MAX_FILES {
                self.conflict_copies.push(path.to_owned());
            }
            return;
        }
        if !is_litter && self.misnamed.len() < Folder::MAX_FILES && SourceKind::meant(path).is_some() {
            self.misnamed.push(path.to_owned());
        }
    }

    /// Adds one file. Reports once if there are too many.
    pub fn take(&mut self, path: &str, bytes: &[u8]) {
        if !Self::wants(path) {
            return self.leave_out(path);
        }
        if !self.has_room(path, bytes.len()) || !self.name_is_sound(path) {
            return;
        }
        match Source::read(format!("{}/{path}", self.id), bytes) {
            Ok(source) => {
                let source = if path == Manifest::FILE { self.lock_entry.in_manifest(source) } else { source };
                self.files.insert(path.to_owned(), source);
            }
            Err(problems) => self.problems.extend(problems),
        }
    }

    /// Records a problem with a file that could not be read.
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The path of a file as used in problems.
    pub fn named(&self, path: &str) -> String {
        if path.is_empty() { self.id.clone() } else { format!("{}/{path}", self.id) }
    }

    /// True if a limit is exceeded: no more files are added.
    pub fn is_full(&self) -> bool {
        self.taken > Folder::MAX_FILES || self.bytes > Folder::MAX_BYTES
    }

    /// Finishes the folder.
    ///
    /// # Errors
    ///
    /// All problems of the files.
    pub fn finish(mut self) -> Result<Folder, LoadError> {
        let manifest = match self.files.get(Manifest::FILE) {
            Some(source) => match Manifest::read(&self.id, source) {
                Ok(manifest) => Some(manifest),
                Err(problems) => {
                    self.problems.extend(problems);
                    None
                }
            },
            None => {
                let path = self.named(Manifest::FILE);
                // A refused manifest was reported already; beyond a limit it may not have been read.
                if !self.is_full() && !self.problems.iter().any(|problem| problem.path == path) {
                    let cure = format!("write one with id = \"{}\", a title and a version", self.id);
                    self.problems.push(Problem::new(path, "is missing").with_cure(cure));
                }
                None
            }
        };
        match manifest {
            Some(manifest) if self.problems.is_empty() => Ok(Folder {
                id: self.id,
                manifest,
                files: self.files,
                misnamed: self.misnamed,
                lock_entry: self.lock_entry,
                conflict_copies: self.conflict_copies,
            }),
            _ => Err(LoadError::new(self.id, self.problems)),
        }
    }

    fn has_room(&mut self, path: &str, bytes: usize) -> bool {
        if self.is_full() {
            return false;
        }
        if path.split('/').count() > Folder::MAX_DEPTH + 1 {
            let message = format!("lies more than {} folders deep", Folder::MAX_DEPTH);
            self.problems.push(Problem::new(self.named(path), message).with_cure("move it up"));
            return false;
        }
        self.taken += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.taken > Folder::MAX_FILES {
            let message = format!("has more than {} files", Folder::MAX_FILES);
            let cure = "is this the folder of a ruleset? Make one card with options of cards that are alike, or move a part \
                        of the files to a ruleset that this one `extends`";
            self.problems.push(Problem::new(self.named(""), message).with_cure(cure));
        } else if self.bytes > Folder::MAX_BYTES {
            let message = format!("has more than {} MiB of text", Folder::MAX_BYTES / 1024 / 1024);
            self.problems.push(Problem::new(self.named(""), message).with_cure("is this the folder of a ruleset?"));
        }
        !self.is_full()
    }

    fn name_is_sound(&mut self, path: &str) -> bool {
        let odd = |c: char| c.is_control() || turns_direction(c) || matches!(c, '\\' | ':');
        if path.chars().any(odd) || path.split('/').any(str::is_empty) {
            self.wrong(path, "has a name that scripts cannot say", "rename it: letters, digits, `_`, `-` and `.`");
            return false;
        }
        if SourceKind::of(path).is_none() {
            self.wrong(path, "has an ending in capitals", "write the ending in small letters");
            return false;
        }
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let small = match SourceKind::of(path) {
            Some(SourceKind::Script) => format!("{stem}.luau"),
            _ => path.to_owned(),
        };
        // Some systems store an accented letter as two characters, so both spellings are one file there.
        let small: String = small.to_lowercase().nfc().collect();
        match self.small.insert(small, path.to_owned()) {
            Some(other) => {
                self.wrong(path, format!("and {} are the same name", quoted(&other)), "delete or rename one of them");
                false
            }
            None => true,
        }
    }

    fn wrong(&mut self, path: &str, message: impl Into<String>, cure: &str) {
        self.problems.push(Problem::new(self.named(path), message).with_cure(cure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &[u8] = b"id = \"g\"\ntitle = \"G\"\nversion = \"1\"\n";

    fn gather(files: &[(&str, &[u8])]) -> Result<Folder, Vec<String>> {
        let mut intake = Intake::new("g");
        intake.take(Manifest::FILE, MANIFEST);
        for (path, bytes) in files {
            intake.take(path, bytes);
        }
        intake.finish().map_err(|error| error.problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn scripts_data_and_texts_are_read_and_other_files_ignored() {
        let files: [(&str, &[u8]); 8] = [
            ("maneuvers/feint.luau", b"return 1"),
            ("lib/order.lua", b"return 1"),
            ("cast/fox.toml", b"wit = 5"),
            ("RULES.md", b"MY-1 ..."),
            ("art/map.png", b"\x89PNG"),
            ("maneuvers/.#feint.luau", b""),
            (".git/config.toml", b"\0"),
            ("maneuvers/feint.luau~", b""),
        ];
        let folder = gather(&files).unwrap();
        let paths: Vec<_> = folder.files.keys().collect();
        assert_eq!(paths, ["RULES.md", "cast/fox.toml", "lib/order.lua", "maneuvers/feint.luau", "ruleset.toml"]);
        assert_eq!(folder.files["cast/fox.toml"].path, "g/cast/fox.toml");
        assert_eq!(folder.file("lib/order").unwrap().path, "g/lib/order.lua");
        assert!(folder.file("lib/other").is_none());
    }

    #[test]
    fn one_script_under_two_endings_or_two_spellings_is_a_clash() {
        let clash = gather(&[("a/x.lua", b"return 1"), ("a/x.luau", b"return 1")]).unwrap_err();
        assert_eq!(clash, ["g/a/x.luau: and `a/x.lua` are the same name (delete or rename one of them)"]);
        assert!(gather(&[("a/x.luau", b"return 1"), ("a/X.luau", b"return 1")]).is_err());
        assert!(gather(&[("a/\u{e9}.luau", b"return 1"), ("a/e\u{301}.luau", b"return 1")]).is_err());
        assert!(gather(&[("a/x.luau", b"return 1"), ("a/x.toml", b"")]).is_ok());
    }

    #[test]
    fn file_names_that_scripts_cannot_require_are_refused() {
        assert!(gather(&[("a\nb.luau", b"return 1")]).unwrap_err()[0].starts_with("g/a\\nb.luau: has a name"));
        assert!(gather(&[("a//b.luau", b"return 1")]).unwrap_err()[0].contains("has a name"));
        assert!(gather(&[("a\\b.luau", b"return 1")]).unwrap_err()[0].contains("has a name"));
        assert!(gather(&[("FEINT.LUA", b"return 1")]).unwrap_err()[0].contains("ending in capitals"));
    }

    #[test]
    fn a_missing_manifest_and_all_other_problems_are_reported() {
        let mut intake = Intake::new("g");
        intake.take("a.luau", b"");
        let error = intake.finish().unwrap_err();
        let told: Vec<_> = error.problems.iter().map(|problem| (&*problem.path, &*problem.message)).collect();
        assert_eq!(told, [("g/a.luau", "is empty"), ("g/ruleset.toml", "is missing")]);
        let mut intake = Intake::new("g");
        intake.take(Manifest::FILE, b"\xff");
        assert_eq!(intake.finish().unwrap_err().problems.len(), 1);
    }

    #[test]
    fn limits_of_a_folder_are_reported_once() {
        let deep = format!("{}x.luau", "a/".repeat(Folder::MAX_DEPTH));
        assert!(gather(&[(&deep, b"return 1")]).is_ok());
        assert!(gather(&[(&format!("a/{deep}"), b"return 1")]).unwrap_err()[0].contains("more than 8 folders deep"));

        let mut intake = Intake::new("g");
        (0..Folder::MAX_FILES + 5).for_each(|n| intake.take(&format!("f{n}.md"), b""));
        assert!(intake.is_full());
        let problems = intake.finish().unwrap_err().problems;
        assert_eq!(problems.iter().filter(|problem| problem.message.contains("more than 10000 files")).count(), 1);

        let mut intake = Intake::new("g");
        let page = vec![b'x'; Source::MAX_BYTES];
        (0..70).for_each(|n| intake.take(&format!("f{n}.md"), &page));
        let problems = intake.finish().unwrap_err().problems;
        assert_eq!(problems.iter().filter(|problem| problem.message.contains("more than 16 MiB")).count(), 1);
    }
}
