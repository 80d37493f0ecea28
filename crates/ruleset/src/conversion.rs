//! What `convert/` declares: how a game of other rules, or of another version of the same rules, becomes one of these.

use std::fmt;
use std::sync::Arc;

use semver::VersionReq;
use serde::{Serialize, Serializer};

use super::quoted::quoted;
use super::version::Version;
use riskbreaker_state::RenameStep;

/// A range of versions, such as `>=0.0.3, <0.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    text: String,
    range: VersionReq,
}

impl VersionRange {
    /// How a range is written.
    pub const CURE: &str = "write it like \">=1.2, <2\", or \"*\" for any version";

    /// Parses a range.
    ///
    /// # Errors
    ///
    /// A sentence if the text is no range.
    pub fn parse(text: &str) -> Result<VersionRange, String> {
        match VersionReq::parse(text) {
            Ok(range) => Ok(VersionRange { text: text.to_owned(), range }),
            Err(error) => Err(format!("{} is no range of versions: {error}", quoted(text))),
        }
    }

    /// True if a version is in the range; false for an invalid version.
    pub fn admits(&self, version: &str) -> bool {
        let version = Version::parse(version).and_then(|version| semver::Version::parse(&version.to_string()).ok());
        version.is_some_and(|version| self.range.matches(&version))
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for VersionRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// A file in `convert/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The ruleset whose games it converts; the ruleset itself for games of its other versions.
    pub ruleset: Arc<str>,
    /// The steps in order.
    pub steps: Vec<ConversionStep>,
}

/// A step of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversionStep {
    /// The versions of games to which it applies. `None`: all.
    pub from: Option<VersionRange>,
    /// The names that these rules changed.
    pub names: RenameStep,
    /// The kinds, and the fields of kinds, whose values are not carried over on purpose.
    pub dropped: Vec<DroppedName>,
    /// True if it has a function.
    pub runs: bool,
}

/// A kind, or a field of it, whose values are not carried over on purpose. The names are those of the new rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedName {
    /// The kind.
    pub kind: Arc<str>,
    /// The field. `None`: the whole kind.
    pub field: Option<Arc<str>>,
}

impl ConversionStep {
    /// True if it applies to games of a version.
    pub fn admits(&self, version: &str) -> bool {
        self.from.as_ref().is_none_or(|range| range.admits(version))
    }
}

impl Conversion {
    /// The places of the steps that apply to games of a version, from 0.
    pub fn steps_from(&self, version: &str) -> Vec<usize> {
        (0..self.steps.len()).filter(|at| self.steps[*at].admits(version)).collect()
    }
}
