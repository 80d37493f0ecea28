use super::lookup::FileLookup;
use super::scopes::Scopes;
use super::target::{NameSense, NameTarget, is_rule_id};
use super::token::is_keyword;
use riskbreaker_script::api;

impl FileLookup<'_> {
    /// Checks that something can have a new name.
    ///
    /// # Errors
    ///
    /// Returns the reason if the name is none, or if something else has it already, in any ruleset of the stacks.
    pub fn may_become(&self, target: &NameTarget, new_name: &str) -> Result<(), String> {
        if is_keyword(new_name) {
            return Err(format!("`{new_name}` is a keyword of Luau: choose another name"));
        }
        let begins = |first: char| match target {
            NameTarget::Variable { .. } => first.is_ascii_alphabetic() || first == '_',
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
            NameTarget::Word { .. } | NameTarget::File(_) => Ok(()),
        }
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
