use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use riskbreaker_ruleset::Folder;

/// Read-only copies of rulesets that are in no folder on disk, so that an editor can show their sources.
#[derive(Default)]
pub(super) struct SourceCopies {
    folder: Option<PathBuf>,
}

impl SourceCopies {
    /// Copies go to a folder of their own; `None` for no copies.
    pub fn new(folder: Option<PathBuf>) -> SourceCopies {
        SourceCopies { folder }
    }

    /// The path of the copy of a ruleset, which may not exist yet; `None` if there are no copies.
    pub fn path_of(&self, id: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(id))
    }

    /// Writes the copy of a ruleset, as far as it is missing or different.
    ///
    /// # Errors
    ///
    /// A folder or file cannot be written.
    pub fn write(&self, id: &str, ruleset: &Folder) -> io::Result<()> {
        let Some(copy) = self.path_of(id) else { return Ok(()) };
        for (inside, source) in &ruleset.files {
            let file = copy.join(inside);
            if fs::read(&file).is_ok_and(|written| *written == *source.text.as_bytes()) {
                continue;
            }
            if let Some(above) = file.parent() {
                fs::create_dir_all(above)?;
            }
            write_read_only(&file, &source.text)?;
        }
        Ok(())
    }
}

/// Replaces a file by a read-only one.
fn write_read_only(file: &Path, text: &str) -> io::Result<()> {
    let draft = file.with_extension("draft");
    let _ = fs::remove_file(&draft);
    fs::write(&draft, text)?;
    let mut permissions = fs::metadata(&draft)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&draft, permissions)?;
    fs::rename(&draft, file)
}
