//! A wrapped function does not call the function below.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::Local;

pub(crate) static LINT: Lint = Lint {
    name: "unused-below",
    severity: Severity::Error,
    summary: "a wrapped function does not use the function below",
    explanation: "`rb.wrapped` puts a function around the one of the ruleset below. If it never calls that one, \
                  the rule below is gone. Call it where it belongs. If it is not to run, write `rb.replace`, or \
                  call the parameter `_below`.",
    bad: Example::Files(&[(
        "maneuvers/pull.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "pull",
	title = "Pull",
	text = "Pull.",
	when = rb.wrapped(function(below, ctx)
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

impl ScriptReader<'_> {
    /// Reports the first parameter of a wrapped function that nothing reads.
    pub(crate) fn uses_below(&mut self, below: &Local<'_>) {
        let name = text(below.name);
        if name.starts_with('_') || self.evidence.is_used(below.id) {
            return;
        }
        let wrong = format!("`{name}` is not used, so that the function below never runs");
        let cure = format!("call `{name}(...)` where it belongs; if it is not to run, call the parameter `_{name}`");
        self.problem(&LINT, below.location, (wrong, cure.into()));
    }
}
