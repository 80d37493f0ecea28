use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::folder::Folder;
use super::source::is_litter;

/// The files from which a ruleset was read, with their metadata. Unchanged metadata means unchanged content, which need
/// not be read again.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Files built into the program.
    Embedded,
    Memory(Arc<BTreeMap<String, Vec<u8>>>),
    Disk {
        root: PathBuf,
        entries: Vec<FileMetadata>,
    },
}

/// The metadata of a file or folder. Writing a file changes its times, its length or its inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMetadata {
    path: PathBuf,
    bytes: u64,
    times: [Option<SystemTime>; 2],
    inode: Option<u64>,
}

/// The most files and folders of a ruleset whose metadata is read.
const MOST_ENTRIES: usize = 4 * Folder::MAX_FILES;
/// Resolution of file times. A second change within this time may go unnoticed.
const SETTLED: Duration = Duration::from_secs(2);

impl PartialEq for Origin {
    fn eq(&self, other: &Origin) -> bool {
        match (self, other) {
            (Origin::Embedded, Origin::Embedded) => true,
            (Origin::Memory(one), Origin::Memory(other)) => Arc::ptr_eq(one, other),
            (Origin::Disk { root, entries }, Origin::Disk { root: of, entries: other }) => {
                root == of && entries == other
            }
            _ => false,
        }
    }
}

impl Origin {
    /// A folder on disk. `None` if changes cannot be detected (symlinks, read errors).
    pub fn of_folder(root: &Path) -> Option<Origin> {
        let mut entries = Vec::new();
        look(root, &fs::metadata(root).ok()?, 0, &mut entries)?;
        Some(Origin::Disk { root: root.to_owned(), entries })
    }

    /// True if all files are older than a moment by more than the resolution of file times.
    pub fn is_settled_at(&self, moment: SystemTime) -> bool {
        let Origin::Disk { entries, .. } = self else { return true };
        let newest = entries.iter().flat_map(|entry| entry.times).map(|time| time.unwrap_or(moment)).max();
        newest.is_none_or(|newest| newest.checked_add(SETTLED).is_some_and(|settled| settled < moment))
    }
}

fn look(path: &Path, found: &Metadata, depth: usize, entries: &mut Vec<FileMetadata>) -> Option<()> {
    if entries.len() >= MOST_ENTRIES || found.is_symlink() {
        return None;
    }
    entries.push(FileMetadata {
        path: path.to_owned(),
        bytes: found.len(),
        times: [found.modified().ok(), changed(found)],
        inode: inode(found),
    });
    if !found.is_dir() || depth > Folder::MAX_DEPTH {
        return Some(());
    }
    let mut inside = Vec::new();
    for entry in fs::read_dir(path).ok()? {
        let entry = entry.ok()?;
        if !is_litter(&entry.file_name().to_string_lossy()) {
            inside.push(entry);
        }
    }
    inside.sort_by_key(fs::DirEntry::file_name);
    inside.iter().try_for_each(|entry| look(&entry.path(), &entry.metadata().ok()?, depth + 1, entries))
}

/// The time of the last change of a file, including its name and times (ctime). Programs cannot set it back.
#[cfg(unix)]
fn changed(found: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let seconds = u64::try_from(found.ctime()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, u32::try_from(found.ctime_nsec()).ok()?))
}

#[cfg(not(unix))]
fn changed(found: &Metadata) -> Option<SystemTime> {
    found.created().ok()
}

/// A number that distinguishes a file or folder from another one with the same name.
pub fn inode(data: &Metadata) -> Option<u64> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::ino(data));
    #[cfg(not(unix))]
    return Some(data.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn every_change_of_a_folder_is_detected() {
        let scratch = Scratch::new();
        scratch.write("g/ruleset.toml", "id = \"g\"");
        scratch.write("g/maneuvers/x.luau", "return 1");
        let root = scratch.0.join("g");
        let before = Origin::of_folder(&root).unwrap();
        assert_eq!(Origin::of_folder(&root).unwrap(), before);
        let now = SystemTime::now();
        assert!(!before.is_settled_at(now) && before.is_settled_at(now + 2 * SETTLED));
        std::thread::sleep(Duration::from_millis(20));
        let changes: [&dyn Fn(); 4] = [
            &|| scratch.write("g/maneuvers/x.luau", "return 2"),
            &|| scratch.write("g/maneuvers/y.luau", "return 2"),
            &|| fs::remove_file(root.join("maneuvers/y.luau")).unwrap(),
            &|| fs::rename(root.join("maneuvers/x.luau"), root.join("maneuvers/z.luau")).unwrap(),
        ];
        let mut known = before;
        for change in changes {
            change();
            let after = Origin::of_folder(&root).unwrap();
            assert_ne!(after, known);
            known = after;
        }
        // Ignored files do not count.
        scratch.write("g/maneuvers/.z.luau.swp", "x");
        let litter = Origin::of_folder(&root).unwrap();
        let Origin::Disk { entries, .. } = &litter else { panic!("{litter:?}") };
        assert_eq!(entries.len(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_with_a_link_is_always_read() {
        let scratch = Scratch::new();
        scratch.write("g/ruleset.toml", "id = \"g\"");
        std::os::unix::fs::symlink("ruleset.toml", scratch.0.join("g/same.toml")).unwrap();
        assert_eq!(Origin::of_folder(&scratch.0.join("g")), None);
    }
}
