//! Reads and writes files that the user names: regular files only, never through a link, written atomically.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use riskbreaker::ruleset::system_message;

use super::call_error;

/// The most bytes of a file that is read whole, such as a saved game.
const MOST_READ: u64 = 256 << 20;

/// Writes a file so that the old one is kept until the new one is complete and on disk.
///
/// # Errors
///
/// An error of the system; a link, a pipe or a device at the path.
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let old = regular(path)?;
    let (draft, mut file) = draft_of(path)?;
    let written = (|| {
        file.write_all(text.as_ref())?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&draft, path)?;
        sync_folder(path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a file below a folder, with the folders that it needs. None of them may be a link, which could lead out of it.
///
/// # Errors
///
/// Those of [`replace`]; a link in the path.
pub fn replace_inside(folder: &Path, inside: &str, text: impl AsRef<[u8]>) -> io::Result<PathBuf> {
    let path = folder.join(inside);
    fs::create_dir_all(folder)?;
    let mut on_the_way = folder.to_path_buf();
    for part in Path::new(inside).parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else {
            return Err(io::Error::other("it lies outside of its folder"));
        };
        on_the_way.push(part);
        match fs::symlink_metadata(&on_the_way) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is no folder of its own", on_the_way.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&on_the_way)?,
            Err(error) => return Err(error),
        }
    }
    replace(&path, text)?;
    Ok(path)
}

/// Checks whether a file can be written, without changing anything.
///
/// # Errors
///
/// Those of [`replace`].
pub fn can_be_written(path: &Path) -> io::Result<()> {
    regular(path)?;
    let (draft, _) = draft_of(path)?;
    fs::remove_file(draft)
}

/// Reads a text file. Pipes and devices are refused.
///
/// # Errors
///
/// An error of the system; a file that is not regular, is too long, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.read(true).open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
        _ => error,
    })?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(is_a_folder());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_READ + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_READ {
        return Err(io::Error::other(format!("it is longer than {} MiB", MOST_READ >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// Reads a script that the command line names, which may come from a pipe. `what`: the advice if the path is a folder.
///
/// # Errors
///
/// A call error: a file that cannot be read, is too long, or is not UTF-8.
pub fn read_script(path: &Path, longest: u64, what: &str) -> anyhow::Result<String> {
    let name = path.display();
    if path.is_dir() {
        return Err(call_error(format!("{name}: is a folder; {what}")));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(longest + 1).read_to_end(&mut bytes)).map_err(|error| {
        call_error(match error.kind() {
            io::ErrorKind::NotFound => format!("{name}: there is no such file"),
            _ => format!("{name}: {}", system_message(&error)),
        })
    })?;
    if bytes.len() as u64 > longest {
        return Err(call_error(format!("{name}: is longer than {} MiB", longest >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        call_error(format!("{name}:{line}: not UTF-8 text"))
    })
}

/// Returns the metadata of a regular file; `None` if there is no file.
fn regular(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(found) if found.is_dir() => Err(is_a_folder()),
        Ok(found) if found.is_symlink() => Err(io::Error::other("it is a link; name the file that it leads to")),
        Ok(_) => Err(io::Error::other("it is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_a_folder() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(libc::EISDIR);
    #[cfg(not(unix))]
    io::Error::from(io::ErrorKind::IsADirectory)
}

/// A new file next to a path, which did not exist before.
fn draft_of(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(is_a_folder)?;
    for number in 0_u32.. {
        let mut draft = OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}-{number}.part", std::process::id()));
        let draft = path.with_file_name(draft);
        match File::options().write(true).create_new(true).open(&draft) {
            Ok(file) => return Ok((draft, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no name is left for a draft"))
}

/// Syncs the folder, so that a renamed file survives a power cut.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    let _ = path;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> TestFolder {
            let folder = std::env::temp_dir().join(format!("riskbreaker-file-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            TestFolder(folder)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn only_regular_files_are_written() {
        let scratch = TestFolder::new("write");
        let (file, link, folder) = (scratch.0.join("a.json"), scratch.0.join("link"), scratch.0.join("folder"));
        replace(&file, "one").unwrap();
        replace(&file, "two").unwrap();
        assert_eq!(read(&file).unwrap(), "two");
        symlink(&file, &link).unwrap();
        symlink("nowhere", scratch.0.join("dangling")).unwrap();
        fs::create_dir(&folder).unwrap();
        for path in [&link, &folder, &scratch.0.join("dangling"), Path::new("/dev/null"), Path::new("/dev/stdout")] {
            assert!(replace(path, "three").is_err(), "{}", path.display());
            assert!(can_be_written(path).is_err(), "{}", path.display());
        }
        assert_eq!(read(&file).unwrap(), "two");
        can_be_written(&scratch.0.join("new")).unwrap();
        assert_eq!(scratch.names(), ["a.json", "dangling", "folder", "link"]);
    }

    #[test]
    fn nothing_is_written_outside_of_a_folder() {
        let scratch = TestFolder::new("inside");
        let (folder, other) = (scratch.0.join("rules"), scratch.0.join("other"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&other).unwrap();
        symlink(&other, folder.join("away")).unwrap();
        for inside in ["away/a", "away/b/c", "../other/a", "/tmp/riskbreaker-file-none"] {
            assert!(replace_inside(&folder, inside, "x").is_err(), "{inside}");
        }
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
        assert_eq!(replace_inside(&folder, "b/c/d", "x").unwrap(), folder.join("b/c/d"));
    }

    #[test]
    fn pipes_and_devices_are_not_read() {
        let scratch = TestFolder::new("read");
        let pipe = scratch.0.join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name is a text that ends with zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/null"), scratch.0.as_path()] {
            assert!(read(path).is_err(), "{}", path.display());
        }
        fs::write(scratch.0.join("bytes"), b"\xff").unwrap();
        assert!(read(&scratch.0.join("bytes")).is_err());
    }
}
