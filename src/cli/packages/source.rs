//! The source of a package: a zip file, a folder, or a git repository.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::package::Package;
use super::signature::PackedFile;
use super::{archive, git};
use crate::cli::call_error;
use crate::cli::row::harmless;

/// A parsed source: `PLACE[@TAG][#SUBFOLDER]`.
#[derive(Debug, PartialEq, Eq)]
pub struct PackageSource {
    kind: SourceForm,
    /// A path, or the address of a repository.
    place: String,
    /// The tag or branch of a repository.
    tag: Option<String>,
    /// The folder in it that holds the ruleset.
    inside: Option<String>,
}

/// A package read from its source.
#[derive(Debug)]
pub struct Fetched {
    pub package: Package,
    /// The commit, if it came from a repository.
    pub commit: Option<String>,
    /// The packed file, if it came from one.
    pub packed: Option<PackedFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceForm {
    File,
    Folder,
    Git,
}

impl PackageSource {
    /// Parses a source.
    ///
    /// # Errors
    ///
    /// The path does not exist, or the kind of address is not supported.
    pub fn read(text: &str) -> Result<PackageSource> {
        let local = |place: &str, inside: Option<&str>| {
            let path = Path::new(place);
            let kind = match () {
                () if path.is_file() => SourceForm::File,
                () if path.join("ruleset.toml").is_file() => SourceForm::Folder,
                () if path.join(".git").exists() || path.join("HEAD").is_file() => SourceForm::Git,
                () if path.is_dir() => SourceForm::Folder,
                () => return None,
            };
            Some(PackageSource { kind, place: place.to_owned(), tag: None, inside: inside.map(str::to_owned) })
        };
        if let Some(found) = local(text, None) {
            return Ok(found);
        }
        let (place, inside) = match text.rsplit_once('#') {
            Some((place, inside)) => (place, Some(inside)),
            None => (text, None),
        };
        if let Some(found) = local(place, inside) {
            return Ok(found);
        }
        // An `@` before the last slash belongs to the address: `git@host:rules`, `ssh://me@host/rules`.
        let after = place.rfind(['/', ':']).map_or(0, |at| at + 1);
        let (address, tag) = match place[after..].rsplit_once('@') {
            Some((name, tag)) => (&place[..after + name.len()], Some(tag.to_owned())),
            None => (place, None),
        };
        if let Some(tag) = &tag
            && (tag.is_empty() || tag.starts_with('-'))
        {
            return Err(call_error(format!("`{}` is no tag", harmless(tag))));
        }
        let git = || PackageSource {
            kind: SourceForm::Git,
            place: address.to_owned(),
            tag: tag.clone(),
            inside: inside.map(str::to_owned),
        };
        if local(address, inside).is_some_and(|found| found.kind == SourceForm::Git) {
            return Ok(git());
        }
        let scheme = address.split_once("://").map(|(scheme, _)| scheme);
        // `host:path`, as in ssh.
        let is_ssh = scheme.is_none()
            && address.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
        match scheme {
            Some("https" | "ssh") => Ok(git()),
            _ if is_ssh && !address.starts_with('-') => Ok(git()),
            Some(other) => Err(call_error(format!(
                "`{}` addresses are not taken; git repositories are read over https and ssh, or from this machine",
                harmless(other)
            ))),
            None => Err(call_error(format!(
                "there is no file or folder `{}`; name a file.zip, a folder, or a git repository (https://...)",
                harmless(text)
            ))),
        }
    }

    /// The source as text for the lock, which [`PackageSource::read`] parses. Paths are absolute.
    pub fn told(&self) -> String {
        let mut text = match std::fs::canonicalize(&self.place) {
            Ok(path) => path.display().to_string(),
            Err(_) => self.place.clone(),
        };
        for (mark, part) in [('@', &self.tag), ('#', &self.inside)] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(part);
            }
        }
        text
    }

    /// Reads the package.
    pub fn fetch(&self) -> Result<Fetched> {
        let inside = self.inside.as_deref();
        match self.kind {
            SourceForm::Folder => {
                let package = Package::of_folder(Path::new(&self.place), inside)?;
                Ok(Fetched { package, commit: None, packed: None })
            }
            SourceForm::File => {
                let packed = PackedFile::new(Path::new(&self.place), self.bytes()?);
                let package = archive::read(&packed.bytes, inside);
                let package = package.with_context(|| format!("cannot take {}", self.place))?;
                Ok(Fetched { package, commit: None, packed: Some(packed) })
            }
            SourceForm::Git => {
                let (gathered, commit) = git::files(&self.place, self.tag.as_deref())?;
                let package = gathered.package(inside).with_context(|| format!("cannot take {}", self.place))?;
                Ok(Fetched { package, commit: Some(commit), packed: None })
            }
        }
    }

    /// The text of one file: of the source itself, or of the file `name` in a folder or repository.
    pub fn text(&self, name: &str) -> Result<String> {
        let name = match &self.inside {
            Some(inside) => format!("{}/{name}", inside.trim_matches('/')),
            None => name.to_owned(),
        };
        let missing = || call_error(format!("there is no {name} in {}", harmless(&self.place)));
        match self.kind {
            SourceForm::File => Ok(String::from_utf8(self.bytes()?).context("it is not UTF-8 text")?),
            SourceForm::Folder => std::fs::read_to_string(Path::new(&self.place).join(&name)).map_err(|_| missing()),
            SourceForm::Git => git::text(&self.place, self.tag.as_deref(), &name)?.ok_or_else(missing),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let size = std::fs::metadata(&self.place).with_context(|| format!("cannot read {}", self.place))?.len();
        if size > archive::MOST_BYTES {
            anyhow::bail!("{} has {size} bytes; at most {} are read", self.place, archive::MOST_BYTES);
        }
        std::fs::read(&self.place).with_context(|| format!("cannot read {}", self.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>, Option<String>) {
        let found = PackageSource::read(text).unwrap();
        assert_eq!(found.kind, SourceForm::Git, "{text}");
        (found.place, found.tag, found.inside)
    }

    #[test]
    fn addresses_have_a_tag_and_a_folder() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("https://host.test/a/rules.git"), ("https://host.test/a/rules.git".into(), None, None));
        assert_eq!(
            read("https://host.test/rules@v1.2#my/house"),
            ("https://host.test/rules".into(), some("v1.2"), some("my/house"))
        );
        assert_eq!(read("ssh://me@host.test/rules"), ("ssh://me@host.test/rules".into(), None, None));
        assert_eq!(read("git@host.test:rules@v1"), ("git@host.test:rules".into(), some("v1"), None));
    }

    #[test]
    fn other_addresses_are_refused() {
        for bad in [
            "http://host.test/x",
            "git://host.test/x",
            "ext::sh -c x",
            "file:///x",
            "nothing-here.zip",
            "https://host.test/x@-b",
        ] {
            assert!(PackageSource::read(bad).is_err(), "{bad}");
        }
    }
}
