//! A hook changes a value of the verb after the verb has run.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "hook-too-late",
    severity: Severity::Error,
    summary: "a hook changes a value of the verb after the verb has run",
    explanation: "After a verb, a change of what it was given has no effect. Move it to a function `before`, or \
                  change `e.result`.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	after = {
		move_rope = function(e)
			e.by = 0
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
			e.by = 0
		end,
	},
})
"#,
    )]),
};
