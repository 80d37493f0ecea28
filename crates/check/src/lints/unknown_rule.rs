//! A rule id is in no RULES.md.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::listed_texts;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "unknown-rule",
    severity: Severity::Error,
    summary: "a rule id is in no RULES.md",
    explanation: "`rules = { ... }` of a card and the list of a spec name rules by their ids in RULES.md. An id \
                  that no rule text has leads a reader nowhere and falsifies the coverage that `riskbreaker test \
                  --coverage` counts. Correct the id, or write the rule.",
    bad: Example::Card(r#"rules = { "TUG-11" },"#),
    good: Example::Card(r#"rules = { "TUG-1" },"#),
};

impl ScriptReader<'_> {
    pub(crate) fn rule_ids(&mut self, list: Expression<'_>) {
        for (id, at) in listed_texts(list) {
            self.tell(&LINT, at, self.known.wrong_rule(&id));
        }
    }
}
