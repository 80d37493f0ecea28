//! Packages as zip files.

use std::io::{Cursor, Read as _, Write as _};

use anyhow::{Context as _, Result};
use riskbreaker::ruleset::typed_text::read_json;
use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::package::{Gathered, MOST_ENTRIES, Package};
use crate::cli::row::harmless;

/// The name of the file in a package that describes it, next to the folder of the ruleset.
pub const LABEL: &str = "riskbreaker-package.json";

/// The most bytes of a zip file that is read.
pub const MOST_BYTES: u64 = 32 << 20;

/// The content of [`LABEL`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Label {
    /// The version of this format.
    pub format: u32,
    pub id: String,
    pub title: String,
    pub version: String,
    /// The least engine version, from the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The rulesets that it extends, each with a range of versions.
    #[serde(default)]
    pub parents: std::collections::BTreeMap<String, String>,
    /// The names of its switches.
    #[serde(default)]
    pub switches: Vec<String>,
    /// The hash of its files.
    pub hash: String,
    /// True if it was packed although `check` or its specs found a problem.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faulty: bool,
}

/// Writes a package as a zip file. Equal content gives equal bytes: the files are sorted and have no times.
pub fn write(package: &Package, label: &Label) -> Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file(LABEL, options)?;
    writer.write_all(format!("{}\n", serde_json::to_string_pretty(label)?).as_bytes())?;
    for (path, bytes) in &package.files {
        writer.start_file(format!("{}/{path}", package.id), options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

/// Reads a package from the bytes of a zip file.
///
/// # Errors
///
/// The bytes are no zip file, or it is encrypted, has links, leads out of its folder, is larger than a ruleset may be,
/// or contradicts its label.
pub fn read(bytes: &[u8], inside: Option<&str>) -> Result<Package> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).context("it is no zip file that can be read")?;
    if archive.len() > MOST_ENTRIES {
        anyhow::bail!("it has more than {MOST_ENTRIES} files");
    }
    let mut gathered = Gathered::default();
    let mut label: Option<Label> = None;
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).context("a file in it cannot be read")?;
        let path = std::str::from_utf8(file.name_raw()).context("a path in it is not UTF-8")?.to_owned();
        if file.is_dir() {
            continue;
        }
        if file.is_symlink() {
            anyhow::bail!("`{}` is a link; a ruleset has only files of its own", harmless(&path));
        }
        if file.encrypted() {
            anyhow::bail!("`{}` is encrypted", harmless(&path));
        }
        let size = file.size();
        let is_label = path == LABEL;
        if !is_label && !gathered.wants(&path, size)? {
            continue;
        }
        // The size in the header may be wrong.
        let most = if is_label { 1 << 20 } else { size };
        let mut content = Vec::new();
        (&mut file)
            .take(most + 1)
            .read_to_end(&mut content)
            .with_context(|| format!("`{}` is damaged", harmless(&path)))?;
        if content.len() as u64 > most {
            anyhow::bail!("`{}` is larger than the archive declares", harmless(&path));
        }
        if is_label {
            label = Some(read_json(&content).map_err(|error| anyhow::anyhow!("its {LABEL} cannot be read: {error}"))?);
        } else if gathered.files.insert(path.clone(), content).is_some() {
            anyhow::bail!("`{}` is in it twice", harmless(&path));
        }
    }
    let package = gathered.package(inside)?;
    if let Some(label) = label {
        if label.id != package.id {
            anyhow::bail!("its {LABEL} says that it holds {}, and it holds {}", harmless(&label.id), package.id);
        }
        if label.hash != package.hash() {
            anyhow::bail!("its files are not those that were packed: the hash in {LABEL} is another one");
        }
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in files {
            writer.start_file(*path, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    const OWN: (&str, &[u8]) = ("house/ruleset.toml", b"id = \"house\"");

    #[test]
    fn hostile_archives_are_refused() {
        let refused = |files: &[(&str, &[u8])]| format!("{:#}", read(&zip(files), None).unwrap_err());
        for path in
            ["../evil.md", "/etc/evil.md", "house/../../evil.md", "house\\evil.md", "C:/evil.md", "house/aux.md"]
        {
            assert!(refused(&[OWN, (path, b"x")]).contains("path"), "{path}");
        }
        let bomb = vec![b'x'; 300 << 10];
        assert!(refused(&[OWN, ("house/big.md", &bomb)]).contains("at most"), "one large file");
        let many: Vec<String> = (0..100).map(|n| format!("house/f{n}.md")).collect();
        let page = vec![b'x'; 256 << 10];
        let all: Vec<(&str, &[u8])> = many.iter().map(|path| (&**path, &*page)).chain([OWN]).collect();
        assert!(refused(&all).contains("MiB"), "much in small files");
        let mut linked = ZipWriter::new(Cursor::new(Vec::new()));
        linked.add_symlink("house/ruleset.toml", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        let told = format!("{:#}", read(&linked.finish().unwrap().into_inner(), None).unwrap_err());
        assert!(told.contains("is a link"), "{told}");
        assert!(read(b"PK\x03\x04 no zip", None).is_err());
    }

    #[test]
    fn a_package_that_was_changed_is_refused() {
        let package = read(&zip(&[OWN, ("house/RULES.md", b"A-1 x")]), None).unwrap();
        let label = |hash: &str| Label {
            format: 1,
            id: "house".into(),
            title: "House".into(),
            version: "1.0.0".into(),
            engine: None,
            license: None,
            summary: None,
            parents: Default::default(),
            switches: Vec::new(),
            hash: hash.into(),
            faulty: false,
        };
        let bytes = write(&package, &label(&package.hash())).unwrap();
        assert_eq!(bytes, write(&package, &label(&package.hash())).unwrap());
        assert_eq!(read(&bytes, None).unwrap().hash(), package.hash());
        let told = read(&write(&package, &label("sha256:0")).unwrap(), None).unwrap_err().to_string();
        assert!(told.contains("not those that were packed"), "{told}");
    }
}
