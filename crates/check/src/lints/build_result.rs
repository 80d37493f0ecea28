//! `build` of the creation returns its fields before the kind.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

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

impl ScriptReader<'_> {
    /// Reports a `build` that returns the fields before the kind.
    pub(crate) fn table_before_kind(&mut self, values: &[Expression<'_>]) {
        if let Some(first) = values.first().filter(|first| matches!(first.kind(), ExpressionKind::Table { .. })) {
            let wrong = "`build` returns a table first, and the kind comes first".to_string();
            self.problem(&LINT, first.location(), (wrong, "write `return \"KIND\", { field = value }`".into()));
        }
    }
}
