//! A table has a key twice.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-key",
    severity: Severity::Error,
    summary: "a table has a key twice",
    explanation: "The second value replaces the first. Remove one of the two, or correct its name.",
    bad: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left", name = "Dora" })"#),
    good: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left" })"#),
};
