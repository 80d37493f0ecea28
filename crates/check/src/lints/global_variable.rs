//! A global variable is written.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Location, TextPosition};

pub(crate) static LINT: Lint = Lint {
    name: "global-variable",
    severity: Severity::Error,
    summary: "a global variable is written",
    explanation: "A ruleset has no globals. Write `local` before the first assignment; keep what is to stay in a \
                  field of an entity.",
    bad: Example::Resolve(
        r#"far = 3
rb.say("{}", far)"#,
    ),
    good: Example::Resolve(
        r#"local far = 3
rb.say("{}", far)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a global that is written.
    pub(crate) fn global_written(&mut self, name: String, at: Location) {
        self.told.insert(name.clone());
        let wrong = format!("`{name}` is written as a global, and a ruleset has none");
        let change = self.inserted(at.begin, "local ");
        self.cured(&LINT, at, (wrong, format!("write `local {name}`").into()), change);
    }

    /// Reports a function that is declared as a global; its statement begins at `begin`.
    pub(crate) fn global_function(&mut self, name: String, begin: TextPosition, at: Location) {
        self.told.insert(name.clone());
        let wrong = format!("`{name}` is declared as a global, and a ruleset has none");
        let change = self.inserted(begin, "local ");
        self.cured(&LINT, at, (wrong, format!("write `local function {name}`").into()), change);
    }
}
