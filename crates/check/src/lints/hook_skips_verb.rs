//! A hook around a verb does not run the verb.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "hook-skips-verb",
    severity: Severity::Error,
    summary: "a hook around a verb does not run the verb",
    explanation: "The second value of a function in `wrap` runs the verb. If it is not called, the verb does not \
                  run any more. If that is intended, call the parameter `_proceed`.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
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
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
			return proceed(e)
		end,
	},
})
"#,
    )]),
};
