//! The ruleset does not load.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "load",
    severity: Severity::Error,
    summary: "the ruleset does not load",
    explanation: "Loading a ruleset refuses invalid manifests, declarations that contradict each other, wrong \
                  values of declarations and scripts that fail while they are read. The message is that of the \
                  loader. It cannot be allowed.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "digg",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
};
