//! A library with a package in front of others.

use anyhow::Result;
use riskbreaker::Library;
use riskbreaker::ruleset::Manifest;

use super::lock::PackageLock;
use super::package::Package;
use crate::cli::row::harmless;

impl Package {
    /// Returns a library with this ruleset in front of others.
    pub fn before(&self, others: Library) -> Result<Library> {
        let files = self.files.iter().map(|(path, bytes)| (format!("{}/{path}", self.id), bytes.clone()));
        let lock = (PackageLock::FILE.to_owned(), PackageLock::of_names(self)?.into_bytes());
        Ok(Library::overlay(Library::from_files(files.chain([lock])), others))
    }

    /// Describes the package for a message: id, version and title; the id alone if its manifest cannot be read.
    pub fn description(&self) -> String {
        let manifest = self.before(Library::embedded()).ok().and_then(|library| library.manifest(&self.id).ok());
        match manifest {
            Some(Manifest { version, title, .. }) => harmless(&format!("{} {version} ({title})", self.own_id)),
            None => self.own_id.clone(),
        }
    }
}
