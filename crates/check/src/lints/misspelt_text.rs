//! A text stands nowhere else, and one of almost the same letters does.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "misspelt-text",
    severity: Severity::Error,
    summary: "a text stands nowhere else, and one of almost the same letters does",
    explanation: "Words in quotes connect files: a fact of a card, a name in a list, a profile in cast/. A word \
                  that stands in only one place and differs by one letter from another that is used often is most \
                  likely misspelt. If it is meant, allow the lint in this line.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		local mood = rb.choose({ seat = ctx.actor.seat, topic = "mood", options = rb.options({ "steady" }, ctx), default = "pull" })
		if mood == "staedy" then
			rb.say("{} stands", ctx.actor)
		end
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
		local mood = rb.choose({ seat = ctx.actor.seat, topic = "mood", options = { "steady", "wild" }, default = "wild" })
		if mood == "steady" then
			rb.say("{} stands", ctx.actor)
		end
	end,
})
"#,
    )]),
};
