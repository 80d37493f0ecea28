//! Reads a whole script.

use super::{pattern, spec};
use crate::inference::evidence::Evidence;
use crate::inference::symbol::Symbol;
use crate::reader::ScriptReader;
use crate::symbols::signature::TestedValues;
use crate::syntax::local_id;
use crate::syntax_lints::PatternFinding;
use riskbreaker_script::syntax::{Arena, Block, StatementView, parse};

impl ScriptReader<'_> {
    /// Reads the script and collects its problems.
    pub fn read(&mut self) {
        let arena = Arena::new();
        match parse(&arena, self.text) {
            Ok(root) => {
                root.visit(&mut self.locals);
                root.visit(&mut self.tables_of_words);
                self.evidence = Evidence::of(root, self.known.names.fields());
                self.tested = TestedValues::of(root);
                if self.is_spec() {
                    self.spec_texts = spec::texts_of(root);
                }
                self.knows_its_own_table(root);
                self.block(root);
                self.returns_something(root);
                self.keys_that_are_no_words();
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

    /// Notes that the local variable which the file returns is the table that others require.
    fn knows_its_own_table(&mut self, root: Block<'_>) {
        if let Some(StatementView::Return(returned)) = root.as_slice().last().map(|last| last.view())
            && let [value] = returned.expressions
            && let Some(id) = local_id(*value)
            && self.known.names.module(self.full).is_some()
        {
            let own = Symbol::Module(self.full.to_owned());
            self.symbols.insert(id, own);
        }
    }
}
