//! The values of a call stand in another order than the function takes them.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "argument-order",
    severity: Severity::Error,
    summary: "the values of a call stand in another order than the function takes them",
    explanation: "Two values have changed places: each has the name or the type of what the function takes in the \
                  place of the other. Exchange them.",
    bad: Example::Resolve(r#"ctx.actor:set(3, "strength")"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", 3)"#),
};
