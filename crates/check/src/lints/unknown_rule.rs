//! A rule id is in no RULES.md.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::KnownNames;
use crate::syntax::listed_texts;
use riskbreaker_ruleset::Problem;
use riskbreaker_script::syntax::{Expression, Location};

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
            self.unknown_rule(&id, at);
        }
    }

    pub(crate) fn unknown_rule(&mut self, id: &str, at: Location) {
        self.tell(&LINT, at, self.known.wrong_rule(id));
    }
}

/// Returns one problem if scripts name rules and the ruleset has no rule text.
pub(crate) fn no_rule_text(known: &KnownNames<'_>) -> Option<Problem> {
    let unwritten = known.unwritten.lock().ok()?;
    let first = unwritten.first()?;
    let message = format!("there is no RULES.md, and {} rules are named", unwritten.len());
    let problem = LINT.problem(known.stack.main().id(), message);
    Some(problem.with_cure(format!("write the numbered rules there, as `- **{first}** text`")))
}
