//! `when` of a card or a free act never returns true.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::returned;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function};

pub(crate) static LINT: Lint = Lint {
    name: "never-open",
    severity: Severity::Error,
    summary: "`when` of a card or a free act never returns true",
    explanation: "A card is open if its `when` returns true. This one returns nothing, nil or false in all cases, \
                  so nobody can ever use the card.",
    bad: Example::Card(
        r#"when = function(ctx)
	if ctx.actor.rests > 1 then
		return false, "too tired"
	end
	return false
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

impl ScriptReader<'_> {
    /// Reports a card or a free act whose `when` never returns true.
    pub(crate) fn never_open(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        let closed = |values: &&[Expression<'_>]| {
            values
                .first()
                .is_none_or(|first| matches!(first.kind(), ExpressionKind::Boolean(false) | ExpressionKind::Nil))
        };
        if returns.iter().all(closed) {
            let what = if self.keys.iter().any(|key| key == "free") { "take this free act" } else { "use this card" };
            let wrong = format!("nobody can ever {what}: `when` never returns true");
            self.problem(&LINT, function.location, (wrong, "return true at its end".into()));
        }
    }
}
