//! A hook returns a number or a text, which nothing takes.

use super::{Example, Lint, Severity};

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
