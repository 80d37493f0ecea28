//! A block defines two functions of one name.

use crate::lint::{Example, Lint, Severity};
use crate::syntax::text;
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Block, StatementFunctionDeclaration, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-function",
    severity: Severity::Error,
    summary: "a block defines two functions of one name",
    explanation: "The second function replaces the first. Give one of them another name, or remove it.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local tell = {}

function tell.loud(who)
	rb.say("{} pulls", who)
end

function tell.loud(who)
	rb.say("{} rests", who)
end

return tell
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local tell = {}

function tell.loud(who)
	rb.say("{} pulls", who)
end

function tell.soft(who)
	rb.say("{} rests", who)
end

return tell
"#,
    )]),
};

impl SyntaxLints<'_> {
    /// Reports functions of the same name in a block.
    pub(crate) fn defined_twice(&mut self, block: Block<'_>) {
        let mut functions: Vec<String> = Vec::new();
        for statement in block.as_slice() {
            let (name, at) = match statement.view() {
                StatementView::FunctionDeclaration(StatementFunctionDeclaration { name, .. }) => {
                    (self.written(name.location()).map(str::to_string), name.location())
                }
                StatementView::LocalFunction(local) => (Some(text(local.name.name)), statement.location()),
                _ => continue,
            };
            let Some(name) = name else { continue };
            if functions.contains(&name) {
                self.tell(
                    &LINT,
                    at,
                    format!("the function `{name}` is defined twice"),
                    "give one of them another name",
                );
            }
            functions.push(name);
        }
    }
}
