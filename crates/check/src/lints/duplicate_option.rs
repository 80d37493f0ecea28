//! Two options of a question have the same id.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::Location;

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-option",
    severity: Severity::Error,
    summary: "two options of a question have the same id",
    explanation: "An answer names an option by its id, so the second one can never be chosen. Labels may be the \
                  same.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "up" } })
rb.say("{}", way)"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
rb.say("{}", way)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports the second option with an id.
    pub(crate) fn called_alike(&mut self, id: &str, at: Location) {
        let wrong = format!("two options are called `{id}`");
        self.problem(&LINT, at, (wrong, "give each an id of its own; the label may be any text".into()));
    }
}
