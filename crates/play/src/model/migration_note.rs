//! The effects of other rules on a game.

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Serialize};

/// The effect of other rules on one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct MigrationNote {
    /// The kind of effect.
    pub fate: MigrationFate,
    /// The subject: a kind, the title of an entity, or a name of the ruleset.
    pub topic: String,
    /// The effect, as a sentence.
    pub text: String,
    /// The id of the broken rule, for a breach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The possible effects of other rules on a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MigrationFate {
    /// The new rules cannot hold it. They do not take effect until it is changed.
    Refused,
    /// It breaks a rule of the new ruleset, but is carried over.
    Breach,
    /// The game master has to decide about it.
    Decide,
    /// It is carried over unchanged.
    Carried,
    /// The old rules do not have it, so it gets its default.
    Defaulted,
    /// It was dormant and is restored.
    Returned,
    /// The new rules do not have it. It becomes dormant and is restored under rules that have it.
    Dormant,
}

impl MigrationFate {
    #[doc(hidden)]
    pub fn named(name: &str) -> Option<MigrationFate> {
        let found: Result<_, serde::de::value::Error> = MigrationFate::deserialize(name.into_deserializer());
        found.ok()
    }

    /// The name of the fate in a table.
    pub fn word(self) -> &'static str {
        match self {
            MigrationFate::Refused => "refused",
            MigrationFate::Breach => "breach",
            MigrationFate::Decide => "to decide",
            MigrationFate::Carried => "carried",
            MigrationFate::Defaulted => "new",
            MigrationFate::Returned => "there again",
            MigrationFate::Dormant => "kept aside",
        }
    }
}
