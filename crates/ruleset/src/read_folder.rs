use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::folder::{Folder, Intake};
use super::lock_entry::LockEntry;
use super::problem::{LoadError, Problem};
use super::quoted::system_message;
use super::source::{Source, is_litter};

/// Reads a ruleset's folder from disk. Opens only regular files inside the folder: links that lead out, devices and
/// pipes are refused by name. If the text of a file is given in `texts`, it replaces the content on disk; a text
/// without a file is added.
pub(crate) fn read_folder(id: &str, root: &Path, texts: &BTreeMap<&str, &[u8]>) -> Result<Folder, LoadError> {
    let entry = root.parent().map_or_else(|| Ok(LockEntry::default()), |rulesets| LockEntry::beside(rulesets, id));
    let mut intake = Intake::new(id).with_lock_entry(entry);
    match root.canonicalize() {
        Ok(root) => {
            let mut reader = FolderReader { root, intake: &mut intake, texts, seen: 0 };
            reader.folder("", 0);
            reader.add_new_texts();
        }
        Err(error) => intake.refuse(unreadable(id, &error)),
    }
    intake.finish()
}

/// The most entries of a folder that are read, including ignored ones.
const MOST_ENTRIES: usize = 20_000;

struct FolderReader<'i> {
    root: PathBuf,
    intake: &'i mut Intake,
    texts: &'i BTreeMap<&'i str, &'i [u8]>,
    seen: usize,
}

impl FolderReader<'_> {
    fn folder(&mut self, inside: &str, depth: usize) {
        let entries = match fs::read_dir(self.root.join(inside)) {
            Ok(entries) => entries,
            Err(error) => {
                return self.intake.refuse(unreadable(&self.intake.named(inside), &error));
            }
        };
        // Sorted by name, so that the same folder gives the same problems on every system.
        let mut names = Vec::new();
        for entry in entries {
            self.seen += 1;
            if self.seen > MOST_ENTRIES {
                if self.seen == MOST_ENTRIES + 1 {
                    let message = format!("holds more than {MOST_ENTRIES} files and folders");
                    let problem = Problem::new(self.intake.named(""), message);
                    self.intake.refuse(problem.with_cure("is this the folder of a ruleset?"));
                }
                return;
            }
            match entry {
                Ok(entry) => names.push(entry.file_name()),
                Err(error) => self.intake.refuse(unreadable(&self.intake.named(inside), &error)),
            }
        }
        names.sort();
        for name in names {
            let shown = name.to_string_lossy();
            if self.intake.is_full() || self.seen > MOST_ENTRIES {
                return;
            }
            if is_litter(&shown) {
                continue;
            }
            let path = if inside.is_empty() { shown.to_string() } else { format!("{inside}/{shown}") };
            if name.to_str().is_some() {
                self.entry(&path, depth);
            } else if Intake::wants(&path) {
                let problem = Problem::new(self.intake.named(&path), "has a name that is not UTF-8");
                self.intake.refuse(problem.with_cure("rename it"));
            }
        }
    }

    fn entry(&mut self, path: &str, depth: usize) {
        let full = self.root.join(path);
        let kind = match fs::symlink_metadata(&full) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.unreadable_if_wanted(path, &error),
        };
        if kind.is_dir() {
            if Intake::wants(path) {
                let problem = Problem::new(self.intake.named(path), "is a folder with the name of a file");
                self.intake.refuse(problem.with_cure("rename it"));
            }
            if depth == Folder::MAX_DEPTH {
                let message = format!("lies more than {} folders deep", Folder::MAX_DEPTH);
                let problem = Problem::new(self.intake.named(path), message);
                return self.intake.refuse(problem.with_cure("move it up"));
            }
            return self.folder(path, depth + 1);
        }
        if kind.is_symlink() {
            return self.link(path, &full);
        }
        if !Intake::wants(path) {
            return self.intake.leave_out(path);
        }
        if kind.is_file() {
            self.file(path, &full);
        } else {
            let problem = Problem::new(self.intake.named(path), "is no regular file");
            self.intake.refuse(problem.with_cure("put a file in its place"));
        }
    }

    /// Reads a link as its target file, if that is in the same folder. A link to a folder would hide changes from the
    /// watcher, and could form a cycle.
    fn link(&mut self, path: &str, full: &Path) {
        let (target, is_dir) = match full.canonicalize().and_then(|target| Ok((fs::metadata(&target)?, target))) {
            Ok((metadata, target)) if metadata.is_file() => (target, false),
            Ok((metadata, target)) => (target, metadata.is_dir()),
            Err(error) => return self.unreadable_if_wanted(path, &error),
        };
        if is_dir {
            let problem = Problem::new(self.intake.named(path), "is a link to a folder");
            return self.intake.refuse(problem.with_cure("copy the folder here, or stack it as a layer"));
        }
        if !Intake::wants(path) {
            return;
        }
        if !target.starts_with(&self.root) {
            let problem = Problem::new(self.intake.named(path), "is a link that leads out of the ruleset");
            return self.intake.refuse(problem.with_cure("copy the file here"));
        }
        self.file(path, &target);
    }

    fn file(&mut self, path: &str, full: &Path) {
        if let Some(text) = self.texts.get(path) {
            return self.intake.take(path, text);
        }
        match read_regular(full) {
            Ok(Some(bytes)) => self.intake.take(path, &bytes),
            Ok(None) => self.intake.refuse(Problem::new(self.intake.named(path), "is no regular file")),
            Err(error) => self.intake.refuse(unreadable(&self.intake.named(path), &error)),
        }
    }

    fn add_new_texts(&mut self) {
        for (path, text) in self.texts {
            if Intake::wants(path) && fs::symlink_metadata(self.root.join(path)).is_err() {
                self.intake.take(path, text);
            }
        }
    }

    fn unreadable_if_wanted(&mut self, path: &str, error: &io::Error) {
        if Intake::wants(path) {
            self.intake.refuse(unreadable(&self.intake.named(path), error));
        }
    }
}

