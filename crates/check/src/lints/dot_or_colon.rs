//! A dot stands in the place of a colon, or a colon in the place of a dot.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "dot-or-colon",
    severity: Severity::Error,
    summary: "a dot stands in the place of a colon, or a colon in the place of a dot",
    explanation: "A colon hands what stands before it to the function as its first value. Methods and derived \
                  values of entities and the methods of `t` are called with a colon; words of `rb`, functions of \
                  files and functions of cards with a dot.",
    bad: Example::Resolve(r#"ctx.actor.add("rests", 1)"#),
    good: Example::Resolve(r#"ctx.actor:add("rests", 1)"#),
};
