use std::path::Path;

use super::lookup::FileLookup;
use super::scopes::Scopes;
use super::target::{NameSense, NameTarget, is_rule_id};
use super::token::is_keyword;
use super::verb_params::{ParamRole, VerbParams};
use riskbreaker_script::api;

impl FileLookup<'_> {
    /// Checks that something can have a new name.
    ///
    /// # Errors
    ///
    /// Returns the reason if the name is none, or if something else has it already, in any ruleset of the stacks.
    pub fn may_become(&self, target: &NameTarget, new_name: &str) -> Result<(), String> {
        if let NameTarget::Value { of, value } = target {
            return self.value_may_become(of, value, new_name);
        }
        if is_keyword(new_name) {
            return Err(format!("`{new_name}` is a keyword of Luau: choose another name"));
        }
        let begins = |first: char| match target {
            NameTarget::Variable { .. } | NameTarget::Param { .. } => first.is_ascii_alphabetic() || first == '_',
            _ => first.is_ascii_lowercase() || first == '_',
        };
        let is_name = new_name.starts_with(begins)
            && new_name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        match target {
            NameTarget::Rule(_) if is_rule_id(new_name) => self.is_free(&NameTarget::Rule(new_name.into()), new_name),
            NameTarget::Rule(_) => Err(format!("`{new_name}` is no id of a rule: write it like `GAME-1`")),
            _ if !is_name => {
                Err(format!("`{new_name}` is no name: use letters, digits and `_`, and begin with a small letter"))
            }
            NameTarget::Variable { declared, .. } => self.is_free_variable(*declared, new_name),
            NameTarget::Name(..) if api::known_members().any(|known| known == new_name) => {
                Err(format!("`{new_name}` is there already: it is a name of the host"))
            }
            NameTarget::Name(_, sense) => self.is_free(&NameTarget::Name(new_name.into(), *sense), new_name),
            NameTarget::Param { verb, name } => self.is_free_param(verb, name, new_name),
            NameTarget::Word { .. } | NameTarget::File(_) | NameTarget::Value { .. } => Ok(()),
        }
    }

    /// Checks that all places of a parameter of a verb are known and can be written.
    ///
    /// # Errors
    ///
    /// Returns the first place that cannot be changed.
    pub fn may_rename_param(&self, verb: &str, name: &str) -> Result<(), String> {
        let target = NameTarget::Param { verb: verb.into(), name: name.into() };
        if let Some(path) = self.built_in_file(&target) {
            return Err(format!("{path} declares `{name}` of the verb `{verb}`, and is built in"));
        }
        for (file, (inside, text)) in self.files_of_all() {
            if !inside.ends_with(".luau") || !text.contains(name) {
                continue;
            }
            if let Some((_, at)) = VerbParams::of(&text).unknown.iter().find(|(of, _)| of == verb) {
                let place = place_in(&file, &text, *at);
                return Err(format!(
                    "{place} gives what the verb `{verb}` is given to other code, which may read `{name}`"
                ));
            }
        }
        Ok(())
    }

    /// Checks that a verb has no other parameter with a name, and its function no variable.
    fn is_free_param(&self, verb: &str, name: &str, new_name: &str) -> Result<(), String> {
        if new_name == "result" {
            return Err("`result` is what a verb returns: choose another name".into());
        }
        for (file, (inside, text)) in self.files_of_all() {
            if !inside.ends_with(".luau") || !text.contains(verb) {
                continue;
            }
            let params = VerbParams::of(&text);
            let of_verb = params.places.iter().filter(|place| place.verb == verb);
            if of_verb.clone().any(|place| place.role == ParamRole::Declared && place.name == new_name) {
                return Err(format!("the verb `{verb}` has a parameter `{new_name}` already, in {}", file.display()));
            }
            let scopes = Scopes::of(&text);
            for place in of_verb.filter(|place| place.role == ParamRole::Local && place.name == name) {
                let variable = scopes.declared_at(place.range.start);
                if let Some(line) = variable.and_then(|variable| scopes.conflict(variable, new_name, &text)) {
                    return Err(format!("`{new_name}` is there already, in {}:{line}", file.display()));
                }
            }
        }
        Ok(())
    }

    /// Checks that all places of a value of an enum are known and can be written.
    ///
    /// # Errors
    ///
    /// Returns the first place that cannot be changed, or that may mean something else.
    pub fn may_rename_value(&self, of: &str, value: &str) -> Result<(), String> {
        let target = NameTarget::Value { of: of.into(), value: value.into() };
        if let Some(path) = self.built_in_file(&target) {
            return Err(format!("{path} declares \"{value}\" of `{of}`, and is built in"));
        }
        if self.declarations(&target).is_empty() {
            return Err(format!(
                "no file on the disk has \"{value}\" in the `rb.enum` of `{of}`: its values are computed"
            ));
        }
        if self.has_one_meaning(of, value) {
            return Ok(());
        }
        match self.unsure_of_value(of, value).first() {
            None => Ok(()),
            Some(spot) => {
                let text = self.files_of_all().remove(&spot.file).map(|(_, text)| text).unwrap_or_default();
                let place = place_in(&spot.file, &text, spot.begin);
                Err(format!(
                    "`{value}` has several meanings, and {place} does not show which: change its places yourself"
                ))
            }
        }
    }

    /// Checks that a text can be a value of an enum in all places of another value.
    fn value_may_become(&self, of: &str, value: &str, new_value: &str) -> Result<(), String> {
        if new_value.is_empty() || new_value.contains(['"', '\\', '\n', '\r', '`', '{', '}']) {
            return Err(format!("\"{new_value}\" is no value: leave out quotes, braces and `\\`"));
        }
        let new = NameTarget::Value { of: of.into(), value: new_value.into() };
        if !self.declarations(&new).is_empty() {
            return Err(format!("\"{new_value}\" is a value of `{of}` already"));
        }
        let is_name = new_value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && new_value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !is_keyword(new_value);
        let old = NameTarget::Value { of: of.into(), value: value.into() };
        let files = self.files_of_all();
        for spot in self.mentions(&old) {
            let Some((_, text)) = files.get(&spot.file) else { continue };
            if !is_name && !text[..spot.begin].ends_with(['"', '\'', '`']) {
                let place = place_in(&spot.file, text, spot.begin);
                return Err(format!(
                    "`{value}` is a key in {place}, and \"{new_value}\" is no name: use letters, digits and `_`"
                ));
            }
        }
        Ok(())
    }

    /// Checks that nothing has a name.
    fn is_free(&self, new: &NameTarget, new_name: &str) -> Result<(), String> {
        let any = NameTarget::Name(new_name.into(), NameSense::Any);
        let declared = self.declaring_file(new).or_else(|| match new {
            NameTarget::Name(..) => self.declaring_file(&any),
            _ => None,
        });
        if let Some(file) = declared {
            return Err(format!("`{new_name}` is there already: {file} declares it"));
        }
        match self.mentions(new).first() {
            Some(taken) => Err(format!("`{new_name}` is used already, in {}", taken.file.display())),
            None => Ok(()),
        }
    }

    /// Checks that no other variable has a name in the scope of the variable that is declared at a byte.
    fn is_free_variable(&self, declared: usize, new_name: &str) -> Result<(), String> {
        let text = self.text();
        let scopes = Scopes::of(&text);
        let Some(variable) = scopes.declared_at(declared) else { return Ok(()) };
        match scopes.conflict(variable, new_name, &text) {
            Some(line) => Err(format!("`{new_name}` is there already, in line {line}")),
            None => Ok(()),
        }
    }
}

/// A byte of a file, as its path and line.
fn place_in(file: &Path, text: &str, at: usize) -> String {
    format!("{}:{}", file.display(), text[..at.min(text.len())].matches('\n').count() + 1)
}
