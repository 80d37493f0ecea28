//! A field is set to a value that it does not take.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "field-type",
    severity: Severity::Error,
    summary: "a field is set to a value that it does not take",
    explanation: "A field takes the values that its declaration in kinds.luau allows: its type, its range and its \
                  words. Only a reference can be nil. Setting another value is a fault when it is played.",
    bad: Example::Resolve(r#"ctx.actor:set("strength", 12)"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", 9)"#),
};
