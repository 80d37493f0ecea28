//! No question has that topic.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-topic",
    severity: Severity::Error,
    summary: "no question has that topic",
    explanation: "Policies, specs, the prompt and recaps know a question by its topic. A topic that no question \
                  has is never asked, so the code that depends on it never runs. Correct the topic, or give it to \
                  a question.",
    bad: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "crad" then
			return "pull"
		end
		return rb.pick(q, 3)
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
