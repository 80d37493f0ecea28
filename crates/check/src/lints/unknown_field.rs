//! A kind has no such field or derived value.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-field",
    severity: Severity::Error,
    summary: "a kind has no such field or derived value",
    explanation: "An entity has the fields and derived values that kinds.luau declares for its kind. Reading \
                  another name or writing it by `:set`, `:add` or `:shift` is a fault when it is played. Correct \
                  the name, or declare the field.",
    bad: Example::Resolve(r#"ctx.actor:add("restz", 1)"#),
    good: Example::Resolve(r#"ctx.actor:add("rests", 1)"#),
};
