//! A spec plays a card and does not say who plays it.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "missing-actor",
    severity: Severity::Error,
    summary: "a spec plays a card and does not say who plays it",
    explanation: "`t:play`, `t:greyed`, `t:refused` and the like take the name of the character first and the \
                  card second. Here a card comes first.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("rest", {})
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest", {})
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};
