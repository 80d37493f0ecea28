//! A spec plays a card and does not say who plays it.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "missing-actor",
    severity: Severity::Error,
    summary: "a spec plays a card and does not say who plays it",
    explanation: "`t:play`, `t:greyed`, `t:refused` and the like take the name of the character first and the \
                  card second. Here a card comes first.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("rest", {})
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest", {})
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports `t:play("pull", { ... })`, which lacks the character who plays the card. Returns whether it did.
    pub(crate) fn played_by_nobody(&mut self, name: &str, args: &[Expression<'_>]) -> bool {
        let Some(first) = args.first() else { return false };
        let Some(card) = literal(*first).filter(|card| self.is_card(card)) else { return false };
        let second = args.get(1);
        if second.is_some_and(|second| literal(*second).is_some() && name != "refused_because") {
            return false;
        }
        let cure = format!("name them first: t:{name}(\"Ann\", \"{card}\", ...)");
        self.problem(&LINT, first.location(), (format!("`{card}` is a card: who plays it is missing"), cure.into()));
        true
    }
}
