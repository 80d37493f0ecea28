//! Nothing in the ruleset has a member of that name.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-member",
    severity: Severity::Error,
    summary: "nothing in the ruleset has a member of that name",
    explanation: "A name is read off a value, and no file of the ruleset gives any value a member of that name. \
                  The result is nil. If the value is what a file returns, the file must have it in the table that \
                  it returns. The check reports names of unknown values only if no table, no kind and no word of \
                  the host has them.",
    bad: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.nmae)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.name)"#),
};
