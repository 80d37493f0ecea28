//! A hook reads a value that its verb or its attachment does not have.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-hook-value",
    severity: Severity::Error,
    summary: "a hook reads a value that its verb or its attachment does not have",
    explanation: "The first value of a function in a hook has the parameters of the verb, and `result` after the \
                  verb. The second has `owner` and the data that `rb.attach` was given, as the hook declares \
                  them. A hook that is always on is attached to nobody and has no owner.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.amount - 1
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
