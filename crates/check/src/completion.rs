//! What can be completed at a place in a script.

use std::sync::Arc;

use crate::analysis::{Analysis, on_large_stack};
use crate::members::Members;
use crate::reader::ScriptReader;
use crate::symbols::known::KnownNames;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::Source;
use riskbreaker_work::WorkBudget;

impl Analysis {
    /// What can be read off the expression before [`Members::MARK`] in a text of one file. The path begins with the ruleset's id.
    /// `None` if that is not known, or if the text is not valid Luau.
    pub fn members_at(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<Members> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        let source = Source::read(path, text.as_bytes()).ok()?;
        on_large_stack(|| {
            let names = Arc::new(names.with_script(inside, path, &source.text));
            let book = self.rules.as_deref().map(Ruleset::book);
            let known = KnownNames::with_names(stack, book, names, budget);
            let mut reader = ScriptReader::new(&known, part, inside, &source);
            reader.read();
            reader.members
        })
    }
}
