//! A call gives more or fewer values than the function takes.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "argument-count",
    severity: Severity::Error,
    summary: "a call gives more or fewer values than the function takes",
    explanation: "The check knows how many values the words of `rb`, verbs, and functions of the ruleset take, \
                  and which of them may be left out. A missing value is nil in the function, and a value too many \
                  is ignored; verbs and words refuse both.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};
