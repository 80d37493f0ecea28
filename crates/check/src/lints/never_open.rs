//! `when` of a card or a free act never returns true.

use super::{Example, Lint, Severity};

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
