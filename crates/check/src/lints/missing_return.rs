//! A function whose value is used can end without one.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "missing-return",
    severity: Severity::Error,
    summary: "a function whose value is used can end without one",
    explanation: "The host or a script uses what this function returns: a derived value, a key, a prompt, the \
                  answer of a policy, a fact of a card, or a function with a declared result. It returns nothing, \
                  or only in some cases.",
    bad: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "card" then
			return "pull"
		end
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "card" then
			return "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#,
    )]),
};
