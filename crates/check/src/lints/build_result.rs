//! `build` of the creation returns its fields before the kind.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "build-result",
    severity: Severity::Error,
    summary: "`build` of the creation returns its fields before the kind",
    explanation: "`build` returns the kind of the new character and then the table of its fields.",
    bad: Example::Files(&[(
        "creation.luau",
        r#"local rb = require("@riskbreaker")

return rb.creation({
	build = function(sheet)
		return { name = sheet.name }
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "creation.luau",
        r#"local rb = require("@riskbreaker")

return rb.creation({
	build = function(sheet)
		return "puller", { name = sheet.name }
	end,
})
"#,
    )]),
};
