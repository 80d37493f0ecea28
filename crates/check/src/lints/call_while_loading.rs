//! A function is called while the file is read, where the function itself is meant.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "call-while-loading",
    severity: Severity::Error,
    summary: "a function is called while the file is read, where the function itself is meant",
    explanation: "An entry of a declaration such as `when` or `resolve` is a function that the host calls later. \
                  With brackets behind its name it is called once, while the file is read, and its result stands \
                  in the declaration.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

local function dearer(price)
	return (price or 1) + 1
end

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	price = dearer(),
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

local function dearer(price)
	return (price or 1) + 1
end

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	price = dearer,
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
};
