//! An operator is given a value of a type that it does not take.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "operand-type",
    severity: Severity::Error,
    summary: "an operator is given a value of a type that it does not take",
    explanation: "Arithmetic and comparisons of size take numbers, `..` takes texts and numbers, and `#` takes \
                  lists and texts. Another operand is a fault when it is played. An entity is no number: name the \
                  field that is meant. The number of a sum is `sum.total`.",
    bad: Example::Resolve(r#"rb.say("{}", ctx.actor.name + 1)"#),
    good: Example::Resolve(r#"rb.say("{}", ctx.actor.strength + 1)"#),
};
