//! A file is not valid Luau.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "syntax",
    severity: Severity::Error,
    summary: "a file is not valid Luau",
    explanation: "The file cannot be read. The check looks for the block without an `end` by the indentation of \
                  the lines, and knows idioms of other languages. It is the only finding of its file, because \
                  others may follow from it.",
    bad: Example::Resolve(
        r#"if ctx.rope.at > 1 then
	rb.say("far")
else if ctx.rope.at > 0 then
	rb.say("near")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.rope.at > 1 then
	rb.say("far")
elseif ctx.rope.at > 0 then
	rb.say("near")
end"#,
    ),
};
