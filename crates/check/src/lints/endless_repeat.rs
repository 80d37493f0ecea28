//! An agenda entry repeats with a step of 0.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "endless-repeat",
    severity: Severity::Error,
    summary: "an agenda entry repeats with a step of 0",
    explanation: "`rb.recur` puts the entry back at its key plus the step. With a step of 0 it is due again at \
                  once, for ever.",
    bad: Example::Resolve(r#"rb.recur("turn", { 1, 3 }, { 0, 0 }, ctx.actor)"#),
    good: Example::Resolve(r#"rb.recur("turn", { 1, 3 }, { 1, 0 }, ctx.actor)"#),
};
