//! A hook returns a number or a text, which nothing takes.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::returned;
use riskbreaker_script::syntax::Function;

pub(crate) static LINT: Lint = Lint {
    name: "hook-result",
    severity: Severity::Error,
    summary: "a hook returns a number or a text, which nothing takes",
    explanation: "A function before a verb may return false and a reason to refuse it. It changes what the verb \
                  is given by `e.NAME = value`, and a function after the verb changes `e.result`. Other results \
                  are ignored.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			return e.by - 1
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.by - 1
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a number or a text that a hook returns, which the verb does not use.
    pub(crate) fn returned_by_hook(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for first in returns.iter().filter_map(|values| values.first()) {
            if let Some(given @ (ValueType::Number | ValueType::Text)) = self.value_type(*first) {
                let wrong = format!("a hook returns {} here, and nothing takes it", given.words());
                let cure =
                    "write `e.NAME = value` to change what the verb is given, or `return false, reason` to refuse it";
                self.problem(&LINT, first.location(), (wrong, cure.into()));
            }
        }
    }
}
