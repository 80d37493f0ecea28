//! A key of a question has a value of a wrong type.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "question-type",
    severity: Severity::Error,
    summary: "a key of a question has a value of a wrong type",
    explanation: "`min`, `max` and `total` are numbers, `seat` and `topic` texts, `auto`, `sealed` and the like \
                  true or false, and the default is what the question returns. A function for the options is \
                  called with the question.",
    bad: Example::Resolve(
        r#"local yes = rb.confirm({ seat = ctx.actor.seat, topic = "far", default = "no" })
rb.say("{}", yes)"#,
    ),
    good: Example::Resolve(
        r#"local yes = rb.confirm({ seat = ctx.actor.seat, topic = "far", default = false })
rb.say("{}", yes)"#,
    ),
};
