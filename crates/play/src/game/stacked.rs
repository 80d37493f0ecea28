//! A ruleset with its layers, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Ruleset;
use riskbreaker_ruleset::{Library, LoadError};

/// A ruleset with the layers on top of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stacked {
    pub(crate) ruleset: String,
    pub(crate) layers: Vec<String>,
}

impl Stacked {
    pub fn of(rules: &Ruleset) -> Stacked {
        Stacked { ruleset: rules.id().to_string(), layers: rules.extra_layers().to_vec() }
    }

    /// Loads rules from the files in a saved game.
    pub fn rules_of(&self, files: &BTreeMap<Arc<str>, Arc<str>>) -> Result<Arc<Ruleset>, LoadError> {
        let library = Library::from_files(files.iter().map(|(path, text)| (path.to_string(), text.to_string())));
        Ruleset::shared(&library, &self.ruleset, &self.layers)
    }

    /// Finds the rules with this hash: the current ones if they are still equal, otherwise those in the save.
    pub(crate) fn rules_with(
        &self,
        library: &Library,
        hash: &str,
        files: &BTreeMap<Arc<str>, Arc<str>>,
    ) -> Result<Arc<Ruleset>, String> {
        let today = Ruleset::shared(library, &self.ruleset, &self.layers).ok();
        match today.filter(|today| today.has_hash(hash)) {
            Some(today) => Ok(today),
            None => self.rules_of(files).map_err(|error| error.to_string()),
        }
    }
}
