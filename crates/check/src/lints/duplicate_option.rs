//! Two options of a question have the same id.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-option",
    severity: Severity::Error,
    summary: "two options of a question have the same id",
    explanation: "An answer names an option by its id, so the second one can never be chosen. Labels may be the \
                  same.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "up" } })
rb.say("{}", way)"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
rb.say("{}", way)"#,
    ),
};
