//! `rb`, `t` of a spec or a library of Luau has no member of that name.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-word",
    severity: Severity::Error,
    summary: "`rb`, `t` of a spec or a library of Luau has no member of that name",
    explanation: "The words of `rb`, the methods of `t` in a spec and the functions of `math`, `table`, `string`, \
                  `bit32` and `utf8` are listed in the reference. Others are nil. Some names of other programs \
                  and of other versions of Lua are known to the check, and the cure says what to write here.",
    bad: Example::Resolve(r#"rb.sya("{} pulls", ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};
