//! A comment allows a lint that finds nothing there.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unused-allow",
    severity: Severity::Warning,
    summary: "a comment allows a lint that finds nothing there",
    explanation: "An allowance that is not needed hides the next mistake. Remove it. A comment behind code is for \
                  its line; a comment on a line of its own is for the next line of code; `allow-file` is for the \
                  whole file. It cannot be allowed.",
    bad: Example::Resolve(
        r#"-- check: allow(empty-block)
rb.say("{} pulls", ctx.actor)"#,
    ),
    good: Example::Resolve(
        r#"-- check: allow(empty-block)
if ctx.rope.at > 1 then
end"#,
    ),
};
