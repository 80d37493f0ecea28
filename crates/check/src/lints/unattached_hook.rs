//! Nothing attaches a hook that is not always on.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unattached-hook",
    severity: Severity::Error,
    summary: "nothing attaches a hook that is not always on",
    explanation: "A hook acts where `rb.attach` hangs it on an entity, or everywhere with `always = true`. This \
                  one has neither, so it never runs. It is reported only if the ruleset has no other error.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	before = {
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