/// Reads a file, up to one byte more than the largest valid source. `None` if it is no regular file.
pub fn read_regular(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut options = File::options();
    // Do not wait for a pipe that has replaced a file.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(Source::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn unreadable(path: &str, error: &io::Error) -> Problem {
    Problem::new(path, format!("cannot be read: {}", system_message(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn small_ruleset() -> Scratch {
        let scratch = Scratch::new();
        scratch.write("g/ruleset.toml", "id = \"g\"\ntitle = \"G\"\nversion = \"1\"\n");
        scratch.write("g/maneuvers/feint.luau", "return 1\n");
        scratch
    }

    fn read(scratch: &Scratch) -> Result<Folder, Vec<String>> {
        read_folder("g", &scratch.0.join("g"), &BTreeMap::new())
            .map_err(|error| error.problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_folder_is_read_with_its_subfolders_and_without_litter() {
        let scratch = small_ruleset();
        scratch.write("g/.git/hook.luau", "\0");
        scratch.write("g/maneuvers/#feint.luau#", "\0");
        scratch.write("g/art/map.png", "\0");
        let folder = read(&scratch).unwrap();
        assert_eq!(folder.files.keys().collect::<Vec<_>>(), ["maneuvers/feint.luau", "ruleset.toml"]);
    }

    #[test]
    fn a_file_too_long_is_refused_before_its_end_is_read() {
        let scratch = small_ruleset();
        File::create(scratch.0.join("g/big.luau")).unwrap().set_len(1 << 24).unwrap();
        assert!(read(&scratch).unwrap_err()[0].starts_with("g/big.luau: is longer than 256 KiB"));
    }

    #[cfg(unix)]
    #[test]
    fn links_must_lead_to_files_inside_the_folder() {
        use std::os::unix::fs::symlink;
        let scratch = small_ruleset();
        scratch.write("secret.luau", "return 2\n");
        symlink("feint.luau", scratch.0.join("g/maneuvers/same.luau")).unwrap();
        symlink("nowhere", scratch.0.join("g/maneuvers/.#feint.luau")).unwrap();
        symlink("nowhere", scratch.0.join("g/maneuvers/map.png")).unwrap();
        assert_eq!(&*read(&scratch).unwrap().files["maneuvers/same.luau"].text, "return 1\n");

        symlink("../secret.luau", scratch.0.join("g/out.luau")).unwrap();
        symlink("..", scratch.0.join("g/round")).unwrap();
        symlink("/dev/zero", scratch.0.join("g/zero.luau")).unwrap();
        symlink("gone.luau", scratch.0.join("g/dangling.luau")).unwrap();
        let told = read(&scratch).unwrap_err();
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("g/dangling.luau: cannot be read"), "{told:?}");
        assert!(told[1].starts_with("g/out.luau: is a link that leads out of the ruleset"), "{told:?}");
        assert!(told[2].starts_with("g/round: is a link to a folder"), "{told:?}");
        assert!(told[3].starts_with("g/zero.luau: is a link that leads out"), "{told:?}");
    }

    #[cfg(unix)]
    #[test]
    fn sockets_and_pipes_are_no_scripts_and_nobody_waits_for_them() {
        let scratch = small_ruleset();
        let _socket = std::os::unix::net::UnixListener::bind(scratch.0.join("g/a.luau")).unwrap();
        let pipe = scratch.0.join("g/b.luau");
        let path = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the path is a zero-terminated string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        let told = read(&scratch).unwrap_err();
        assert!(told[0].starts_with("g/a.luau: is no regular file"), "{told:?}");
        assert!(told[1].starts_with("g/b.luau: is no regular file"), "{told:?}");
        assert!(matches!(read_regular(&pipe), Ok(None)));
    }

    #[test]
    fn a_folder_may_not_look_like_a_script() {
        let scratch = small_ruleset();
        fs::create_dir(scratch.0.join("g/maneuvers/card.luau")).unwrap();
        assert_eq!(
            read(&scratch).unwrap_err(),
            ["g/maneuvers/card.luau: is a folder with the name of a file (rename it)"]
        );
    }

    #[test]
    fn folders_too_deep_are_refused_and_not_followed() {
        let scratch = small_ruleset();
        scratch.write(&format!("g/{}x.luau", "a/".repeat(Folder::MAX_DEPTH)), "return 1");
        assert!(read(&scratch).is_ok());
        scratch.write(&format!("g/{}x.luau", "b/".repeat(Folder::MAX_DEPTH + 1)), "return 1");
        assert!(read(&scratch).unwrap_err()[0].contains("more than 8 folders deep"));
    }
}
