//! A text has more or fewer places to fill than values are given.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "text-places",
    severity: Severity::Error,
    summary: "a text has more or fewer places to fill than values are given",
    explanation: "Each `{}` in a text of `rb.say`, `rb.roll` and the like is filled by one of the values that \
                  follow the text, and each `%` of `string.format` by one of its values. Give one value for each \
                  place. `..` joins texts and fills nothing.",
    bad: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor, 2)"#),
};
