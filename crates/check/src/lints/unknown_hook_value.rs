//! A hook reads a value that its verb or its attachment does not have.

use crate::inference::symbol::declared;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::named;
use riskbreaker_ruleset::{Cure, Param, instead, instead_or};
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-hook-value",
    severity: Severity::Error,
    summary: "a hook reads a value that its verb or its attachment does not have",
    explanation: "The first value of a function in a hook has the parameters of the verb, and `result` after the \
                  verb. The second has `owner` and the data that `rb.attach` was given, as the hook declares \
                  them. A hook that is always on is attached to nobody and has no owner.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.amount - 1
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
			e.by = e.by - 1
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Checks a member of the event that a hook takes: a parameter of its verb, or `result`.
    pub(crate) fn member_of_event(&mut self, verb: &str, name: &str, at: Location) {
        let declared = self.known.rules.and_then(|rules| rules.verb(verb));
        if let Some(declared) = declared.filter(|verb| verb.is_typed || !verb.params.is_empty())
            && name != "result"
            && declared.param(name).is_none()
            && !self.known.names.is_assigned(name)
        {
            let names: Vec<String> = declared.names().chain(["result"]).map(str::to_owned).collect();
            self.problem(
                &LINT,
                at,
                (format!("a hook at `{verb}` is given no `{name}`"), self.known.instead(name, &names)),
            );
        }
    }

    /// Checks a member of the data of an attachment: one that its hook declares.
    pub(crate) fn member_of_data(&mut self, hook: &str, name: &str, at: Location) {
        let data = self.known.rules.and_then(|rules| rules.hook_data(hook)).unwrap_or_default();
        if declared(data, name).is_none() {
            let names = data.iter().map(|param| &*param.name);
            let cure = instead_or(name, names, "declare it in `data` of the hook");
            self.problem(&LINT, at, (format!("the data of `{hook}` have no `{name}`"), cure));
        }
    }

    /// Reports `owner` and `id` of a hook that is always on.
    pub(crate) fn holder_of_nobody(&mut self, name: &str, at: Location) {
        let wrong = format!("a hook that is always on hangs on nobody, and has no `{name}`");
        let cure = "take it from what the verb is given, or attach the hook where it begins, without `always`";
        self.problem(&LINT, at, (wrong, cure.into()));
    }

    /// Reports names in the data that replace those of an attachment: each is declared by some hook, or near to none that
    /// is.
    pub(crate) fn replaced_data(&mut self, data: Expression<'_>) {
        let Some(rules) = self.known.rules else { return };
        let holders = rules.hooks().iter().map(|hook| &**hook).chain(rules.items().iter().map(|item| &*item.id));
        let known: Vec<&str> =
            holders.filter_map(|hook| rules.hook_data(hook)).flatten().map(|param| &*param.name).collect();
        for (name, at, _) in named(data) {
            if !known.contains(&&*name)
                && let Some(near) = self.known.nearest(&name, known.iter().copied())
            {
                let mistake = (format!("no hook declares `{name}` in its data"), Cure::meant(name.as_str(), near));
                self.problem(&LINT, at, mistake);
            }
        }
    }

    /// Reports a name in the data of a new attachment that its hook does not declare.
    pub(crate) fn undeclared_data(&mut self, hook: &str, params: &[Param], name: &str, at: Location) {
        let cure = instead(name, params.iter().map(|param| &*param.name));
        self.problem(&LINT, at, (format!("`{hook}` declares no `{name}` in its data"), cure));
    }
}
