//! A table for the host has a key that the host does not read.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-key",
    severity: Severity::Error,
    summary: "a table for the host has a key that the host does not read",
    explanation: "The table of a question, of an option, of a call such as `rb.lasts`, and `[seats]` of a \
                  scenario have the keys that the reference lists. Another key is ignored, so what it says does \
                  not happen. Most often it is misspelt.",
    bad: Example::Resolve(r#"rb.confirm({ seat = ctx.actor.seat, topic = "again", wy = "Again?" })"#),
    good: Example::Resolve(r#"rb.confirm({ seat = ctx.actor.seat, topic = "again", why = "Again?" })"#),
};
