//! A called function.

use crate::symbols::signature::Signature;
use crate::symbols::surroundings::member_name;
use riskbreaker_ruleset::Param;

/// A called function whose signature is known.
pub(crate) struct Called {
    /// The function's name as the script writes it: `action.deal`.
    pub name: String,
    pub signature: Signature,
    /// Whether it is a verb. Verbs take entities, not the names of entities.
    pub verb: bool,
    /// What each parameter of a verb takes, where the verb declares it.
    pub declared: Vec<Param>,
    /// The path of the file that defines it, with the ruleset's id; `None` if several files take part in it.
    pub file: Option<String>,
}

impl Called {
    /// Returns the name under which the check keeps what calls of the function give; `None` for a local function.
    pub fn known_as(&self) -> Option<String> {
        let (_, name) = self.name.rsplit_once('.')?;
        match self.verb {
            true => Some(format!("act.{name}")),
            false => member_name(self.file.as_deref()?, name),
        }
    }

    /// Returns how a call of it is written, for the cure of a finding: `it is rb.act.pull(rope, by: a whole number)`.
    pub fn written(&self) -> String {
        let names: Vec<String> = match self.declared.is_empty() {
            true => self.signature.params.clone(),
            false => self.declared.iter().map(Param::to_string).collect(),
        };
        let spread = if self.signature.spread { ", ..." } else { "" };
        format!("it is {}({}{spread})", self.name, names.join(", "))
    }
}
