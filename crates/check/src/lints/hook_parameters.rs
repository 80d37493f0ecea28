//! A function of a hook takes the values of its verb one by one.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{members_of, text};
use riskbreaker_script::syntax::Function;

pub(crate) static LINT: Lint = Lint {
    name: "hook-parameters",
    severity: Severity::Error,
    summary: "a function of a hook takes the values of its verb one by one",
    explanation: "A function before or after a verb takes `e`, which holds the values of the verb by name, and \
                  the attachment. A function around a verb takes `e`, `proceed` and the attachment.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(rope, by, who)
			rb.say("{} {} {}", rope, by, who)
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
	before = {
		move_rope = function(e)
			rb.say("{} {}", e.by, e.who)
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Checks a function that runs `before`, `after` or around a verb.
    pub(crate) fn hooked(&mut self, phase: &str, verb: &str, function: &Function<'_>) {
        let takes: &[&str] = if phase == "wrap" { &["e", "proceed", "holder"] } else { &["e", "holder"] };
        if let Some(more) = function.args.get(takes.len()) {
            let wrong = format!("a hook `{phase}` a verb is given {} values, and this is one more", takes.len());
            let cure = format!("write function({}); the values of `{verb}` are in `e`", takes.join(", "));
            return self.problem(&LINT, more.location, (wrong, cure.into()));
        }
        if let Some(first) = function.args.first().filter(|_| self.takes_the_values(verb, function)) {
            let names: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
            let wrong = format!("a hook is given one table with the values of `{verb}`, not the values themselves");
            let event = names.iter().map(|name| format!("e.{name}")).collect::<Vec<_>>().join(", ");
            let cure = format!("write function({}); the values are {event}", takes.join(", "));
            return self.problem(&LINT, first.location, (wrong, cure.into()));
        }
        if phase == "wrap" {
            return self.goes_on_below(verb, function);
        }
        self.returned_by_hook(function);
        if phase == "after" {
            self.written_too_late(verb, function);
        }
        self.calls_itself(verb, function);
    }

    /// Whether all parameters of a hook are called like parameters of its verb, and the first one is not used as the
    /// event.
    fn takes_the_values(&self, verb: &str, function: &Function<'_>) -> bool {
        let Some(verb) = self.known.rules.and_then(|rules| rules.verb(verb)) else { return false };
        let Some(first) = function.args.first() else { return false };
        let named = function.args.iter().all(|arg| verb.param(&text(arg.name)).is_some());
        named && members_of(function, first.id).iter().all(|member| verb.param(member).is_none())
    }
}
