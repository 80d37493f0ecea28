//! A wrapped function does not take the function below first.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "wrapped-parameters",
    severity: Severity::Error,
    summary: "a wrapped function does not take the function below first",
    explanation: "The function in `rb.wrapped` takes the function that it wraps as its first value, and then the \
                  values of that function. Here the first parameter is used like one of those values.",
    bad: Example::Files(&[(
        "maneuvers/pull.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "pull",
	title = "Pull",
	text = "Pull.",
	when = rb.wrapped(function(ctx)
		return ctx.actor.rests < 2
	end),
	resolve = function(ctx)
		rb.act.move_rope(ctx.rope, ctx.actor.pull, ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/pull.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "pull",
	title = "Pull",
	text = "Pull.",
	when = function(ctx)
		return ctx.actor.rests < 2
	end,
	resolve = function(ctx)
		rb.act.move_rope(ctx.rope, ctx.actor.pull, ctx.actor)
	end,
})
"#,
    )]),
};
