//! A script assigns a switch.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "switch-assignment",
    severity: Severity::Error,
    summary: "a script assigns a switch",
    explanation: "Switches are house rules, and the game master sets them. A script reads them. Keep what changes \
                  in a field of an entity.",
    bad: Example::Resolve(r#"rb.switches.wins_at = 4"#),
    good: Example::Resolve(r#"rb.say("to {}", rb.switches.wins_at)"#),
};

impl ScriptReader<'_> {
    /// Reports a switch that a script assigns.
    pub(crate) fn switch_written(&mut self, expr: Expression<'_>, name: &str, at: Location) {
        if self.symbol(expr) == Some(Symbol::Word("switches")) {
            let wrong = format!("a script changes no house rule: `{}` is set by the game master", name);
            let cure = "keep what changes in a field of an entity".to_string();
            self.problem(&LINT, at, (wrong, cure.into()));
        }
    }
}
