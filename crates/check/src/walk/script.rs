//! Reads a whole script.

use super::{pattern, spec};
use crate::inference::evidence::Evidence;
use crate::reader::ScriptReader;
use crate::syntax_lints::PatternFinding;
use riskbreaker_script::syntax::{Arena, parse};

impl ScriptReader<'_> {
    /// Reads the script and collects its problems.
    pub fn read(&mut self) {
        let arena = Arena::new();
        match parse(&arena, self.text) {
            Ok(root) => {
                root.visit(&mut self.locals);
                self.evidence = Evidence::of(root, self.known.names.fields());
                if self.is_spec() {
                    self.spec_texts = spec::texts_of(root);
                }
                self.block(root);
                self.returns_something(root);
                self.drop_unused_variables();
                for PatternFinding { lint, at, mistake, change } in pattern::lints(root, self.text) {
                    let change = change.map(|(at, text)| self.replaced(at, text));
                    self.problem_with(lint, at, mistake, change);
                }
            }
            // A syntax error is the only problem of its file, because others may follow from it.
            Err(error) => self.unreadable(error.location, &error.message),
        }
    }
}
