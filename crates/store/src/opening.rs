//! Opens the file of a store: creates it, or converts it from an older format.

use std::fs;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::error::StoreError;
use super::file::{FORMAT, StoreFile, connect_to_read, format_of, look_through, make, must_have_content};
use super::lock::Lock;
use super::upgrade::upgrade;
use riskbreaker_ruleset::Library;

/// The purpose for which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

impl StoreFile {
    /// Opens a file. `create`: creates it if it does not exist.
    pub fn open(path: &Path, library: Library, access: Access, create: bool) -> Result<StoreFile, StoreError> {
        let io = |message: &str| StoreError::Io { path: path.to_path_buf(), message: message.into() };
        if !create && !path.exists() {
            return Err(io("there is no such file"));
        }
        if path.exists() && !path.is_file() {
            return Err(io("it is a folder, or no regular file"));
        }
        let path = &led_to(path);
        if access == Access::Read {
            must_have_content(path)?;
            let connection = connect_to_read(path, || Lock::take(path).map(Some))?;
            return StoreFile::of(path, library, &connection, None, None);
        }
        let lock = Lock::take(path)?;
        let made = !path.exists();
        if made {
            make(path)?;
        }
        must_have_content(path)?;
        must_have_one_name(path)?;
        let mut disk = Disk::open(path)?;
        if format_of(&disk.connection, path)? < FORMAT {
            look_through(&disk.connection, path)?;
            // Close it before it is replaced.
            drop(disk);
            upgrade(path, &library)?;
            disk = Disk::open(path)?;
        }
        StoreFile::to_write(path, library, lock, disk, made)
    }
}

/// Refuses to write a file with several hard links: a program that opens it by another name uses another lock, and does
/// not find the journal of an interrupted write.
fn must_have_one_name(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Ok(found) = fs::metadata(path) {
        use std::os::unix::fs::MetadataExt as _;
        if found.nlink() > 1 {
            let message = format!(
                "it has {} names (hard links), and a program that opens it by another one would not notice this one; make a \
                 copy with `cp` and play that, or remove the other name",
                found.nlink()
            );
            return Err(StoreError::Io { path: path.to_path_buf(), message });
        }
    }
    let _ = path;
    Ok(())
}

/// Resolves a symbolic link to a file. So a store has one lock under all its names, and replacing it replaces the file
/// and not the link.
pub fn led_to(path: &Path) -> PathBuf {
    match path.is_symlink() {
        true => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
        false => path.to_path_buf(),
    }
}
