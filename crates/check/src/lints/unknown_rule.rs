//! A rule id is in no RULES.md.

use super::{Example, Lint, Severity};

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
