//! A variable is read that the file does not declare.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-variable",
    severity: Severity::Error,
    summary: "a variable is read that the file does not declare",
    explanation: "A name without `local` before its declaration is a global. A ruleset has no globals but those \
                  of Luau, so the name is nil when it is read, and using it is a fault. Correct the name, declare \
                  it, require the file that has it, or put quotes around a text.",
    bad: Example::Resolve(r#"rb.say("{} pulls", actr)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};
