//! A block defines two functions of one name.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-function",
    severity: Severity::Error,
    summary: "a block defines two functions of one name",
    explanation: "The second function replaces the first. Give one of them another name, or remove it.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local tell = {}

function tell.loud(who)
	rb.say("{} pulls", who)
end

function tell.loud(who)
	rb.say("{} rests", who)
end

return tell
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local tell = {}

function tell.loud(who)
	rb.say("{} pulls", who)
end

function tell.soft(who)
	rb.say("{} rests", who)
end

return tell
"#,
    )]),
};
