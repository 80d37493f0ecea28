//! Two parameters of a function have the same name.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-parameter",
    severity: Severity::Error,
    summary: "two parameters of a function have the same name",
    explanation: "Only the last one can be used under that name. Call a parameter that is not used `_`.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, who)
	rb.say("{} pulls", who)
end

return { tell = tell }
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(_, who)
	rb.say("{} pulls", who)
end

return { tell = tell }
"#,
    )]),
};
