//! A function is called while the file is read, where the function itself is meant.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "call-while-loading",
    severity: Severity::Error,
    summary: "a function is called while the file is read, where the function itself is meant",
    explanation: "An entry of a declaration such as `when` or `resolve` is a function that the host calls later. \
                  With brackets after its name it is called once, while the file is read, and the declaration \
                  gets its result.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

local function dearer(price)
	return (price or 1) + 1
end

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	price = dearer(),
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

local function dearer(price)
	return (price or 1) + 1
end

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	price = dearer,
	resolve = function(ctx)
		rb.say("{} stands", ctx.actor)
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a function that is called while the file is read, where the function itself is expected.
    pub(crate) fn called_too_early(&mut self, name: &str, value: Expression<'_>) {
        let ExpressionKind::Call { func, args: [], self_call, .. } = value.kind() else { return };
        if self.depth > 0 || !self.path.contains('/') || self.path.starts_with("lib/") || self.is_spec() {
            return;
        }
        if let Some(called) = self.called(func, self_call).filter(|called| !called.signature.params.is_empty()) {
            let wrong = format!("`{}` is called here while the file is read", called.name);
            let cure = format!("write `{name} = {}`, without brackets", called.name);
            let change = self.replaced(value.location(), self.source(func));
            self.cured(&LINT, value.location(), (wrong, cure.into()), change);
        }
    }
}
