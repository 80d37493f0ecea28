//! A branch or a loop has no statement.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "empty-block",
    severity: Severity::Warning,
    summary: "a branch or a loop has no statement",
    explanation: "Nothing happens in it. Write what it does, or take it out. A comment in it says that this is \
                  intended.",
    bad: Example::Resolve(
        r#"if ctx.rope.at > 1 then
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.rope.at > 1 then
	-- The crowd only watches.
end"#,
    ),
};
