//! A hook calls its own verb each time.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{ExpressionKind, Function, StatementView};

pub(crate) static LINT: Lint = Lint {
    name: "hook-recursion",
    severity: Severity::Error,
    summary: "a hook calls its own verb each time",
    explanation: "The hook runs for each call of the verb, also for its own one, and so without end. Put a \
                  condition before the call, or change what the verb is given.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	after = {
		move_rope = function(e)
			rb.act.move_rope(e.rope, 1, e.who)
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	after = {
		move_rope = function(e)
			if e.by > 1 then
				rb.act.move_rope(e.rope, 1, e.who)
			end
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a hook that always runs its own verb again, which never ends.
    pub(crate) fn calls_itself(&mut self, verb: &str, function: &Function<'_>) {
        let again = format!("rb.act.{verb}");
        for statement in function.body.as_slice() {
            let call = match statement.view() {
                StatementView::Expression(statement) => statement.expr,
                StatementView::Local(local) => match local.values {
                    [value] => *value,
                    _ => continue,
                },
                StatementView::Assign(_) | StatementView::CompoundAssign(_) => continue,
                // After another statement, the function may have returned already.
                _ => return,
            };
            if let ExpressionKind::Call { func, self_call, .. } = call.kind()
                && self.called(func, self_call).is_some_and(|called| called.name == again)
            {
                let wrong = format!("the hook does `{verb}` again each time, and so it is called without end");
                let cure = format!("put a condition before it, or change what `{verb}` is given: e.NAME = value");
                return self.problem(&LINT, call.location(), (wrong, cure.into()));
            }
        }
    }
}
