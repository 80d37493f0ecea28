//! One side of a comparison: a ruleset, a house rule, another folder, or a git revision.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::ruleset::instead_or;
use riskbreaker::{Library, Ruleset};

use super::revision::Revision;
use super::{CallError, call_error, library};

/// A set of rules with a name and its house rules, as one side of a comparison.
pub struct Edition {
    pub name: String,
    pub rules: Arc<Ruleset>,
    pub set: Vec<(String, String)>,
    /// True if these rules are older than the current ones.
    pub older: bool,
}

/// The target of a word on the command line.
pub enum NamedTarget {
    Edition(Edition),
    Scenario(String),
}

/// The current rules, from which editions are made.
pub struct Editions {
    folder: PathBuf,
    library: Library,
    id: String,
}

impl Editions {
    /// Opens the ruleset of `--rules`, or the first one among the words, or the default.
    pub fn open(folder: Option<&Path>, rules: Option<&str>, words: &[String]) -> Result<Editions> {
        let library = library::open(folder)?;
        let named = words.iter().find(|word| library::is_ruleset(&library, word)).map(String::as_str);
        let id = match rules.or(named) {
            Some(id) => id.to_owned(),
            None => library::default_ruleset(&library)?,
        };
        Ok(Editions { folder: folder.unwrap_or(Path::new(Library::FOLDER)).to_owned(), library, id })
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Returns a ruleset of this library as an edition.
    pub fn ruleset(&self, id: &str) -> Result<Edition> {
        Ok(edition(id, library::load(&self.library, id, &[])?))
    }

    /// Returns the current rules as an edition.
    pub fn here(&self, name: &str) -> Result<Edition> {
        Ok(edition(name, library::load(&self.library, &self.id, &[])?))
    }

    /// Returns the same ruleset from another folder: a folder of rulesets, or one that contains such a folder.
    pub fn in_folder(&self, name: &str, folder: &Path) -> Result<Edition> {
        let inner = folder.join(Library::FOLDER);
        let there = library::open(Some(if inner.is_dir() { &inner } else { folder }))?;
        // A ruleset on disk here must be on disk there: a built-in one with the same id is a different ruleset.
        let on_disk = |library: &Library, id: &str| library.folder_of(id).is_some();
        if let Some(id) = self.id.split('+').find(|id| on_disk(&self.library, id) && !on_disk(&there, id)) {
            return Err(call_error(format!("there is no ruleset `{id}` in {}", there.describe())));
        }
        let rules = library::load(&there, &self.id, &[]).map_err(|error| match error.is::<CallError>() {
            true => error,
            // Both copies have files with the same names.
            false => error.context(format!("in {}", there.describe())),
        })?;
        Ok(Edition { older: true, ..edition(name, rules) })
    }

    /// Interprets a word of the command line.
    pub fn named(&self, word: &str) -> Result<NamedTarget> {
        if library::is_ruleset(&self.library, word) {
            return Ok(NamedTarget::Edition(self.ruleset(word)?));
        }
        if word.contains('=') {
            let here = self.here(word)?;
            return Ok(NamedTarget::Edition(Edition { set: settings(&here.rules, word)?, ..here }));
        }
        let here = self.here(word)?;
        if here.rules.scenarios().contains_key(word) {
            return Ok(NamedTarget::Scenario(word.to_owned()));
        }
        let folder = Path::new(word);
        if folder.is_dir() {
            return Ok(NamedTarget::Edition(self.in_folder(word, folder)?));
        }
        if let Some(revision) = Revision::find(&self.folder, word)? {
            return Ok(NamedTarget::Edition(self.in_folder(word, &revision.folder())?));
        }
        let rulesets = library::listed(&self.library)?;
        let known = here.rules.scenarios().keys().map(|name| &**name).chain(rulesets.iter().map(String::as_str));
        let example = "type for example `compare riskbreaker-0.0.3`, `compare SWITCH=VALUE`, `compare HEAD~1`";
        let hint = instead_or(word, known, example);
        Err(call_error(format!(
            "`{word}` is no ruleset, house rule, folder, git revision or scenario of {}; {hint}",
            self.id
        )))
    }
}

fn edition(name: &str, rules: Arc<Ruleset>) -> Edition {
    Edition { name: name.to_owned(), rules, set: Vec::new(), older: false }
}

/// Parses house rules: `one=value,other=value`.
fn settings(rules: &Ruleset, word: &str) -> Result<Vec<(String, String)>> {
    let pair = |part: &str| {
        let Some((switch, value)) = part.split_once('=') else {
            return Err(call_error(format!("type `SWITCH=VALUE` instead of `{part}`")));
        };
        let (switch, value) = (switch.trim(), value.trim());
        let Some(known) = rules.switch(switch) else {
            let list = format!("`riskbreaker rules show {}` lists them", rules.id());
            let hint = instead_or(switch, rules.switches().map(|known| known.name.as_str()), list);
            return Err(call_error(format!("{} has no house rule `{switch}`; {hint}", rules.id())));
        };
        known.parse(value).map_err(|error| call_error(error.to_string()))?;
        Ok((switch.to_owned(), value.to_owned()))
    };
    let set: Vec<(String, String)> = word.split(',').map(pair).collect::<Result<_>>()?;
    for (at, (switch, value)) in set.iter().enumerate() {
        if let Some((_, before)) = set[..at].iter().find(|(known, _)| known == switch) {
            let help = format!("`compare {switch}={before} {switch}={value}` compares the values");
            return Err(call_error(format!("`{switch}` is set twice; {help}")));
        }
    }
    Ok(set)
}
