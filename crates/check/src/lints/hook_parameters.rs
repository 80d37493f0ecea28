//! A function of a hook takes the values of its verb one by one.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "hook-parameters",
    severity: Severity::Error,
    summary: "a function of a hook takes the values of its verb one by one",
    explanation: "A function before or after a verb takes `e`, which holds the values of the verb by name, and \
                  the attachment. A function around a verb takes `e`, `proceed` and the attachment.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(rope, by, who)
			rb.say("{} {} {}", rope, by, who)
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
			rb.say("{} {}", e.by, e.who)
		end,
	},
})
"#,
    )]),
};
