//! A quoted name is passed where the variable is expected.

use crate::lint::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "quoted-variable",
    severity: Severity::Error,
    summary: "a quoted name is passed where the variable is expected",
    explanation: "The quoted text is the name of the parameter that it is passed for, and a variable of that \
                  name exists. The variable is meant. Leave the quotes out.",
    bad: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, times)
	rb.say("{} pulls {} times", who, times)
end

local function twice(who)
	tell("who", 2)
	tell(who, 2)
end

return { twice = twice }
"#,
    )]),
    good: Example::Files(&[(
        "lib/tell.luau",
        r#"local rb = require("@riskbreaker")

local function tell(who, times)
	rb.say("{} pulls {} times", who, times)
end

local function twice(who)
	tell(who, 1)
	tell(who, 2)
end

return { twice = twice }
"#,
    )]),
};
