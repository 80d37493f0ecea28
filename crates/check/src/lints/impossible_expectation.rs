//! A spec expects what no play can give.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-expectation",
    severity: Severity::Error,
    summary: "a spec expects what no play can give",
    explanation: "`t:expect` takes changed fields, `\"unchanged\"` or `\"gone\"`. Refusals have the kinds and \
                  fields, and events the kinds, that the reference lists. A spec that expects something else \
                  always fails.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchange" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};
