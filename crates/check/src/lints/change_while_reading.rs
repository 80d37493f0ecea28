//! A function that may only read calls a verb, a roll or `:set`.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "change-while-reading",
    severity: Severity::Error,
    summary: "a function that may only read calls a verb, a roll or `:set`",
    explanation: "`when`, derived values, prompts, views, sheets, keys and policies are called whenever somebody \
                  looks, so they may only read. The change belongs in `resolve`, a verb or an agenda entry.",
    bad: Example::Card(
        r#"when = function(ctx)
	ctx.actor:add("rests", 1)
	return true
end,"#,
    ),
    good: Example::Card(
        r#"when = function(ctx)
	return ctx.actor.rests < 3
end,"#,
    ),
};
