//! A least value is above the greatest.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "empty-range",
    severity: Severity::Error,
    summary: "a least value is above the greatest",
    explanation: "No number lies between the two. Exchange them.",
    bad: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 3, max = 1 })
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1, max = 3 })
rb.say("{}", by)"#,
    ),
};
