//! An answer or a default is none of the options.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-option",
    severity: Severity::Error,
    summary: "an answer or a default is none of the options",
    explanation: "The answer of `rb.choose` is the id of one of its options. A comparison with another text is \
                  never true, a default that no option has is refused, and a policy that returns one is ignored. \
                  Name an option, not its label.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
if way == "Up" then
	rb.say("up")
end"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
if way == "up" then
	rb.say("up")
end"#,
    ),
};
