//! A hook calls its own verb each time.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "hook-recursion",
    severity: Severity::Error,
    summary: "a hook calls its own verb each time",
    explanation: "The hook runs for each call of the verb, also for its own one, and so without end. Put a \
                  condition before the call, or change what the verb is given.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	after = {
		move_rope = function(e)
			rb.act.move_rope(e.rope, 1, e.who)
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
	after = {
		move_rope = function(e)
			if e.by > 1 then
				rb.act.move_rope(e.rope, 1, e.who)
			end
		end,
	},
})
"#,
    )]),
};
