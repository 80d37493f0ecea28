//! `when` returns a reason first, which counts as yes.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "when-result",
    severity: Severity::Error,
    summary: "`when` returns a reason first, which counts as yes",
    explanation: "`when` returns true, or false and a reason. Only the first value decides, and a text counts as \
                  true. So a reason in the first place opens the card.",
    bad: Example::Card(
        r#"when = function(ctx)
	if ctx.actor.rests > 1 then
		return "too tired"
	end
	return true
end,"#,
    ),
    good: Example::Card(
        r#"when = function(ctx)
	if ctx.actor.rests > 1 then
		return false, "too tired"
	end
	return true
end,"#,
    ),
};
