//! `options` is a table with names instead of a list.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "options-shape",
    severity: Severity::Error,
    summary: "`options` is a table with names instead of a list",
    explanation: "Options are a list of ids, or of tables with `id` and `label`. A table with names has no order.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { up = "Up", down = "Down" } })
rb.say("{}", way)"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { { id = "up", label = "Up" }, { id = "down", label = "Down" } } })
rb.say("{}", way)"#,
    ),
};
