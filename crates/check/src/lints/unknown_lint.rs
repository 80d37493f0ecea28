//! A comment allows a lint that does not exist.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-lint",
    severity: Severity::Error,
    summary: "a comment allows a lint that does not exist",
    explanation: "`-- check: allow(NAME)` names lints by their names, as the findings show them in brackets. \
                  `riskbreaker check --explain` lists all of them. It cannot be allowed.",
    bad: Example::Resolve(
        r#"-- check: allow(empty-blok)
rb.say("{} pulls", ctx.actor)"#,
    ),
    good: Example::Resolve(
        r#"-- check: allow(empty-block)
if ctx.rope.at > 1 then
end"#,
    ),
};
