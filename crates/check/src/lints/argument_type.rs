//! A call gives a value of a type that the function does not take.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "argument-type",
    severity: Severity::Error,
    summary: "a call gives a value of a type that the function does not take",
    explanation: "Words of `rb` and verbs declare the types of their values. Of other functions the check infers \
                  the types from their annotations and from how they use their parameters. A value of another \
                  type is refused when it is played, or is a fault in the function.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope, "one", ctx.actor)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};
