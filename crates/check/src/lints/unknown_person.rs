//! A spec names a character whom it has not set up.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-person",
    severity: Severity::Error,
    summary: "a spec names a character whom it has not set up",
    explanation: "A spec plays for characters by their names, as the position names them. A name that occurs once \
                  in a spec file and is almost another name of it is most likely misspelt.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given({ left = "Cynthia", right = "Bob" })
	t:play("Cyntia", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given({ left = "Cynthia", right = "Bob" })
	t:play("Cynthia", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};
