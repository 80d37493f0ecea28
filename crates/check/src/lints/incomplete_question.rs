//! A question lacks a key that it needs.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "incomplete-question",
    severity: Severity::Error,
    summary: "a question lacks a key that it needs",
    explanation: "Each question needs `seat` and `topic`, a choice needs `options`, a number `min` and `max`, and \
                  `rb.allot` a `total`. Without them the call is refused.",
    bad: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1 })
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1, max = 3 })
rb.say("{}", by)"#,
    ),
};
