//! A spec expects nothing.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::spec_calls::SpecCalls;
use riskbreaker_script::syntax::{Function, Location};

pub(crate) static LINT: Lint = Lint {
    name: "empty-spec",
    severity: Severity::Error,
    summary: "a spec expects nothing",
    explanation: "The spec plays and compares nothing with what the rules say, so it holds whatever they do. Say what \
                  is expected: `t:expect`, `t:said`, `t:greyed`, `t:refused` and the like.",
    bad: Example::Files(&[(
        "specs/idle.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest is counted", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/idle.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest is counted", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ Ann = { rests = 1 } })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Notes what a local function does with the `t` of a spec, which is its first value.
    pub(crate) fn note_helper_of_specs(&mut self, id: u64, function: &Function<'_>) {
        if let Some(t) = function.args.first().filter(|_| self.is_spec()) {
            let calls = SpecCalls::of(function, t.id, &self.helpers_of_specs);
            self.helpers_of_specs.insert(id, calls);
        }
    }

    /// Reports a spec that expects nothing. A spec that plays several times tests the order in which it can play. `begin`: the
    /// place of the spec.
    pub(crate) fn expects_nothing(&mut self, function: &Function<'_>, t: u64, begin: Location) {
        let calls = SpecCalls::of(function, t, &self.helpers_of_specs);
        if calls.is_empty() {
            let wrong = "this spec expects nothing: it holds whatever the rules do".to_owned();
            let cure = "add what is expected, for example t:expect({ NAME = { FIELD = VALUE } })";
            self.problem(&LINT, begin, (wrong, cure.into()));
        }
    }
}
