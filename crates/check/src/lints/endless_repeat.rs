//! An agenda entry repeats with a step of 0.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::listed;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "endless-repeat",
    severity: Severity::Error,
    summary: "an agenda entry repeats with a step of 0",
    explanation: "`rb.recur` puts the entry back at its key plus the step. With a step of 0 it is due again at \
                  once, for ever.",
    bad: Example::Resolve(r#"rb.recur("turn", { 1, 3 }, { 0, 0 }, ctx.actor)"#),
    good: Example::Resolve(r#"rb.recur("turn", { 1, 3 }, { 1, 0 }, ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports the step of an entry that is due again at once.
    pub(crate) fn endless_repeat(&mut self, step: Expression<'_>) {
        let wrong = "this entry repeats without end: its step is 0".to_string();
        let above = match listed(step).count() {
            0 | 1 => "1".to_owned(),
            places => format!("{{ 1{} }}", ", 0".repeat(places - 1)),
        };
        let change = self.replaced(step.location(), &*above);
        self.cured(&LINT, step.location(), (wrong, format!("give it a step above 0, such as {above}").into()), change);
    }
}
