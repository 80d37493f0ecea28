//! A hook around a verb does not run the verb.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::Function;

pub(crate) static LINT: Lint = Lint {
    name: "hook-skips-verb",
    severity: Severity::Error,
    summary: "a hook around a verb does not run the verb",
    explanation: "The second value of a function in `wrap` runs the verb. If it is not called, the verb does not \
                  run any more. If that is intended, call the parameter `_proceed`.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
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
	wrap = {
		move_rope = function(e, proceed)
			rb.say("{} slips", e.who)
			return proceed(e)
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a function around a verb that does not run the verb, or drops its result. A parameter `_proceed` says
    /// that this is intended.
    pub(crate) fn goes_on_below(&mut self, verb: &str, function: &Function<'_>) {
        let proceed = function.args.get(1);
        if proceed.is_none_or(|proceed| !text(proceed.name).starts_with('_') && !self.evidence.is_used(proceed.id)) {
            let wrong = format!("`{verb}` does not run any more: its second value, which runs it, is not used");
            let at = proceed.map_or(function.location, |proceed| proceed.location);
            let cure = "write function(e, proceed, holder) and `return proceed(e)`; where it is not to run, call the \
                        parameter `_proceed`";
            return self.problem(&LINT, at, (wrong, cure.into()));
        }
        let answers = self.known.names.verb(verb).is_some_and(|verb| verb.answers);
        if answers && proceed.is_some_and(|proceed| !text(proceed.name).starts_with('_')) {
            let what = format!("`{verb}` gives something back, and this function");
            self.gives_nothing(function, &what);
            self.ends_without(function, &what);
            self.returns_nothing_at_times(function, &what);
        }
    }
}
