//! A branch or a loop has no statement.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Block, Location};

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

impl SyntaxLints<'_> {
    /// Reports a block without a statement. A comment in it says that this is intended.
    pub(crate) fn does_something(&mut self, body: Block<'_>, word: &str, at: Location) {
        let lines = self.lines.iter().skip(at.begin.line as usize);
        let inside = lines.take_while(|line| !line.trim_start().starts_with("end"));
        if body.as_slice().is_empty() && !inside.clone().any(|line| line.contains("--")) {
            let cure = "write what it does between its first line and its `end`, or take it out";
            self.tell(&LINT, at, format!("this `{word}` does nothing"), cure);
        }
    }
}
