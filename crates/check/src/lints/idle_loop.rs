//! A loop from a high number to a low one has no step.

use crate::lint::{Example, Lint, Severity};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::{Location, StatementNumericFor};

pub(crate) static LINT: Lint = Lint {
    name: "idle-loop",
    severity: Severity::Error,
    summary: "a loop from a high number to a low one has no step",
    explanation: "A `for` with two numbers counts up by one. From a higher number to a lower one it never runs. \
                  Give it the step -1.",
    bad: Example::Resolve(
        r#"for n = 3, 1 do
	rb.say("{}", n)
end"#,
    ),
    good: Example::Resolve(
        r#"for n = 3, 1, -1 do
	rb.say("{}", n)
end"#,
    ),
};

impl SyntaxLints<'_> {
    /// Reports a loop that counts up to a number below its start.
    pub(crate) fn counts_up(&mut self, looped: &StatementNumericFor<'_>) {
        let cure = "give the loop its step: `for n = last, first, -1 do`";
        self.tell(&LINT, looped.start.location(), "this loop never runs: it counts up", cure);
        let behind = looped.limit.location().end;
        self.changes(Location::new(behind, behind), ", -1");
    }
}
